"""The panels of runs, from panels.toml, with their x axes, the colours of runs, and curves of rows of the logs."""

import colorsys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphago.drawing.curves import Curve, CurvePanel, Dash
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
LOW, HIGH = ":low", ":high"  # suffixes of a metric's name for the ends of its band, in means over runs


class Panel(NamedTuple):
    """A panel of metrics or of a judge's measurement; panels.toml tells what the fields are."""

    title: str
    keys: Mapping[str, str]
    unit: str = ""
    interval: Sequence[str] = ()
    level: float | None = None
    live: bool = False


class Source(NamedTuple):
    """Rows of a log with a curve for each metric of a panel.

    dash: the curves' style; None if their place in the panel decides.  name: the text at their ends.
    """

    rows: Sequence[Row]
    colour: str
    dash: Dash | None = None
    name: str = ""


TRAINING = [Panel(**table) for table in TABLES["training"]]
MATCHES = [Panel(**table) for table in TABLES["match"]]
WORDS = TABLES["words"]


def run_colours(count: int) -> list[str]:
    """Return a colour for each of `count` runs; more runs than SERIES get a rainbow."""
    if count <= len(SERIES):
        return list(SERIES[:count])
    # Hue, lightness and saturation: dark enough to be seen on white.
    rainbow = [colorsys.hls_to_rgb(i / count, 0.42, 0.85) for i in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rainbow]


def curve_panel(panel: Panel, sources: Sequence[Source], x: str, title: str = "", x_label: str = "") -> CurvePanel:
    """Return a panel with the curves of all sources that have points of its metrics.

    x: the x axis, a name in AXES.  title: "" for the panel's.  x_label: as in CurvePanel.
    """
    curves = [curve for source in sources for curve in curves_of(panel, source, x)]
    return CurvePanel(title or panel.title, curves, panel.unit, panel.level, x_label=x_label)


def curves_of(panel: Panel, source: Source, x: str) -> Iterator[Curve]:
    """Yield the curves of a panel's metrics in a source, with intervals, or with bands if the rows are means over runs.

    An interval's end that is missing or infinite is replaced by the value, so that there is no bar on that side.
    """
    axis, divisor, _ = AXES[x]
    for (key, label), dash in zip(panel.keys.items(), STYLES, strict=False):
        rows = [row for row in source.rows if has_numbers(row, axis, key)]
        if not rows:
            continue
        at, values = [row[axis] / divisor for row in rows], [float(row[key]) for row in rows]
        is_band = all(has_numbers(row, key + LOW, key + HIGH) for row in rows)
        intervals = [
            [value if (end := number(row, end_key)) is None else end for row, value in zip(rows, values, strict=True)]
            for end_key in ((key + LOW, key + HIGH) if is_band else panel.interval)
        ]
        low, high = intervals or (None, None)
        look = source.colour, source.dash or dash, label, source.name
        yield Curve(at, values, *look, low=low, high=high, is_band=is_band)


def has_numbers(row: Row, *keys: str) -> bool:
    """Return whether a row has a finite number for each of the keys."""
    return all(number(row, key) is not None for key in keys)


def in_words_of(histories: Sequence[History], text: str) -> str:
    """Return `text`, a title or label for runs of self-play, reworded if some or all of the runs are supervised."""
    are_supervised = [history.is_supervised for history in histories]
    if text not in WORDS or not any(are_supervised):
        return text
    for_all, for_some = WORDS[text]
    return str(for_all if all(are_supervised) else for_some)
