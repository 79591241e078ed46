"""The panels of runs, from panels.toml, with their x axes, the colours of runs, and points from rows of the logs."""

import colorsys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphago.drawing.curves import Dash
from alphago.drawing.shapes import SERIES
from alphago.training.history import History, Row, number

# For each x axis: the key in rows of the logs, a divisor, and the axis' label.
AXES = {
    "minutes": ("seconds", 60.0, "minutes of training"),
    "processor": ("processor_seconds", 60.0, "minutes of the processor"),
    "games": ("games", 1.0, "games of self-play"),
    "positions": ("positions", 1.0, "positions of self-play"),
}
TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
STYLES: tuple[Dash, ...] = ("-", "--", ":", "-.")  # of the kinds of curves in a panel


class Metrics(NamedTuple):
    """A panel of metrics; `keys`: the metrics, each with its name in the legend."""

    title: str
    keys: dict[str, str]
    unit: str = ""


class Measure(NamedTuple):
    """A panel of a judge's measurement; panels.toml tells what the fields are."""

    title: str
    key: str
    unit: str = ""
    interval: Sequence[str] = ()
    level: float | None = None


TRAINING = [Metrics(**table) for table in TABLES["training"]]
LIVE = [Metrics(**table) for table in TABLES["live"]]
MEASURES = {table["key"]: Measure(**table) for table in TABLES["match"]}
WORDS = TABLES["words"]


def run_colours(count: int) -> list[str]:
    """Return a colour for each of `count` runs; more runs than SERIES get a rainbow."""
    if count <= len(SERIES):
        return list(SERIES[:count])
    # Hue, lightness and saturation: dark enough to be seen on white.
    rainbow = [colorsys.hls_to_rgb(i / count, 0.42, 0.85) for i in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rainbow]


def points(rows: Iterable[Row], key: str, x: str) -> tuple[list[float], list[float], list[Row]]:
    """Return the x values, the y values and the rows themselves, of those rows that have both values.

    key: the metric on the y axis.  x: the x axis, a name in AXES.
    """
    source, divisor, _ = AXES[x]
    rows = [row for row in rows if number(row, source) is not None and number(row, key) is not None]
    return [row[source] / divisor for row in rows], [float(row[key]) for row in rows], rows


def in_words_of(histories: Sequence[History], text: str) -> str:
    """Return `text`, a title or label for runs of self-play, reworded if some or all of the runs are supervised."""
    are_supervised = [history.is_supervised for history in histories]
    if text not in WORDS or not any(are_supervised):
        return text
    for_all, for_some = WORDS[text]
    return str(for_all if all(are_supervised) else for_some)
