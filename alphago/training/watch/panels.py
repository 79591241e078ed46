"""What the panels of runs have in common: their x axes, the colours of runs, and points from the rows of the logs."""

import colorsys
from collections.abc import Iterable

from alphago.drawing.curves import Dash
from alphago.drawing.shapes import SERIES
from alphago.training.history import Row, number

# For each x axis: the key in rows of the logs, a divisor, and the axis' label.
AXES = {
    "minutes": ("seconds", 60.0, "minutes of training"),
    "processor": ("processor_seconds", 60.0, "minutes of the processor"),
    "games": ("games", 1.0, "games of self-play"),
    "positions": ("positions", 1.0, "positions of self-play"),
}
STYLES: tuple[Dash, ...] = ("-", "--", ":", "-.")  # of the kinds of curves in a panel


def run_colours(count: int) -> list[str]:
    """Return a colour for each of `count` runs; more runs than SERIES get a rainbow."""
    if count <= len(SERIES):
        return list(SERIES[:count])
    rainbow = [colorsys.hls_to_rgb(i / count, 0.42, 0.85) for i in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rainbow]


def points(rows: Iterable[Row], key: str, x: str) -> tuple[list[float], list[float], list[Row]]:
    """Return the x values, the y values and the rows, of those among `rows` that have both values.

    key: the metric on the y axis.  x: the x axis, a name in AXES.
    """
    source, divisor, _ = AXES[x]
    rows = [row for row in rows if number(row, source) is not None and number(row, key) is not None]
    return [row[source] / divisor for row in rows], [float(row[key]) for row in rows], rows
