"""Draw the curves of one or several runs in one figure."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from alphago.system.validation import checks_keywords
from alphago.training.history import History, read_history
from alphago.training.watch.match_panels import match_panels
from alphago.training.watch.panels import AXES, SHARE, STYLES, Line, Panel, draw_figure, points
from alphago.training.watch.words import in_words_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curves(NamedTuple):
    """A panel of training metrics; `keys`: pairs of a metric and its name in the legend ("" for a single metric)."""

    title: str
    keys: tuple[tuple[str, str], ...]
    unit: str = ""


# The curves of cody2007's figures come first.  Curves whose metric no run has and panels without curves are left out.
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
    Curves("Threshold of resignation", (("resign_threshold", ""),)),
    Curves("Memory", (("memory", ""),), "positions"),
    Curves("Self-play's share of the time", (("selfplay_share", ""),), SHARE),
    Curves("What takes the time", (("net_share", "inference"), ("optimizer_share", "gradient steps"),
                                 ("tree_share", "tree"), ("boards_share", "boards")), SHARE),
    Curves("Time on the processor", (("processor_share", ""),), f"{SHARE} of its threads' time"),
    Curves("GPU busy", (("gpu_busy", ""),), f"{SHARE} of the time"),
    Curves("Learning rate", (("learning_rate", ""),)),
)  # fmt: skip


@checks_keywords()
def plot(runs: str | Path | Sequence[str | Path], out: str | Path | None = None, x: str = "minutes") -> "Figure":
    """Draw the curves of one or several runs in one figure, save it if `out` is given, and return it.

    The panels show the following, if at least one run has measured it:
    - for each opponent: win rate and Elo with 95 % intervals, length of games, and in Go score and captures;
    - for watched game records: how well the network predicts their moves; for exams: its grades;
    - for training: losses, entropies, statistics of the games, and speed; the thin line has a point per iteration, the
      thick line is a moving average;
    - for a single run: final boards of its newest matches.

    runs: folders of runs, finished or in progress.
    out: a file with a suffix that matplotlib writes: .png, .svg, .pdf, …
    x: the x axis: "minutes" of training, minutes of the "processor" (all cores together), "games" or "positions" of
        self-play or, in supervised runs, of the given games.
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
    draw_figure(figure, panels, names_of(folders), in_words_of(histories, AXES[x][2]))
    if out is not None:
        figure.savefig(out)
    return figure


def new_figure() -> "Figure":
    """Return an empty matplotlib figure that needs no display, and that a notebook shows as a PNG.

    Raises ModuleNotFoundError without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "curves are drawn with matplotlib, which is missing: pip install 'alphago[plot]' brings it"
        ) from error

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png")
            return data.getvalue()

    return NotebookFigure(layout="constrained", dpi=100)


def check_out(figure: "Figure", out: Path) -> None:
    """Check that `figure` can be saved as `out`.

    Raises ValueError for a suffix that matplotlib cannot write, FileNotFoundError if the file's folder is missing.
    """
    formats = figure.canvas.get_supported_filetypes()
    if out.suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"out must end in one of {', '.join('.' + name for name in formats)}, got {out}")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"{out} cannot be written: there is no folder {out.parent}")


def names_of(folders: Sequence[str | Path]) -> list[str]:
    """Return each run's name for the legend: its folder's name, or the path given if two folders have that name."""
    names = [Path(folder).resolve().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def training_panels(histories: Sequence[History], x: str) -> Iterator[Panel]:
    """Yield the panels of TRAINING for which at least one run has a metric."""
    for title, keys, unit in TRAINING:
        lines = []
        for run, history in enumerate(histories):
            for (key, label), style in zip(keys, STYLES, strict=False):
                at, values, _ = points(history.metrics, key, x)
                if at:
                    lines.append(Line(run, in_words_of(histories, label), style, at, values))
        if lines:
            yield Panel(in_words_of(histories, title), unit, lines)
