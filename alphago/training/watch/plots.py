"""Draw the curves of one or several runs in one figure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from alphago.drawing.curves import CurvePanel, curves_picture
from alphago.drawing.image import check_format, save_drawing
from alphago.drawing.svg import Svg, to_svg
from alphago.system.files import user_path
from alphago.system.validation import checks_keywords, shown
from alphago.training.history import History, read_history
from alphago.training.watch.match_panels import board_panels, match_panels
from alphago.training.watch.mean_history import mean_history
from alphago.training.watch.panels import AXES, TRAINING, Panel, Source, curve_panel, in_words_of, run_colours

COLUMNS = 4
UNLIKE = 4.0  # a run so many times as long as another makes the x axis logarithmic
Runs = str | Path | Sequence[str | Path] | Mapping[str, Sequence[str | Path]]


@checks_keywords()
def plot(runs: Runs, out: str | Path | None = None, x: str = "minutes") -> Svg:
    """Draw the curves of one or several runs in one picture, save it if `out` is given, and return it as SVG.

    The panels show the following, if at least one run has measured it:
    - for each opponent: win rate and Elo with 95 % intervals, length of games, and in Go score and captures;
    - for watched game records: how well the network predicts their moves; for exams: its grades;
    - for training: losses, entropies, statistics of the games, and speed; the thin line has a point per iteration, the
      thick line is a moving average;
    - for a single run: final boards of its newest matches.

    runs: folders of runs, finished or in progress.  Or a dictionary: by name, the folders of runs that differ in their
        seeds.  Of these the mean is drawn, in a band from the least to the greatest value, as far as all runs have
        come.
    out: a file ending in .svg, .png or .pdf; the last two need Pillow.
    x: the x axis: "minutes" of training, minutes of the "processor" (all cores together), "games" or "positions" of
        self-play or, in supervised runs, of the given games. It is logarithmic if the lengths of runs differ much.
    Raises ValueError for a run without metrics, an unknown `x` or suffix, OSError for a file that cannot be read or
    written, ImportError without Pillow.
    """
    groups = groups_of(runs)
    if x not in AXES:
        raise ValueError(f"x must be one of {', '.join(AXES)}, got {x!r}")
    x_metric, _, x_label = AXES[x]
    if out is not None:
        check_format(user_path(out))
    histories = [mean_history(name, list(map(read_history, folders)), x) for name, folders in groups.items()]
    panels = list(panels_of(histories, x))
    if not panels:
        listed = ", ".join(str(folder) for folders in groups.values() for folder in folders)
        raise ValueError(f"nothing to draw: no row of {listed} has {x_metric!r} and a metric")
    key = list(zip(groups, run_colours(len(groups)), strict=True))
    picture = curves_picture(panels, COLUMNS, in_words_of(histories, x_label), key=key)
    if out is not None:
        save_drawing(picture, out)
    return to_svg(picture)


def groups_of(runs: Runs) -> dict[str, list[str | Path]]:
    """Return the folders of `plot`'s runs by the names in its legend.

    Raises TypeError for anything else than folders, ValueError for no folder.
    """
    named: Iterable[tuple[str, Any]] = runs.items() if isinstance(runs, Mapping) else [("", runs)]
    groups = {name: list(given) if isinstance(given, (list, tuple)) else [given] for name, given in named}
    for folder in chain.from_iterable(groups.values()):
        if not isinstance(folder, (str, PathLike)):
            raise TypeError(f"runs must be the folder of one run or more, got {shown(folder)}")
    if not groups or not all(groups.values()):
        raise ValueError("runs must be the folder of one run or more, got none")
    if isinstance(runs, Mapping):
        return groups
    folders = groups[""]
    return {name: [folder] for name, folder in zip(names_of(folders), folders, strict=True)}


def names_of(folders: Sequence[str | Path]) -> list[str]:
    """Return each run's name for the legend: its folder's name, or its path if several have this name."""
    names = [user_path(folder).resolve().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def panels_of(histories: Sequence[History], x: str) -> Iterator[CurvePanel]:
    """Yield all panels of runs, those of a single run's final boards after those of its matches.

    The x axis of a panel with runs of very different lengths is logarithmic.
    x: the x axis, a name in AXES.
    """
    *_, label = AXES[x]
    boards = board_panels(histories[0]) if len(histories) == 1 else ()
    for panel in chain(match_panels(histories, x), boards, training_panels(histories, x)):
        bend = bend_of(panel) if len(histories) > 1 else 0.0
        if panel.curves or panel.picture:
            long_label = f"{in_words_of(histories, label)} (logarithmic)"
            yield panel._replace(bend=bend, x_label=long_label) if bend else panel


def bend_of(panel: CurvePanel) -> float:
    """Return the `bend` of a panel whose runs each have a colour; 0 if their lengths are alike.

    The shortest run has nearly half of the width beside one that is ten times as long, and a quarter at a hundred.
    """
    lengths: dict[str, float] = {}
    for curve in panel.curves:
        lengths[curve.colour] = max(curve.x[-1], lengths.get(curve.colour, 0.0))
    least, most = min(lengths.values(), default=0.0), max(lengths.values(), default=0.0)
    return least / 5 if 0 < least * UNLIKE < most else 0.0


def training_panels(histories: Sequence[History], x: str, panels: Sequence[Panel] = TRAINING) -> Iterator[CurvePanel]:
    """Yield the panels of training, with or without curves, in a colour for each run."""
    colours = zip(run_colours(len(histories)), histories, strict=True)
    sources = [Source(history.metrics, colour) for colour, history in colours]
    for panel in panels:
        keys = {key: in_words_of(histories, label) for key, label in panel.keys.items()}
        yield curve_panel(panel._replace(keys=keys), sources, x, in_words_of(histories, panel.title))
