"""`KeptTrees`: trees of searches that have ended, found again by the line of moves that leads to their position."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from alphago.env.position import Position
from alphago.mcts.search import Forbidden, Search

MOST_BYTES = 2**29  # of all kept trees together; a larger tree is not kept
LOOK_BACK = 24  # the most moves between a position and an earlier one whose tree is used

TreeKey = tuple[Hashable, ...]  # the key of a tree: its kind of search, the start of its game and the moves since


class KeptTree(NamedTuple):
    """A tree and the position of its root."""

    position: Position
    tree: list[np.ndarray]  # what `Search.snapshot` has returned


def start_key(position: Position) -> TreeKey:
    """Return a key of the start of the game that leads to a position: its settings and its first stones."""
    return position.env, repr(sorted(position.setup_in(position.env).items()))


class KeptTrees:
    """A store of trees; if it is full, the tree that was used longest ago is dropped."""

    def __init__(self) -> None:
        self.bytes = 0
        self._trees: OrderedDict[TreeKey, KeptTree] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, kind: Hashable, position: Position, avoid: tuple[Forbidden, ...], tree: list[np.ndarray]) -> None:
        """Keep the tree of a position, in place of an older tree of the same position.

        Args:
            kind: of the search; a search gets only trees of its own kind.
            avoid: the moves that were forbidden.
            tree: what `Search.snapshot` has returned.
        """
        key = (kind, position.to_play, avoid, *start_key(position), position.moves, position.movers)
        with self._lock:
            self._drop(key)
            self._trees[key] = KeptTree(position, tree)
            self.bytes += sum(array.nbytes for array in tree)
            while self.bytes > MOST_BYTES:
                self._drop(next(iter(self._trees)))

    def load(self, kind: Hashable, position: Position, avoid: tuple[Forbidden, ...], search: Search, game: int) -> None:
        """Give a game of a search the kept tree of its position, or else of the latest position before it that has one.

        From an earlier position's tree the game gets only the part below the moves that were played since then.

        Args:
            kind: as in `keep`.
            position: the game's position.
            avoid: the game's forbidden moves.  A tree in which moves are forbidden is found only with the same ones.
        """
        kept = self._latest(kind, position, avoid)
        # A turn that was skipped since the latest position with a tree was also skipped since all earlier positions.
        # So if this tree does not fit, no tree does.
        if kept is not None and no_turn_skipped(kept.position, position):
            search.restore(game, kept.position, kept.tree)
            for action in position.moves[len(kept.position.moves) :]:
                search.advance(np.array([game]), np.array([action], np.int32))

    def _latest(self, kind: Hashable, position: Position, avoid: tuple[Forbidden, ...]) -> KeptTree | None:
        """Return the kept tree of the latest position up to `position` that has one; None if there is none."""
        start, movers, plies = start_key(position), (*position.movers, position.to_play), len(position.moves)
        # Moves are forbidden up to a distance from the root, so with forbidden moves only the position's own tree fits.
        earliest = plies if avoid else max(0, plies - LOOK_BACK)
        for ply in range(plies, earliest - 1, -1):
            key = (kind, movers[ply], avoid, *start, position.moves[:ply], position.movers[:ply])
            with self._lock:
                if key in self._trees:
                    self._trees.move_to_end(key)
                    return self._trees[key]
        return None

    def clear(self) -> None:
        """Drop all trees."""
        with self._lock:
            self._trees.clear()
            self.bytes = 0

    def _drop(self, key: TreeKey) -> None:
        """Remove the tree with a key, if there is one."""
        if (kept := self._trees.pop(key, None)) is not None:
            self.bytes -= sum(array.nbytes for array in kept.tree)


def no_turn_skipped(earlier: Position, position: Position) -> bool:
    """Return whether the sides took turns as the rules say, from an earlier position of a line of play to a later one.

    Args:
        earlier: a position with the first moves of `position`.
    """
    begin, replayed = len(earlier.moves), earlier
    for mover, action in zip(position.movers[begin:], position.moves[begin:], strict=True):
        if replayed.to_play != mover or replayed.is_over:
            return False
        replayed = replayed.play(action)
    # A turn may have been skipped after the last move too: the other side is to move, or the game goes on, since a pass
    # before that turn does not count for the end.
    return (replayed.to_play, replayed.is_over) == (position.to_play, position.is_over)
