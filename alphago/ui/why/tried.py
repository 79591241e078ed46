"""A move and the best move, the positions after them, and what searches found in these positions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeGuard, TypeVar

import numpy as np

from alphago.env.go_position import GoPosition, is_go_position
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.ui.why.facts import CLEAR

P = TypeVar("P", bound=Position)
LIKELY = 0.4  # least probability, before the search, of an answer that is told
NEAR = 2  # most lines between two moves that have to do with each other


class Tried(Generic[P]):
    """A move and the best move, with the positions after each of them.

    after: the position after the move, if it is known.
    passed: three positions after a pass: instead of the move, after the move, and after the best move.  It is empty in
        other games than Go, where a pass is illegal or would end the game, and if one of the moves is a pass.
    """

    def __init__(self, position: P, action: int, best: int, after: P | None = None) -> None:
        self.position, self.action, self.best = position, action, best
        self.mover = position.to_play
        self.after = position.play(action) if after is None else after
        self.after_best = self.after if action == best else position.play(best)
        self.passed: list[P] = []
        starts = [position, self.after, self.after_best]
        pass_action = position.env.pass_action
        if pass_action is None or pass_action in (action, best) or not is_go_position(position):
            return
        if all(start.legal_mask[pass_action] for start in starts):
            passed = [start.play(pass_action) for start in starts]
            self.passed = [] if any(after_pass.is_over for after_pass in passed) else passed

    def is_near(self, one: int, other: int) -> bool:
        """Return whether two moves of Go are on points at most NEAR lines apart; a pass is near no other move."""
        height, width = self.position.env.plane_shape
        if max(one, other) >= height * width:
            return False
        row, column = divmod(one, width)
        other_row, other_column = divmod(other, width)
        return max(abs(row - other_row), abs(column - other_column)) <= NEAR


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

    @property
    def share(self) -> float:
        """The best move's part of the visits."""
        return self.part_of(self.analysis.best(self.i))

    def part_of(self, action: int) -> float:
        """Return a move's part of the visits."""
        visits = self.analysis.visits[self.i]
        return float(visits[action] / max(visits.sum(), 1))

    @property
    def prior(self) -> float:
        """The probability that the network gave the best move."""
        return self.prior_of(self.analysis.best(self.i))

    def prior_of(self, action: int) -> float:
        """Return the probability that the network gave a move."""
        return float(self.analysis.prior[self.i, action])

    @property
    def is_clear(self) -> bool:
        """Whether the best move has nearly all of the visits, and was likely before the search too."""
        return self.share >= CLEAR and self.prior >= LIKELY

    @property
    def line(self) -> tuple[int, ...]:
        """The expected moves; () if the game is over."""
        is_over = len(self.analysis.order(self.i)) == 0
        return () if is_over else self.analysis.move(self.i, self.analysis.best(self.i), order=0).line


def rows_of(analysis: Analysis) -> Iterator[Row]:
    """Return the analyses of the single positions, in order."""
    return (Row(analysis, i) for i in range(len(analysis.value)))


@dataclass(frozen=True)
class Searched:
    """What searches found before the move, after it, after the best move, and in the positions of `Tried.passed`."""

    before: Row
    after: Row
    after_best: Row
    passed: list[Row]


def is_go(tried: Tried[Position]) -> TypeGuard[Tried[GoPosition]]:
    """Return whether a move is one of Go."""
    return is_go_position(tried.position)
