"""`KeptTrees`: trees of searches that have ended, found again by the line of moves that leads to their position."""

import threading
from collections import OrderedDict
from collections.abc import Hashable

import numpy as np

from alphago.env.position import Position
from alphago.mcts.forbidden_moves import Forbidden
from alphago.mcts.search import Search

MOST_BYTES = 2**29  # of all kept trees together; a larger tree is not kept
LOOK_BACK = 24  # most moves between a position and an earlier one whose tree is looked for

Line = tuple[Hashable, ...]


def start_key(position: Position) -> Line:
    """Return what names the start of the game that leads to a position."""
    return position.env, repr(sorted(position.setup_in(position.env).items()))


class KeptTrees:
    """A store of trees; the one that was used longest ago goes first."""

    def __init__(self) -> None:
        self.bytes = 0
        self._trees: OrderedDict[Line, tuple[Position, list[np.ndarray]]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, kind: Hashable, position: Position, rules: tuple[Forbidden, ...], saved: list[np.ndarray]) -> None:
        """Keep the tree of a position, instead of an earlier one of the same line.

        Args:
            kind: trees of different kinds are not mixed.
            rules: the moves that are missing in the tree.
            saved: the tree, see `Search.snapshot`.
        """
        line = (kind, position.to_play, rules, *start_key(position), position.moves, position.movers)
        with self._lock:
            self._drop(line)
            self._trees[line] = position, saved
            self.bytes += tree_bytes(saved)
            while self.bytes > MOST_BYTES:
                self._drop(next(iter(self._trees)))

    def load(self, search: Search, game: int, position: Position, kind: Hashable) -> None:
        """Give a game of a search, which is at `position`, its own tree, or what is left of an earlier position's.

        Args:
            kind: as in `keep`.  A tree in which moves are forbidden is found only with the same forbidden moves.
        """
        rules, plies, start = search.forbidden(game), len(position.moves), start_key(position)
        # Forbidden moves count from a root on, so with them only the position's own tree will do.
        earliest = plies if rules else max(0, plies - LOOK_BACK)
        for known in range(plies, earliest - 1, -1):  # moves before the position whose tree is looked for
            mover = position.to_play if known == plies else position.movers[known]
            with self._lock:
                line = (kind, mover, rules, *start, position.moves[:known], position.movers[:known])
                kept = self._trees.get(line)
                if kept is not None:
                    self._trees.move_to_end(line)
            if kept is not None:
                before, saved = kept
                if is_continued(before, position):
                    search.restore(game, before, saved)
                    for action in position.moves[known:]:
                        search.advance(np.array([game]), np.array([action], np.int32))
                return

    def clear(self) -> None:
        """Drop all trees."""
        with self._lock:
            self._trees.clear()
            self.bytes = 0

    def _drop(self, line: Line) -> None:
        if (kept := self._trees.pop(line, None)) is not None:
            self.bytes -= tree_bytes(kept[1])


def tree_bytes(saved: list[np.ndarray]) -> int:
    """Return the memory of a saved tree."""
    return sum(array.nbytes for array in saved)


def is_continued(before: Position, position: Position) -> bool:
    """Return whether a position follows from an earlier one of its line by moves without a skipped turn."""
    for mover, action in zip(position.movers[len(before.moves) :], position.moves[len(before.moves) :], strict=True):
        if before.to_play != mover or before.is_over:
            return False
        before = before.play(action)
    # A turn may have been skipped after the last move too.
    return (before.to_play, before.is_over) == (position.to_play, position.is_over)
