"""The grades of an exam as text."""

from collections.abc import Mapping, Sequence

import numpy as np

from alphago.arena import standings
from alphago.exams.grades import Grade
from alphago.exams.statistics import Estimate

# The columns: heading, name of the number in a Grade, decimals, whether the number is a share.
COLUMNS: tuple[tuple[str, str, int, bool], ...] = (
    ("points lost", "points", 2, False),
    ("win rate lost", "rate", 1, True),
    ("best move", "best", 0, True),
    ("loses > 2", "blunders", 1, True),
    ("win rate off by", "win_error", 3, False),
    ("lead off by", "lead_error", 1, False),
    ("correlation", "correlation", 2, False),
)
NAMES = tuple(name for _, name, _, _ in COLUMNS)
DIFFERENCES = NAMES[:-1]  # differences have no correlation


def grade_table(
    heading: str, grades: Mapping[str, Grade], names: Sequence[str] = NAMES, *, signed: bool = False
) -> list[str]:
    """Return a table with a row for each grade, and a column for each number in `names` that at least one grade has.

    heading: the heading of the first column.  signed: whether positive numbers get a sign.
    """
    columns = [(heading, list(grades))]
    for title, name, digits, share in COLUMNS:
        estimates: list[Estimate] = [getattr(grade, name) for grade in grades.values()]
        if name in names and not all(np.isnan(estimate.value) for estimate in estimates):
            cells = [estimate_text(estimate, digits, share=share, signed=signed) for estimate in estimates]
            columns.append((title, cells))
    return table(columns)


def parts_table(heading: str, names: Sequence[str], grades: Sequence[Mapping[str, Grade]]) -> list[str]:
    """Return a table of the points that each player loses in each part of the exam.

    heading: the heading of the first column, with the parts.  names: the players' names.
    grades: for each player, its grades by the name of the part.
    """
    parts = list(grades[0])
    columns = [(heading, parts), ("positions", [str(grades[0][part].positions) for part in parts])]
    columns += [
        (f"{name} loses", [estimate_text(own[part].points, 2) for part in parts])
        for name, own in zip(names, grades, strict=True)
    ]
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
    rows = list(zip(*((heading, *cells) for heading, cells in columns), strict=True))
    return standings.table(rows).split("\n")
