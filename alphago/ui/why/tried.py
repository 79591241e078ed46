"""A move and the best move, the positions after them, and what searches found in these positions."""

from dataclasses import dataclass
from typing import Generic, TypeGuard, TypeVar

import numpy as np

from alphago.env.go_position import GoPosition, is_go_position
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.ui.why.facts import CLEAR

P = TypeVar("P", bound=Position)


@dataclass(frozen=True)
class Row:
    """The analysis of one position, in Black's view."""

    analysis: Analysis
    i: int

    @property
    def sign(self) -> int:
        """1 if Black is to move, else -1: the analysis is from the mover's view."""
        return int(self.analysis.to_play[self.i])

    @property
    def value(self) -> float:
        return self.sign * float(self.analysis.value[self.i])

    @property
    def score(self) -> float:
        return self.sign * float(self.analysis.root_score[self.i])

    @property
    def ownership(self) -> np.ndarray | None:
        owners = self.analysis.ownership
        return None if owners is None else self.sign * owners[self.i]

    def part_of(self, action: int) -> float:
        """Return a move's part of the visits."""
        visits = self.analysis.visits[self.i]
        return float(visits[action] / max(visits.sum(), 1))

    @property
    def is_clear(self) -> bool:
        """Whether the best move has nearly all of the visits."""
        return self.part_of(self.analysis.best(self.i)) >= CLEAR

    @property
    def line(self) -> tuple[int, ...]:
        """The expected moves; () if the game is over."""
        is_over = len(self.analysis.order(self.i)) == 0
        return () if is_over else self.analysis.move(self.i, self.analysis.best(self.i), order=0).line


@dataclass(frozen=True)
class Tried(Generic[P]):
    """A move, the best move, and the positions before and after them."""

    position: P
    action: int
    best: int
    after: P
    after_best: P

    @property
    def mover(self) -> int:
        """Who plays both moves, +1 or -1."""
        return self.position.to_play


@dataclass(frozen=True)
class Searched:
    """What searches found before the move, after it, and after the best move."""

    before: Row
    after: Row
    after_best: Row


def is_go(tried: Tried[Position]) -> TypeGuard[Tried[GoPosition]]:
    """Return whether a move is one of Go."""
    return is_go_position(tried.position)
