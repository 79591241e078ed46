"""`with_moves`: a batch that knows of each position the moves that led to it, for functions that read them."""

from functools import cache

import numpy as np

from alphago.env.batch import GameBatch, Line
from alphago.env.position import Position


def with_moves(batch: GameBatch) -> GameBatch:
    """Let a new batch of any game remember the moves of its positions; return it.

    It plays a path move by move, where a batch with kernels has one kernel for the whole path.

    Args:
        batch: its slots are still at the start; the batch itself changes its class.
    """
    batch.__class__ = class_with_moves(type(batch))
    assert isinstance(batch, BatchWithMoves)
    batch.lines = [Line({}, (), ())] * batch.count
    return batch


@cache
def class_with_moves(kind: type[GameBatch]) -> type[GameBatch]:
    """Return the class of batches of this kind that remember moves."""
    return type(f"{kind.__name__}WithMoves", (BatchWithMoves, kind), {})


class BatchWithMoves(GameBatch):
    """The part of such a batch that remembers; the other base class of `class_with_moves` knows the rules.

    Attributes:
        lines: by slot, how its position came about; None if the batch it was copied from does not know.
    """

    lines: list[Line | None]

    # The base class's, which play and copy through the methods below.
    gather = GameBatch.gather
    replay = GameBatch.replay

    def reset(self, slots: np.ndarray, **setup: object) -> None:
        super().reset(slots, **setup)  # type: ignore[safe-super]
        for slot in slots.tolist():
            self.lines[slot] = Line(setup, (), ())

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        super().copy(sources, targets, of)  # type: ignore[safe-super]
        # A batch without `lines` has one `line`: of its only slot if it is a Position's, else None.
        lines = self.lines if of is None else getattr(of, "lines", None)
        found = [of.line if lines is None else lines[source] for source in sources.tolist()]  # type: ignore[union-attr]
        for target, line in zip(targets.tolist(), found, strict=True):
            self.lines[target] = line

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        movers = self.to_play(slots, np.empty(len(slots), np.int8))
        super().play(slots, actions)  # type: ignore[safe-super]
        for slot, action, mover in zip(slots.tolist(), actions.tolist(), movers.tolist(), strict=True):
            line = self.lines[slot]
            if line is not None:
                self.lines[slot] = Line(line.setup, (*line.moves, action), (*line.movers, mover))

    def position(self, slot: int) -> Position:
        position: Position = super().position(slot)
        line = self.lines[slot]
        # The same position, which also knows its set-up and its moves.
        return position if line is None else type(position)(position.env, position.batch, *line)
