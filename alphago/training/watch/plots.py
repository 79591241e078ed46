"""`plot`: the curves of one or several runs in one figure."""

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from alphago.system.validation import checks_keywords
from alphago.training.history import History, Row, number, read_history

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {
    "minutes": ("seconds", 60.0, "minutes of training"),
    "processor": ("processor_seconds", 60.0, "minutes of the processor"),
    "games": ("games", 1.0, "games of self-play"),
    "positions": ("positions", 1.0, "positions of self-play"),
}  # x axes: key of the rows, divisor, label
SHARE = "%"
COLUMNS = 4
PANEL_SIZE = (4.2, 2.9)  # inches
Style = Literal["-", "--", ":", "-."]
STYLES: tuple[Style, ...] = ("-", "--", ":", "-.")
SMOOTHED_OVER = 40  # points; longer curves are smoothed over a fortieth of them on either side
LONGEST_NAME = 30  # letters of an opponent's name
LONGEST_TITLE = 48  # letters that fit above a panel
POWERS = (-2, 5)  # numbers outside 10^-2 .. 10^5 get a common power of ten


class Curves(NamedTuple):
    """A panel of training metrics; `keys`: pairs of a row's key and its name in the legend, "" if there is one key."""

    title: str
    keys: tuple[tuple[str, str], ...]
    unit: str = ""


# cody2007's curves first, then others.  Curves whose key no run has are left out, and so are panels without curves.
TRAINING = (
    Curves("Value error", (("value_loss", "trained on"), ("fresh_value_loss", "new games"),
                           ("value_variance", "variance of results")), "squared"),
    Curves("Pearson's r of value and result", (("value_correlation", ""),)),
    Curves("Policy loss", (("policy_loss", "trained on"), ("target_entropy", "target's entropy"),
                                    ("fresh_policy_loss", "new games")), "nats"),
    Curves("Policy's top move", (("top_move_agreement", "as in search"), ("top_probability", "probability")), SHARE),
    Curves("Entropy", (("policy_entropy", "policy"), ("target_entropy", "target")), "nats"),
    Curves("Other losses", (("ownership_loss", "ownership"), ("score_loss", "score"))),
    Curves("Game length", (("game_length", ""),), "moves"),
    Curves("Passes", (("pass_rate", ""),), f"{SHARE} of moves"),
    Curves("Results of self-play", (("black_wins", "Black wins"), ("draws", "draws")), SHARE),
    Curves("Games that were not played out", (("capped", "cut off"), ("resignations", "resigned")), SHARE),
    Curves("Speed of self-play", (("moves_per_second", ""),), "moves/s"),
    Curves("Speed of the search", (("readouts_per_second", ""),), "readouts/s"),
    Curves("Readouts", (("readouts", ""),), "per move"),
    Curves("Memory", (("memory", ""),), "positions"),
    Curves("Self-play's share of the time", (("selfplay_share", ""),), SHARE),
    Curves("What takes the time", (("net_share", "inference"), ("optimizer_share", "gradient steps"),
                                 ("tree_share", "tree"), ("boards_share", "boards")), SHARE),
    Curves("Time on the processor", (("processor_share", ""),), f"{SHARE} of its threads' time"),
    Curves("GPU busy", (("gpu_busy", ""),), f"{SHARE} of the time"),
    Curves("Learning rate", (("learning_rate", ""),)),
)  # fmt: skip


class Line(NamedTuple):
    """One curve: its points and, for matches, the ends of each point's interval."""

    run: int
    label: str
    style: Style
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None


class Panel(NamedTuple):
    """A diagram with its curves."""

    title: str
    unit: str
    lines: list[Line]
    level: float | None = None  # y of a thin line that marks "even"


@checks_keywords()
def plot(runs: str | Path | Sequence[str | Path], out: str | Path | None = None, x: str = "minutes") -> "Figure":
    """Draw the curves of runs side by side, save them if `out` is given, and return the matplotlib figure.

    Matches: win rate and Elo against each opponent with 95 % intervals, in Go score and captures.  Training: losses,
    entropies, games and speed; the thin line has each iteration, the thick line a mean over neighbours.  Metrics that
    no run has are left out.

    runs: folders of runs, finished or in progress.
    out: a file with a suffix that matplotlib writes: .png, .svg, .pdf, …
    x: the x axis: "minutes" of training, minutes of the "processor" (all cores together), "games" or "positions" of
        self-play.
    Raises ValueError for a run without metrics, an unknown `x` or suffix, OSError for a file that cannot be read or
    written, ModuleNotFoundError without matplotlib.
    """
    folders = [runs] if isinstance(runs, (str, Path)) else list(runs)
    if not folders:
        raise ValueError("runs must be the folder of one run or more, got none")
    if x not in AXES:
        raise ValueError(f"x must be one of {', '.join(AXES)}, got {x!r}")
    figure = new_figure()
    if out is not None:
        check_out(figure, Path(out))
    histories = [read_history(folder) for folder in folders]
    panels = [*match_panels(histories, x), *training_panels(histories, x)]
    if not panels:
        raise ValueError(f"nothing to draw: no row of {', '.join(map(str, folders))} has {AXES[x][0]!r} and a metric")
    draw_figure(figure, panels, names_of(folders), x)
    if out is not None:
        figure.savefig(out)
    return figure


def new_figure() -> "Figure":
    """Return an empty figure that needs no display, and that a notebook shows as a picture."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "curves are drawn with matplotlib, which is missing: pip install matplotlib"
        ) from error

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png")
            return data.getvalue()

    return NotebookFigure(layout="constrained", dpi=100)


def check_out(figure: "Figure", out: Path) -> None:
    """Raise ValueError for a suffix that matplotlib cannot write, FileNotFoundError for a file in a missing folder."""
    formats = figure.canvas.get_supported_filetypes()
    if out.suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"out must end in one of {', '.join('.' + name for name in formats)}, got {out}")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"{out} cannot be written: there is no folder {out.parent}")


def names_of(folders: Sequence[str | Path]) -> list[str]:
    """Return the name of each run in the legend: its folder's name, or its whole path if two runs have that name."""
    names = [Path(folder).resolve().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def points(rows: Iterable[Row], key: str, x: str) -> tuple[list[float], list[float], list[Row]]:
    """Return x, y, and the row itself for every row that has both numbers."""
    source, divisor, _ = AXES[x]
    rows = [row for row in rows if number(row, source) is not None and number(row, key) is not None]
    return [row[source] / divisor for row in rows], [float(row[key]) for row in rows], rows


def training_panels(histories: Sequence[History], x: str) -> Iterator[Panel]:
    """Yield the panels of TRAINING for which some run has a curve."""
    for title, keys, unit in TRAINING:
        lines = []
        for run, history in enumerate(histories):
            for (key, label), style in zip(keys, STYLES, strict=False):
                at, values, _ = points(history.metrics, key, x)
                if at:
                    lines.append(Line(run, label, style, at, values))
        if lines:
            yield Panel(title, unit, lines)


def match_panels(histories: Sequence[History], x: str) -> Iterator[Panel]:
    """Yield panels of win rate, score and captures against each opponent that a run has met, and a panel of Elo."""
    opponents = dict.fromkeys(opponent(row) for history in histories for row in history.evaluations)
    styles = {name: STYLES[i % len(STYLES)] for i, name in enumerate(opponents)}

    def lines(name: str, key: str, label: str, style: Style, interval: tuple[str, str] | None = None) -> Iterator[Line]:
        for run, history in enumerate(histories):
            at, values, rows = points((row for row in history.evaluations if opponent(row) == name), key, x)
            if at:
                ends = [[number(row, end) for row in rows] for end in interval or ()]
                # Without an end, or with an infinite one, there is no bar on that side.
                finite = [[v if end is None else end for v, end in zip(values, side, strict=True)] for side in ends]
                yield Line(run, label, style, at, values, *finite)

    panels = []
    for name in opponents:
        panels += [
            Panel(f"Win rate, {name}", SHARE, list(lines(name, "win_rate", "", "-", ("low", "high"))), 0.5),
            Panel(f"Score, {name}", "points", list(lines(name, "score", "", "-")), 0.0),
            Panel(f"Captures, {name}", "stones",
                  [*lines(name, "captures", "taken", "-"), *lines(name, "captured", "lost", "--")]),
        ]  # fmt: skip
    elo = [line for name in opponents for line in lines(name, "elo", name, styles[name], ("elo_low", "elo_high"))]
    yield from (panel for panel in [*panels, Panel("Elo", "", elo)] if panel.lines)


def opponent(row: Row) -> str:
    """Return the name of a match's opponent with the readouts; a long name, such as a path, loses its beginning."""
    name = str(row["opponent"])
    if len(name) > LONGEST_NAME:
        name = "…" + name[1 - LONGEST_NAME :]
    readouts = number(row, "readouts")
    return name if readouts is None else f"{name} ({readouts:.0f} readouts)"


def draw_figure(figure: "Figure", panels: Sequence[Panel], names: Sequence[str], x: str) -> None:
    """Draw panels row by row, with a legend of the runs above them."""
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
    figure.supxlabel(AXES[x][2], fontsize=10)
    handles = [
        Line2D([], [], color=colour, linewidth=3, label=name) for name, colour in zip(names, colours, strict=True)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(names), COLUMNS), frameon=False)


def draw_panel(axes: "Axes", panel: Panel, colours: Sequence[Any]) -> None:
    """Draw one panel, with a legend of its kinds of line."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import PercentFormatter

    for line in panel.lines:
        colour = colours[line.run]
        if line.low is not None and line.high is not None:
            # At least 0 despite rounding: matplotlib refuses negative bars.
            bars = [[max(0.0, y - low) for y, low in zip(line.y, line.low, strict=True)],
                    [max(0.0, high - y) for y, high in zip(line.y, line.high, strict=True)]]  # fmt: skip
            axes.errorbar(line.x, line.y, bars, color=colour, linestyle=line.style, marker="o", markersize=3,
                          elinewidth=1, capsize=2)  # fmt: skip
            continue
        mean = smooth(line.y)
        if mean != line.y:
            axes.plot(line.x, line.y, color=colour, linestyle="-", linewidth=0.5, alpha=0.3)
        marker = "o" if len(line.y) < SMOOTHED_OVER else ""
        axes.plot(line.x, mean, color=colour, linestyle=line.style, linewidth=1.5, marker=marker, markersize=2.5)
    if panel.level is not None:
        axes.axhline(panel.level, color="0.5", linewidth=0.8, linestyle=":")
    if panel.unit.startswith(SHARE):
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    else:
        axes.ticklabel_format(axis="y", scilimits=POWERS)
    axes.ticklabel_format(axis="x", scilimits=POWERS)
    for axis in (axes.xaxis, axes.yaxis):
        axis.offsetText.set_fontsize(8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    kinds = dict.fromkeys((line.label, line.style) for line in panel.lines)
    axes.set_title(title_of(panel, [label for label, _ in kinds]), fontsize=10)
    if len(kinds) > 1:
        handles = [Line2D([], [], color="0.25", linestyle=style, label=label) for label, style in kinds]
        axes.legend(handles=handles, fontsize=7, framealpha=0.6, handlelength=2.5)


def title_of(panel: Panel, kinds: Sequence[str]) -> str:
    """Return a panel's title with its unit, and with the name of its curve if there is only one."""
    kind = f": {kinds[0]}" if len(kinds) == 1 and kinds[0] else ""
    unit = panel.unit.removeprefix(SHARE).strip()
    return textwrap.fill(f"{panel.title}{kind}" + (f" [{unit}]" if unit else ""), LONGEST_TITLE)


def smooth(values: list[float]) -> list[float]:
    """Return the mean of each value and its neighbours, the same number on both sides."""
    reach = len(values) // SMOOTHED_OVER
    around = [min(reach, i, len(values) - 1 - i) for i in range(len(values))]
    return [sum(values[i - r : i + r + 1]) / (2 * r + 1) for i, r in enumerate(around)]
