"""A player's grade in an exam, and the difference of two players on the same positions."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from alphago.exams.grading import Marks
from alphago.exams.statistics import (
    UNKNOWN,
    Estimate,
    correlation_of,
    mean_difference,
    mean_of,
    root_difference,
    root_mean_square,
    share_of,
)

MEANS = ("points", "rate", "best", "blunders")
ROOTS = ("win_error", "lead_error")


@dataclass(frozen=True)
class Grade:
    """A player's grade, or in `ExamResult.paired` the difference of two, over some positions of an exam.

    positions: number of positions.  points: mean of points lost per move.
    rate: mean of the win rate lost per move, 0 .. 1.
    best: share of moves that lose at most 0.1 points.  blunders: share of moves that lose more than 2 points.
    win_error: root mean square error of the win rate, 0 .. 1.  lead_error: that of the lead, in points.
    correlation: correlation of the player's win rate with the judge's; unknown in a difference.
    """

    positions: int
    points: Estimate
    rate: Estimate
    best: Estimate
    blunders: Estimate
    win_error: Estimate
    lead_error: Estimate
    correlation: Estimate = UNKNOWN

    def row(self) -> dict[str, Any]:
        """Return the numbers as plain data: `points`, `points_low`, `points_high` and so on, None if unknown."""
        row: dict[str, Any] = {"positions": self.positions}
        for name in NUMBERS:
            estimate: Estimate = getattr(self, name)
            for suffix, value in zip(("", "_low", "_high"), estimate, strict=True):
                row[name + suffix] = None if np.isnan(value) else value
        return row


NUMBERS = tuple(field.name for field in fields(Grade) if field.name != "positions")


def grade_of(marks: Marks) -> Grade:
    """Return the grade of a player from its marks."""
    return Grade(
        positions=len(marks.points),
        points=mean_of(marks.points),
        rate=mean_of(marks.rate),
        best=share_of(marks.best),
        blunders=share_of(marks.blunders),
        win_error=root_mean_square(marks.win_error),
        lead_error=root_mean_square(marks.lead_error),
        correlation=correlation_of(marks.win_error + marks.judged, marks.judged),
    )


def difference_of(first: Marks, second: Marks) -> Grade:
    """Return the grade of `first` minus that of `second`, both on the same positions."""
    means = [mean_difference(getattr(first, name), getattr(second, name)) for name in MEANS]
    roots = [root_difference(getattr(first, name), getattr(second, name)) for name in ROOTS]
    return Grade(len(first.points), *means, *roots)
