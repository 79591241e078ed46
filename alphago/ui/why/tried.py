"""A move and the best move, both played, and what the searches found about them."""

from dataclasses import dataclass
from typing import Generic, TypeGuard, TypeVar

import numpy as np

from alphago.env.go_position import GoPosition, is_go_position
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.ui.why.facts import CLEAR

P = TypeVar("P", bound=Position)
LIKELY = 0.4  # probability of an answer that is told
NEAR = 2  # lines within which a move concerns another one


class Tried(Generic[P]):
    """A move and the best one, played.

    passed: the positions after a pass before the move, after it, and after the best move; only in Go, and none where
    passing would end the game or is not allowed.
    """

    def __init__(self, position: P, action: int, best: int) -> None:
        self.position, self.action, self.best = position, action, best
        self.mover = position.to_play
        self.after, self.after_best = position.play(action), position.play(best)
        self.passed: list[P] = []
        starts, passing = [position, self.after, self.after_best], position.env.pass_action
        if passing is None or passing in (action, best) or not is_go_position(position):
            return
        if all(start.legal_mask[passing] for start in starts):
            passed = [start.play(passing) for start in starts]
            self.passed = [] if any(end.is_over for end in passed) else passed

    def is_near(self, one: int, other: int) -> bool:
        """Return whether two points of a board of Go are at most NEAR lines apart; a pass is near to nothing."""
        points = self.position.env.plane_shape[0] * self.position.env.plane_shape[1]
        (r, c), (row, column) = (divmod(point, self.position.env.plane_shape[1]) for point in (one, other))
        return max(one, other) < points and max(abs(r - row), abs(c - column)) <= NEAR


@dataclass(frozen=True)
class Row:
    """The analysis of one position, in Black's view."""

    analysis: Analysis
    i: int

    @property
    def view(self) -> int:
        return int(self.analysis.to_play[self.i])

    @property
    def value(self) -> float:
        return self.view * float(self.analysis.value[self.i])

    @property
    def score(self) -> float:
        return self.view * float(self.analysis.root_score[self.i])

    @property
    def ownership(self) -> np.ndarray | None:
        owners = self.analysis.ownership
        return None if owners is None else self.view * owners[self.i]

    @property
    def share(self) -> float:
        """The best move's part of the visits."""
        visits = self.analysis.visits[self.i]
        return float(visits[self.analysis.best(self.i)] / max(visits.sum(), 1))

    @property
    def prior(self) -> float:
        """The probability that the network gave the best move."""
        return self.prior_of(self.analysis.best(self.i))

    def prior_of(self, action: int) -> float:
        """Return the probability that the network gave a move."""
        return float(self.analysis.prior[self.i, action])

    @property
    def is_clear(self) -> bool:
        """Whether the best move has most of the visits, and was likely before the search too."""
        return self.share >= CLEAR and self.prior >= LIKELY

    @property
    def line(self) -> tuple[int, ...]:
        """The expected moves; none after the end of the game."""
        over = not len(self.analysis.order(self.i))
        return () if over else self.analysis.move(self.i, self.analysis.best(self.i), 0).line


@dataclass(frozen=True)
class Searched:
    """What the searches found before the move, after it, after the best one, and after the passes of `Tried`."""

    before: Row
    after: Row
    best: Row
    passed: list[Row]


def is_go(tried: Tried[Position]) -> TypeGuard[Tried[GoPosition]]:
    """Return whether a move is one of Go."""
    return is_go_position(tried.position)
