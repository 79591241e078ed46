"""Draw the curves of one or several runs in one figure; its panels are in plots.toml."""

import colorsys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.match_result import result_caption
from alphago.drawing.curves import Curve, CurvePanel, Dash, curves_picture
from alphago.drawing.image import check_format, save_drawing
from alphago.drawing.shapes import SERIES, sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.records.record import small_drawing
from alphago.system.files import user_path
from alphago.system.validation import checks_keywords, shown
from alphago.training.history import HELD_OUT, History, Row, number, opponent_name, read_history
from alphago.training.runs.config import run_game

# For each x axis: the key in rows of the logs, the number by which to divide, and the axis' label.
AXES = {
    "minutes": ("seconds", 60.0, "minutes of training"),
    "processor": ("processor_seconds", 60.0, "minutes of the processor"),
    "games": ("games", 1.0, "games of self-play"),
    "positions": ("positions", 1.0, "positions of self-play"),
}
TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
STYLES: tuple[Dash, ...] = ("-", "--", ":", "-.")  # of the kinds of curves in a panel
LOW, HIGH = ":low", ":high"  # suffixes of a metric's name for the ends of its band, in means over runs
WORDS = TABLES["words"]
LONGEST_NAME = 30  # most letters of an opponent's name
# Each colour has a contrast of at least 4.5 on white, so that text in it can be read.
COLOURS = ("#20242c", "#86692f", "#1f6fb4", "#c8442c", "#24794b", "#8650a8", "#8f6808", "#137a80", "#a8417e")
POLICY_ALONE: Dash = "--"
SEARCHED: tuple[Dash, ...] = ("-", "-.", ":")  # styles of a player's curves with different readouts
MOST_BOARDS, BOARD_COLUMNS = 6, 3  # number of final boards in a panel, and of columns there
POINTS = 80  # largest number of points of a mean curve
COLUMNS = 4  # of panels
Runs = str | Path | Sequence[str | Path] | Mapping[str, Sequence[str | Path]]


class Panel(NamedTuple):
    """A panel of metrics or of a judge's measurement, from plots.toml.

    Attributes:
        title: the panel's title.
        keys: metrics with their names in the legend, "" for a single metric; the n-th has the n-th of STYLES.
        unit: the unit of the y axis; one that begins with % is that of shares.
        interval: the keys of the lower and the upper end of the confidence interval; () for none.
        level: the y of a horizontal line, such as the win rate of an even match.
        live: whether LiveReport shows the panel.
    """

    title: str
    keys: Mapping[str, str]
    unit: str = ""
    interval: Sequence[str] = ()
    level: float | None = None
    live: bool = False


class CurveRows(NamedTuple):
    """Rows of a log, from which a panel draws a curve for each of its metrics.

    Attributes:
        colour: the curves' colour.
        dash: the curves' style; None for the next of STYLES for each metric.
        name: the text at the curves' ends.
    """

    rows: Sequence[Row]
    colour: str
    dash: Dash | None = None
    name: str = ""


TRAINING = [Panel(**table) for table in TABLES["training"]]
MATCHES = [Panel(**table) for table in TABLES["match"]]


def run_colours(count: int) -> list[str]:
    """Return a colour for each of `count` runs; more runs than SERIES get a rainbow."""
    if count <= len(SERIES):
        return list(SERIES[:count])
    # Hue, lightness and saturation: dark enough to be seen on white.
    rainbow = [colorsys.hls_to_rgb(i / count, 0.42, 0.85) for i in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rainbow]


def curve_panel(panel: Panel, sources: Sequence[CurveRows], x: str, title: str = "") -> CurvePanel:
    """Return a panel with the curves of all sources that have points of its metrics.

    Args:
        x: the x axis, a name in AXES.
        title: the title; "" for the panel's own.
    """
    curves = [curve for source in sources for curve in read_curves(panel, source, x)]
    return CurvePanel(title or panel.title, curves, panel.unit, panel.level)


def read_curves(panel: Panel, source: CurveRows, x: str) -> Iterator[Curve]:
    """Yield a curve for each of a panel's metrics in a source, with a band if there is one.

    The band of a mean over runs is from the least to the greatest value, any other band is the panel's `interval`.  An
    interval's end that is missing or infinite is replaced by the value, so that the band ends there.

    Args:
        x: the x axis, a name in AXES.
    """
    axis, divisor, _ = AXES[x]
    for (key, label), dash in zip(panel.keys.items(), STYLES, strict=False):
        rows = [row for row in source.rows if has_numbers(row, axis, key)]
        if not rows:
            continue
        xs = [row[axis] / divisor for row in rows]
        values = [float(row[key]) for row in rows]
        # Rows of `mean_history` have the ends for each metric.
        are_means = all(has_numbers(row, key + LOW, key + HIGH) for row in rows)
        end_keys = (key + LOW, key + HIGH) if are_means else panel.interval
        band = []  # the list of its lower ends and that of its upper ends; empty without a band
        for end_key in end_keys:
            ends = [number(row, end_key) for row in rows]
            band.append([value if end is None else end for end, value in zip(ends, values, strict=True)])
        low, high = band or (None, None)
        yield Curve(xs, values, source.colour, source.dash or dash, label, source.name, low=low, high=high)


def has_numbers(row: Row, *keys: str) -> bool:
    """Return whether a row has a finite number for each of the keys."""
    return all(number(row, key) is not None for key in keys)


def reword(histories: Sequence[History], text: str) -> str:
    """Return a title or label that fits runs of self-play, reworded if some or all of the runs are supervised."""
    # A run that learns from given games has rows of its tests on held-out games.
    are_supervised = [any(row.get("judge") == HELD_OUT for row in history.evaluations) for history in histories]
    if text not in WORDS or not any(are_supervised):
        return text
    for_all, for_some = WORDS[text]
    return str(for_all if all(are_supervised) else for_some)


def match_panels(histories: Sequence[History], x: str, panels: Sequence[Panel]) -> Iterator[CurvePanel]:
    """Yield the panels of matches; a panel whose measurement no run has made has no curves.

    For one run with several opponents, the opponents share each panel, with their names at the curves' ends.  Dashed
    curves are those of the policy without search.  Otherwise each opponent has its own panels, with a colour for each
    run.

    Args:
        x: the x axis, a name in AXES.
        panels: the panels for an opponent; the first is that of the win rate.
    """
    styles = choose_styles([row for history in histories for row in history.evaluations])
    if len(histories) == 1 and len(styles) > 1:
        rows = histories[0].evaluations
        # A style is a colour and a dash.
        sources = [CurveRows(rows_against(name, rows), *style, name=name) for name, style in styles.items()]
        win_rate, *others = panels
        yield curve_panel(win_rate, sources, x, f"{win_rate.title} (dashed: the policy alone)")
        yield from (curve_panel(panel, sources, x) for panel in others)
        return
    for name in styles:
        with_colours = zip(histories, run_colours(len(histories)), strict=True)
        sources = [CurveRows(rows_against(name, history.evaluations), colour) for history, colour in with_colours]
        yield from (curve_panel(panel, sources, x, f"{panel.title}, {name}") for panel in panels)


def rows_against(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose opponent has the name `name` (see `row_name`)."""
    return [row for row in rows if row_name(row) == name]


def choose_styles(rows: Sequence[Row]) -> dict[str, tuple[str, Dash]]:
    """Return the colour and line style of each opponent's curve, by the opponent's name (see `row_name`).

    Here an opponent is a player (`row["opponent"]`) together with the readouts of the run's network.  So a player may
    have several curves.  Each player has one colour; after as many players as there are COLOURS, these are used again.
    Curves of one colour differ in style; the policy alone is dashed.
    """
    players = list(dict.fromkeys(row["opponent"] for row in rows))
    styles: dict[str, tuple[str, Dash]] = {}
    for name, row in {row_name(row): row for row in rows}.items():
        colour = COLOURS[players.index(row["opponent"]) % len(COLOURS)]
        searched_before = [style for style in styles.values() if style[0] == colour and style[1] != POLICY_ALONE]
        is_searched = number(row, "readouts") != 0
        dash = SEARCHED[len(searched_before) % len(SEARCHED)] if is_searched else POLICY_ALONE
        styles[name] = colour, dash
    return styles


def row_name(row: Row) -> str:
    """Return the name of a row's opponent with the network's readouts; a long name is cut at its beginning."""
    name = opponent_name(row)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]  # LONGEST_NAME letters with the "…"


def board_panels(history: History) -> Iterator[CurvePanel]:
    """Yield for each opponent a panel with final boards of the run's newest match against the opponent."""
    newest: dict[str, Row] = {opponent_name(row): row for row in history.evaluations if row.get("moves")}
    if not newest:
        return
    game = run_game(history.folder)
    for name, row in newest.items():
        size = row.get("board_size", game.N)  # the gate's first matches may be on a smaller board of the curriculum
        start = (game if size == game.N else game.resized(size)).match_variant().position()
        drawings, captions = [], []
        for i, played in enumerate(row["moves"][:MOST_BOARDS]):
            try:
                end = start.after(played["moves"].split())
            except ValueError:  # a damaged game is left out
                continue
            # `end` is of the match variant, whose max_moves may be larger.  A judge may have played `game` itself, and
            # such a match ends at max_moves of `game`.
            is_over = end.is_over or len(end.moves) >= game.max_moves
            drawings.append(small_drawing(end))
            captions.append(f"{i + 1}: {result_caption(end, played['outcome'], i, is_over)}")
        if drawings:
            title = f"Final boards, {name}, {number(row, 'games') or 0:,.0f} games"
            yield CurvePanel(title, picture=sheet(drawings, captions, BOARD_COLUMNS))


def mean_history(name: str, histories: Sequence[History], x: str) -> History:
    """Return one history with the means of several runs' rows, and the least and greatest values (see LOW, HIGH).

    The rows end where the shortest run ends.  A single run stays as it is.

    Args:
        name: the name of the resulting run.
        x: the axis along which rows are averaged, a name in AXES.
    """
    if len(histories) == 1:
        return histories[0]
    evaluations: list[Row] = []
    for label in dict.fromkeys(opponent_name(row) for history in histories for row in history.evaluations):
        runs = [[row for row in history.evaluations if opponent_name(row) == label] for history in histories]
        first = next(row for rows in runs for row in rows)  # the first row of the first run that has one
        # These entries identify the measurement, so they are not averaged.
        same = {key: first[key] for key in ("opponent", "readouts", "judge") if key in first}
        evaluations += [row | same for row in mean_rows(runs, x)]
    return History(Path(name), list(mean_rows([history.metrics for history in histories], x)), evaluations)


def mean_rows(runs: Sequence[Sequence[Row]], x: str) -> Iterator[dict[str, Any]]:
    """Yield rows at evenly spaced x, with the means over runs of every number that all runs have.

    The numbers of a run are interpolated between its rows.  The x are those that all runs have; if they share none, one
    row at the end of the run that ends first.
    """
    axis = AXES[x][0]  # the key in rows
    xs_of_runs = [[value for row in run if (value := number(row, axis)) is not None] for run in runs]
    if not all(xs_of_runs):
        return
    first = max(map(min, xs_of_runs))
    last = min(map(max, xs_of_runs))
    count = min(POINTS, *map(len, xs_of_runs))
    grid = np.linspace(first, last, count) if first < last else np.array([last])
    columns: dict[str, list[np.ndarray]] = {}  # for each key, the numbers of each run on the grid
    for key in dict.fromkeys(key for row in runs[0] for key in row):  # a key that all runs have is in the first run
        curves = [sorted((row[axis], row[key]) for row in run if has_numbers(row, axis, key)) for run in runs]
        if all(curves):
            xs_and_values = [np.array(curve, np.float64).T for curve in curves]  # from pairs to two arrays
            columns[key] = [np.interp(grid, xs, values) for xs, values in xs_and_values]
    for i, at in enumerate(grid):
        row: dict[str, Any] = {}
        for key, numbers_of_runs in columns.items():
            values = [float(numbers[i]) for numbers in numbers_of_runs]
            row |= {key: sum(values) / len(values), key + LOW: min(values), key + HIGH: max(values)}
        yield row | {axis: float(at)}  # instead of the mean of the runs' x, which may be rounded


@checks_keywords()
def plot(runs: Runs, out: str | Path | None = None, x: str = "minutes") -> Svg:
    """Draw the curves of one or several runs in one picture, save it if `out` is given, and return it as SVG.

    The panels show the following, if at least one run has measured it:
    - for each opponent: win rate and Elo with 95 % intervals, length of games, and in Go score and captures;
    - for watched game records: how well the network predicts their moves; for exams: its grades;
    - for training: losses, entropies, statistics of the games, and speed; the thin line has a point per iteration, the
      thick line is a moving average;
    - for a single run: final boards of its newest matches.

    Args:
        runs: the folder of a run, finished or in progress, or several folders.  Or a dictionary with lists of folders
            by name.  The runs of a list, such as runs that differ only in their seeds, are drawn as one: their mean, in
            a band from the least to the greatest value, as far as all of them have come.
        out: a file ending in .svg, .png or .pdf; the last two need Pillow.
        x: the x axis: "minutes" of training, minutes of the "processor" (all cores together), "games" or "positions" of
            self-play or, in supervised runs, of the given games.

    Raises:
        ValueError: for a run without metrics, an unknown `x` or suffix.
        OSError: for a file that cannot be read or written.
        ImportError: without Pillow.
    """
    groups = group_folders(runs)
    if x not in AXES:
        raise ValueError(f"x must be one of {', '.join(AXES)}, got {x!r}")
    x_metric, _, x_label = AXES[x]
    if out is not None:
        check_format(user_path(out))
    histories = [mean_history(name, list(map(read_history, folders)), x) for name, folders in groups.items()]
    panels = list(list_panels(histories, x))
    if not panels:
        listed = ", ".join(str(folder) for folders in groups.values() for folder in folders)
        raise ValueError(f"nothing to draw: no row of {listed} has {x_metric!r} and a metric")
    key = list(zip(groups, run_colours(len(groups)), strict=True))
    # `reword`: for runs without self-play, the label says "given games".
    picture = curves_picture(panels, COLUMNS, reword(histories, x_label), key=key)
    if out is not None:
        save_drawing(picture, out)
    return to_svg(picture)


def group_folders(runs: Runs) -> dict[str, list[str | Path]]:
    """Return the folders of runs by the names of their curves in the legend.

    Args:
        runs: as in `plot`.

    Raises:
        TypeError: for anything else than folders.
        ValueError: for no folder.
    """
    # Without names, all folders are one group for now, which the end of this function splits.
    named: Iterable[tuple[str, Any]] = runs.items() if isinstance(runs, Mapping) else [("", runs)]
    groups = {name: list(given) if isinstance(given, (list, tuple)) else [given] for name, given in named}
    for folder in chain.from_iterable(groups.values()):
        if not isinstance(folder, (str, PathLike)):
            raise TypeError(f"runs must be the folder of one run or more, got {shown(folder)}")
    if not groups or not all(groups.values()):
        raise ValueError("runs must be the folder of one run or more, got none")
    if isinstance(runs, Mapping):
        return groups
    return {name: [folder] for name, folder in zip(legend_names(groups[""]), groups[""], strict=True)}


def legend_names(folders: Sequence[str | Path]) -> list[str]:
    """Return each run's name for the legend: its folder's name, or its path if several have this name."""
    names = [user_path(folder).resolve().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def list_panels(histories: Sequence[History], x: str, live: bool = False) -> Iterator[CurvePanel]:
    """Yield the panels of runs that have curves or pictures: of matches, of a single run's final boards, of training.

    Args:
        x: the x axis, a name in AXES.
        live: whether to yield only the panels that LiveReport shows, which are marked in plots.toml.
    """
    matches = [panel for panel in MATCHES if panel.live or not live]
    training = [panel for panel in TRAINING if panel.live or not live]
    boards = board_panels(histories[0]) if len(histories) == 1 and not live else ()
    for panel in chain(match_panels(histories, x, matches), boards, training_panels(histories, x, training)):
        if panel.curves or panel.picture:
            yield panel


def training_panels(histories: Sequence[History], x: str, panels: Sequence[Panel]) -> Iterator[CurvePanel]:
    """Yield the panels of training, with a colour for each run; a panel whose metrics no run has has no curves."""
    with_colours = zip(histories, run_colours(len(histories)), strict=True)
    sources = [CurveRows(history.metrics, colour) for history, colour in with_colours]
    for panel in panels:
        keys = {key: reword(histories, label) for key, label in panel.keys.items()}
        yield curve_panel(panel._replace(keys=keys), sources, x, reword(histories, panel.title))
