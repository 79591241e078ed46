"""A player's grade in an exam, the difference of two players on the same positions, and tables of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.arena import standings
from alphago.exams import statistics
from alphago.exams.grading import Marks
from alphago.exams.statistics import UNKNOWN, Estimate

# For each column of a table: heading, name of the number in a Grade, decimals, whether it is shown in percent, and the
# function that estimates it from marks.  The correlation needs two kinds of marks, so it has no such function.
COLUMNS: tuple[tuple[str, str, int, bool, Callable[[np.ndarray], Estimate] | None], ...] = (
    ("points lost", "points", 2, False, statistics.estimate_mean),
    ("win rate lost", "rate", 1, True, statistics.estimate_mean),
    ("best move", "best", 0, True, statistics.estimate_share),
    ("loses > 2", "blunders", 1, True, statistics.estimate_share),
    ("win rate off by", "win_error", 3, False, statistics.root_mean_square),
    ("lead off by", "lead_error", 1, False, statistics.root_mean_square),
    ("correlation", "correlation", 2, False, None),
)
# The estimating functions by the number's name, which is also the name of the marks that they take.
ESTIMATES = {name: estimate for _, name, _, _, estimate in COLUMNS if estimate is not None}


@dataclass(frozen=True)
class Grade:
    """A player's grade, or in `ExamResult.paired` the difference of two, over some positions of an exam.

    Attributes:
        positions: number of positions.
        points: mean of points lost per move.
        rate: mean of the win rate lost per move, 0 .. 1.
        best: share of moves that lose at most 0.1 points.
        blunders: share of moves that lose more than 2 points.
        win_error: root mean square error of the win rate, 0 .. 1.
        lead_error: root mean square error of the lead, in points.
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
        for _, name, *_ in COLUMNS:  # the second entry of a column is the attribute's name
            for suffix, value in zip(("", "_low", "_high"), getattr(self, name), strict=True):
                row[name + suffix] = None if np.isnan(value) else value
        return row


def compute_grade(marks: Marks) -> Grade:
    """Return the grade of a player from its marks."""
    estimates = {name: estimate(getattr(marks, name)) for name, estimate in ESTIMATES.items()}
    players_black_win = marks.judged_black_win + marks.win_error  # the error is the player's minus the judge's
    correlation = statistics.estimate_correlation(players_black_win, marks.judged_black_win)
    return Grade(len(marks.points), **estimates, correlation=correlation)


def grade_difference(first: Marks, second: Marks) -> Grade:
    """Return the grade of `first` minus that of `second`, both on the same positions; `correlation` is UNKNOWN."""
    differences = {}
    for name, estimate in ESTIMATES.items():
        is_root = estimate is statistics.root_mean_square
        difference = statistics.root_difference if is_root else statistics.mean_difference
        differences[name] = difference(getattr(first, name), getattr(second, name))
    return Grade(len(first.points), **differences)


def grade_table(heading: str, grades: Mapping[str, Grade], *, signed: bool = False) -> list[str]:
    """Return a table with a row for each grade, and a column for each number that at least one grade has.

    Args:
        heading: the heading of the first column.
        signed: whether positive numbers get a sign.
    """
    columns = [(heading, list(grades))]
    for title, name, digits, share, _ in COLUMNS:
        estimates: list[Estimate] = [getattr(grade, name) for grade in grades.values()]
        if not all(np.isnan(estimate.value) for estimate in estimates):
            cells = [estimate_text(estimate, digits, share=share, signed=signed) for estimate in estimates]
            columns.append((title, cells))
    return table(columns)


def parts_table(heading: str, names: Sequence[str], grades: Sequence[Mapping[str, Grade]]) -> list[str]:
    """Return a table of the points that each player loses in each part of the exam.

    Args:
        heading: the heading of the first column, with the parts.
        names: the players' names.
        grades: for each player, its grades by the name of the part.
    """
    parts = list(grades[0])
    columns = [(heading, parts), ("positions", [str(grades[0][part].positions) for part in parts])]
    for name, by_part in zip(names, grades, strict=True):
        columns.append((f"{name} loses", [estimate_text(by_part[part].points, 2) for part in parts]))
    return table(columns)


def estimate_text(estimate: Estimate, digits: int, *, share: bool = False, signed: bool = False) -> str:
    """Return an estimate as text: "1.20 ± 0.36", or for a share "56 ± 6 %"; without "±" if the interval is unknown."""
    if np.isnan(estimate.value):
        return "?"
    scale, unit = (100, " %") if share else (1, "")
    sign = "+" if signed else ""
    value = f"{scale * estimate.value:{sign}.{digits}f}".replace("-", "−")
    margin = "" if np.isnan(estimate.margin) else f" ± {scale * estimate.margin:.{digits}f}"
    return value + margin + unit


def table(columns: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return columns, each a heading and its cells, as the lines of a table."""
    rows = zip(*((heading, *cells) for heading, cells in columns), strict=True)  # columns become rows
    return standings.table([*rows]).split("\n")
