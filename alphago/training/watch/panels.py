"""Draw panels (diagrams with curves over a run) side by side in one figure."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from alphago.training.history import Row, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# For each x axis: the key in rows of the logs, a divisor, and the axis' label.
AXES = {
    "minutes": ("seconds", 60.0, "minutes of training"),
    "processor": ("processor_seconds", 60.0, "minutes of the processor"),
    "games": ("games", 1.0, "games of self-play"),
    "positions": ("positions", 1.0, "positions of self-play"),
}
SHARE = "%"
COLUMNS = 4
PANEL_SIZE = (4.2, 2.9)  # inches
Style = Literal["-", "--", ":", "-."]
STYLES: tuple[Style, ...] = ("-", "--", ":", "-.")
SMOOTHED_OVER = 40  # a moving average takes a 40th of the points on either side; shorter curves are not smoothed
LONGEST_TITLE = 48  # letters that fit above a panel
POWERS = (-2, 5)  # an axis with numbers outside 10^-2 .. 10^5 has a common power of ten
LABEL_GAP = 0.075  # smallest distance of two names at the ends of curves, as a share of the panel's height
LETTER = 0.016  # width of a letter of these names, as a share of the panel's width


class Line(NamedTuple):
    """One curve of a panel.

    run: the run's index, which determines the colour unless `colour` is set.
    label, style: the kind of curve in the panel's legend, and its line style.
    x, y: the points, sorted by x.  low, high: the ends of each point's interval; None without intervals.
    name: a name to write at the curve's end instead of a legend; "" for none.
    """

    run: int
    label: str
    style: Style
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None
    name: str = ""
    colour: str = ""


class Panel(NamedTuple):
    """A diagram with curves, or with a picture that the function `draw` draws into the axes."""

    title: str
    unit: str = ""
    lines: Sequence[Line] = ()
    level: float | None = None  # y of a thin horizontal line, such as a win rate of 0.5
    x_label: str = ""  # label of the x axis if it differs from the figure's
    draw: Callable[["Axes"], None] | None = None
    range: tuple[float, float] | None = None  # limits of the y axis


def points(rows: Iterable[Row], key: str, x: str) -> tuple[list[float], list[float], list[Row]]:
    """Return the x values, the y values and the rows, of those among `rows` that have both values.

    key: the metric on the y axis.  x: the x axis, a name in AXES.
    """
    source, divisor, _ = AXES[x]
    rows = [row for row in rows if number(row, source) is not None and number(row, key) is not None]
    return [row[source] / divisor for row in rows], [float(row[key]) for row in rows], rows


def draw_figure(figure: "Figure", panels: Sequence[Panel], names: Sequence[str], x_label: str) -> None:
    """Draw panels row by row, with a legend of the runs above them.

    names: the runs' names.  x_label: the label of all x axes.
    """
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure.set_size_inches(PANEL_SIZE[0] * columns, PANEL_SIZE[1] * rows + 0.8)
    # Ten colours are easy to tell apart; more runs get a rainbow.
    many = len(names) > 10
    colours = [colormaps["turbo"](i / len(names)) if many else colormaps["tab10"](i) for i in range(len(names))]
    for i, panel in enumerate(panels):
        draw_panel(figure.add_subplot(rows, columns, i + 1), panel, colours)
    figure.supxlabel(x_label, fontsize=10)
    handles = [Line2D([], [], color=colour, linewidth=3, label=" ") for colour in colours]
    legend = figure.legend(handles=handles, loc="outside upper center", ncols=min(len(names), COLUMNS), frameon=False)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)  # only now: a label that begins with _ is left out of a legend


def draw_panel(axes: "Axes", panel: Panel, colours: Sequence[Any]) -> None:
    """Draw one panel, with a legend of its line styles or a name at each curve's end; colours: one for each run."""
    kinds = dict.fromkeys((line.label, line.style) for line in panel.lines if not line.name)
    axes.set_title(title_of(panel, [label for label, _ in kinds]), fontsize=10)
    if panel.draw is not None:
        panel.draw(axes)
        return
    for line in panel.lines:
        draw_line(axes, line, line.colour or colours[line.run])
    if panel.level is not None:
        axes.axhline(panel.level, color="0.5", linewidth=0.8, linestyle=":")
    if panel.range is not None:
        axes.set_ylim(*panel.range)
    draw_scales(axes, panel)
    if any(line.name for line in panel.lines):
        name_lines(axes, panel.lines)
    if len(kinds) > 1:
        add_legend(axes, kinds)


def draw_line(axes: "Axes", line: Line, colour: Any) -> None:
    """Draw a curve with error bars if it has intervals, else as a thin line with a thick moving average."""
    if line.low is not None and line.high is not None:
        # At least 0 despite rounding: matplotlib refuses negative bars.
        bars = [[max(0.0, y - low) for y, low in zip(line.y, line.low, strict=True)],
                [max(0.0, high - y) for y, high in zip(line.y, line.high, strict=True)]]  # fmt: skip
        drawn = axes.errorbar(line.x, line.y, bars, color=colour, linestyle=line.style, marker="o", markersize=3,
                              elinewidth=1, capsize=2)  # fmt: skip
        if line.name:  # error bars of several curves would hide each other
            for part in (*drawn[1], *drawn[2]):
                part.set_alpha(0.3)
        return
    mean = smooth(line.y)
    if mean != line.y:
        axes.plot(line.x, line.y, color=colour, linestyle="-", linewidth=0.5, alpha=0.3)
    marker = "o" if len(line.y) < SMOOTHED_OVER else ""
    axes.plot(line.x, mean, color=colour, linestyle=line.style, linewidth=1.5, marker=marker, markersize=2.5)


def draw_scales(axes: "Axes", panel: Panel) -> None:
    """Set the number formats of both axes, and draw a grid."""
    from matplotlib.ticker import PercentFormatter

    ends = [x for line in panel.lines for x in line.x]
    if min(ends) == max(ends):  # else the axis would show a billionth around it
        axes.set_xlim(ends[0] - 0.5, ends[0] + 0.5)
    if panel.unit.startswith(SHARE):
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    else:
        axes.ticklabel_format(axis="y", scilimits=POWERS)
    axes.ticklabel_format(axis="x", scilimits=POWERS)
    for axis in (axes.xaxis, axes.yaxis):
        axis.offsetText.set_fontsize(8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    if panel.x_label:
        axes.set_xlabel(panel.x_label, fontsize=8)


def add_legend(axes: "Axes", kinds: Iterable[tuple[str, Style]]) -> None:
    """Add a legend of line styles; kinds: pairs of a label and its style."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color="0.25", linestyle=style, label=label) for label, style in kinds]
    axes.legend(handles=handles, fontsize=7, framealpha=0.6, handlelength=2.5)


def name_lines(axes: "Axes", lines: Sequence[Line]) -> None:
    """Write each curve's name in its colour at its end; names that would overlap are moved up or down."""
    ends = {line.name: (line.x[-1], line.y[-1], line.colour) for line in lines}
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    wide = LETTER * max(map(len, ends)) + 0.02
    axes.set_xticks([tick for tick in axes.get_xticks() if left <= tick <= right])
    axes.set_xlim(left, left + (right - left) / (1 - wide))
    names = sorted(ends, key=lambda name: ends[name][1])
    heights = spread([(ends[name][1] - bottom) / (top - bottom) for name in names], LABEL_GAP)
    for name, height in zip(names, heights, strict=True):
        axes.text(1 - wide, height, name, color=ends[name][2], fontsize=7, va="center", transform=axes.transAxes)


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move ascending values in 0 .. 1 apart, until neighbours differ by `gap`, or by less if there is no room.

    Returns the moved values.
    """
    gap = min(gap, 1 / max(1, len(values)))
    moved = list(values)
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    limit = 1 - gap / 2
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - gap
    return moved


def title_of(panel: Panel, kinds: Sequence[str]) -> str:
    """Return a panel's title with its unit, and with the label of its curves if all have the same label.

    kinds: the labels of the panel's curves, each label once.
    """
    kind = f": {kinds[0]}" if len(kinds) == 1 and kinds[0] else ""
    unit = panel.unit.removeprefix(SHARE).strip()
    return textwrap.fill(f"{panel.title}{kind}" + (f" [{unit}]" if unit else ""), LONGEST_TITLE)


def smooth(values: list[float]) -> list[float]:
    """Return a moving average, which takes equally many neighbours on both sides of each value."""
    reach = len(values) // SMOOTHED_OVER
    around = [min(reach, i, len(values) - 1 - i) for i in range(len(values))]
    return [sum(values[i - r : i + r + 1]) / (2 * r + 1) for i, r in enumerate(around)]
