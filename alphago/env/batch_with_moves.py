"""`with_moves`: a batch that knows of each position the moves that led to it, for functions that read them."""

from functools import cache

import numpy as np

from alphago.env.batch import GameBatch, Line
from alphago.env.position import Position


def with_moves(batch: GameBatch) -> GameBatch:
    """Let a new batch of any game remember the moves of its positions; return the batch.

    From then on it plays a path move by move, which is slower than the one kernel that some games have for a path.

    Args:
        batch: a batch with all slots at the start, changed in place: its class becomes `class_with_moves`.
    """
    batch.__class__ = class_with_moves(type(batch))
    assert isinstance(batch, BatchWithMoves)
    batch.lines = [Line({}, (), ())] * batch.count
    return batch


@cache
def class_with_moves(kind: type[GameBatch]) -> type[GameBatch]:
    """Return a class derived from `kind`, a game's class of batches, whose batches remember moves."""
    return type(f"{kind.__name__}WithMoves", (BatchWithMoves, kind), {})


class BatchWithMoves(GameBatch):
    """Base class that remembers moves; `class_with_moves` combines it with a game's class, which knows the rules.

    Attributes:
        lines: for each slot the way to its position; None if it was copied from a batch that does not know it.
    """

    lines: list[Line | None]

    # GameBatch's own methods, which call `play` and `copy` below. A game's class may run kernels instead, which would
    # not remember the moves.
    gather = GameBatch.gather
    reach = GameBatch.reach
    replay = GameBatch.replay

    def reset(self, slots: np.ndarray, **setup: object) -> None:
        super().reset(slots, **setup)  # type: ignore[safe-super]
        for slot in slots.tolist():
            self.lines[slot] = Line(setup, (), ())

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        super().copy(sources, targets, of)  # type: ignore[safe-super]
        batch = self if of is None else of
        # A batch of another kind has one `line` for all its slots: for the batch of a Position, which has one slot, the
        # way to this position; for any other batch None, since such a batch does not know the ways.
        lines = batch.lines if isinstance(batch, BatchWithMoves) else [batch.line] * batch.count
        copied = [lines[source] for source in sources.tolist()]
        for target, line in zip(targets.tolist(), copied, strict=True):
            self.lines[target] = line

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        movers = self.to_play(slots, np.empty(len(slots), np.int8))
        super().play(slots, actions)  # type: ignore[safe-super]
        for slot, action, mover in zip(slots.tolist(), actions.tolist(), movers.tolist(), strict=True):
            line = self.lines[slot]
            if line is not None:  # None: the moves before this one are not known
                self.lines[slot] = Line(line.setup, (*line.moves, action), (*line.movers, mover))

    def position(self, slot: int) -> Position:
        without_moves: Position = super().position(slot)
        line = self.lines[slot]
        # Made again with the set-up, the moves and the movers of its line, if they are known.
        return without_moves if line is None else type(without_moves)(without_moves.env, without_moves.batch, *line)
