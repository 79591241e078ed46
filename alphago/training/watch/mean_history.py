"""Histories of runs that differ in their seeds as one history: means, and bands from the least to the greatest."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alphago.training.history import History, Row, number, opponent_name
from alphago.training.watch.panels import AXES, HIGH, LOW, has_numbers

POINTS = 80  # largest number of points of a mean curve


def mean_history(name: str, histories: Sequence[History], x: str) -> History:
    """Return the means of several runs' rows as the rows of one run, with the least and the greatest values.

    name: the name of the resulting run.  x: the axis along which rows are averaged, a name in AXES.
    The rows end where the shortest run ends.  A single run stays as it is.
    """
    if len(histories) == 1:
        return histories[0]
    metrics: list[Row] = list(mean_rows([history.metrics for history in histories], x))
    all_rows = [row for history in histories for row in history.evaluations]
    opponents = dict.fromkeys((row["opponent"], opponent_name(row)) for row in all_rows)
    evaluations: list[Row] = []
    for opponent, label in opponents:
        runs = [[row for row in history.evaluations if opponent_name(row) == label] for history in histories]
        first = next(row for rows in runs for row in rows)
        same = {"opponent": opponent} | {key: first[key] for key in ("readouts", "judge") if key in first}
        evaluations += [row | same for row in mean_rows(runs, x)]
    return History(Path(name), metrics, evaluations)


def mean_rows(runs: Sequence[Sequence[Row]], x: str) -> Iterator[dict[str, Any]]:
    """Yield rows at evenly spaced x, with the means over runs of every number that all runs have.

    The numbers of a run are interpolated between its rows.
    """
    axis, *_ = AXES[x]
    places = [[at for row in run if (at := number(row, axis)) is not None] for run in runs]  # the x of each run's rows
    if not all(places):
        return
    # From `first` to `last` every run has rows.
    first = max(map(min, places))
    last = min(map(max, places))
    count = min(POINTS, min(map(len, places))) if last > first else 1
    grid = np.linspace(min(first, last), last, count)
    columns: dict[str, list[np.ndarray]] = {}  # for each key, the numbers of each run on the grid
    for key in dict.fromkeys(key for row in runs[0] for key in row):
        curves = [sorted((row[axis], row[key]) for row in run if has_numbers(row, axis, key)) for run in runs]
        if all(curves):
            # The transpose of a curve's pairs is its x values and its y values.
            columns[key] = [np.interp(grid, *np.array(curve, np.float64).T) for curve in curves]
    for i, at in enumerate(grid):
        row: dict[str, Any] = {}
        for key, numbers_of_runs in columns.items():
            values = [float(numbers[i]) for numbers in numbers_of_runs]
            row |= {key: sum(values) / len(values), key + LOW: min(values), key + HIGH: max(values)}
        yield row | {axis: float(at)}
