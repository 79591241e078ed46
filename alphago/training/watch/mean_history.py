"""Histories of runs that differ in their seeds as one history: means, and bands from the least to the greatest."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alphago.drawing.curves import Curve
from alphago.training.history import History, Row, number, opponent_name
from alphago.training.watch.panels import AXES

POINTS = 80  # of a mean curve, at most
LOW, HIGH = ":low", ":high"  # after a metric's name: the ends of its band


def mean_history(name: str, histories: Sequence[History], x: str) -> History:
    """Return the means of several runs' rows as the rows of one run, with the least and the greatest of them.

    name: of the runs together.  x: the axis along which rows are averaged, a name in AXES.
    The rows reach as far as every run has come.  A single run stays as it is.
    """
    if len(histories) == 1:
        return histories[0]
    metrics: list[Row] = list(mean_rows([history.metrics for history in histories], x))
    kinds = dict.fromkeys((row["opponent"], opponent_name(row)) for one in histories for row in one.evaluations)
    evaluations: list[Row] = []
    for opponent, label in kinds:
        own = [[row for row in one.evaluations if opponent_name(row) == label] for one in histories]
        first = next(row for rows in own for row in rows)
        same = {"opponent": opponent} | {key: first[key] for key in ("readouts", "judge") if key in first}
        evaluations += [row | same for row in mean_rows(own, x)]
    return History(Path(name), metrics, evaluations)


def mean_rows(runs: Sequence[Sequence[Row]], x: str) -> Iterator[dict[str, Any]]:
    """Yield rows with the means over runs of every number that all runs have, at evenly spaced x.

    Between two rows of a run its numbers are interpolated.
    """
    source, *_ = AXES[x]
    places = [[at for row in run if (at := number(row, source)) is not None] for run in runs]
    if not all(places):
        return
    first, last = max(map(min, places)), min(map(max, places))
    count = min(POINTS, min(map(len, places))) if last > first else 1
    grid = np.linspace(min(first, last), last, count)
    columns: dict[str, list[np.ndarray]] = {}
    for key in keys_of(runs[0]):
        pairs = [sorted((row[source], row[key]) for row in run if is_pair(row, source, key)) for run in runs]
        if all(pairs):
            columns[key] = [np.interp(grid, *np.array(own, np.float64).T) for own in pairs]
    for i, at in enumerate(grid):
        row: dict[str, Any] = {}
        for key, values in columns.items():
            own = [float(one[i]) for one in values]
            row |= {key: sum(own) / len(own), key + LOW: min(own), key + HIGH: max(own)}
        yield row | {source: float(at)}


def banded(curve: Curve, rows: Sequence[Row], key: str) -> Curve:
    """Return a curve of the metric `key` in some rows with its band, if they are means over runs."""
    if not rows or not all(is_pair(row, key + LOW, key + HIGH) for row in rows):
        return curve
    low, high = ([float(row[key + end]) for row in rows] for end in (LOW, HIGH))
    return curve._replace(low=low, high=high, is_band=True)


def keys_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of everything in some rows, each once."""
    return list(dict.fromkeys(key for row in rows for key in row))


def is_pair(row: Row, *keys: str) -> bool:
    """Return whether a row has a finite number for each of the keys."""
    return all(number(row, key) is not None for key in keys)
