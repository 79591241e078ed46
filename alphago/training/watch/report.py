"""Reports of a training run: callbacks that print and log, since the training loop itself prints nothing."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tqdm.auto import tqdm

from alphago.drawing.live_bar import LiveBar
from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.optional import optional_import
from alphago.training.history import Row, number, opponent_name
from alphago.training.metrics import bottleneck
from alphago.training.runs.config import how_to_continue
from alphago.training.watch.diagnosis import Diagnosis
from alphago.training.watch.gpu_meter import GpuMeter

LASTING = 3.0  # seconds of an activity after which the bar shows its duration
# What the bar shows of an iteration's metrics, by their names.
RATES = {
    "moves_per_second": "moves/s={:.0f}",
    "policy_loss": "policy={:.2f}",
    "value_loss": "value={:.2f}",
    "workers": "workers={:.0f}",
    "gpu_busy": "gpu={:.0%}",
}


class Progress(NamedTuple):
    """The progress of a run at one moment.

    Attributes:
        share: the share of the run's time that has passed, 0 .. 1, or of its games while the time is unknown.
        remaining: estimated seconds until the run ends; None while unknown.
        activity: the run's work now, such as "playing"; "" between two kinds of work.
        seconds: how long the run has been doing this work, in seconds.
    """

    share: float
    remaining: float | None
    activity: str
    seconds: float

    def texts(self) -> list[str]:
        """Return the time left and the activity as texts, as far as they are known."""
        time_left = [] if self.remaining is None else [f"{tqdm.format_interval(self.remaining)} left"]
        duration = f" for {self.seconds:.0f} s" if self.seconds >= LASTING else ""
        return [*time_left, self.activity + duration] if self.activity else time_left


class Report:
    """A callback that a run informs of its events.

    A derived class overrides only the methods that it needs.  The argument `metrics` is a row of metrics.jsonl.
    """

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        """Begin a report; called before the first game, and again if a run loses its GPU and continues on the CPU.

        Args:
            folder: the run's folder.
            settings: the run's settings by name, see `flat_settings`.
            progress: returns the run's progress; it may be called at any time and from any thread.
        """

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Report an iteration of self-play and training."""

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Report finished games of self-play, all on one board; env: the game on that board."""

    def match(self, row: Row) -> None:
        """Report a judge's measurement; `row` is a row of evaluations.jsonl."""

    def note(self, text: str) -> None:
        """Report a sentence, such as a match's result or a diagnosis."""

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """Report the run's end.

        Args:
            metrics: the last iteration's row.
            weights: the file of the network.
            stopped: whether the user ended the run early.
        """


class Reporter:
    """The object that passes a run's events to its reports, and adds a diagnosis of the metrics.

    Args:
        reports: the reports, informed in this order.
        settings: the run's settings by name, see `flat_settings`.
        rows: the metrics of earlier iterations, oldest first.
        meter: measures how busy the GPU is.
    """

    def __init__(
        self, reports: Sequence[Report], settings: dict[str, Any], rows: Sequence[Row], meter: GpuMeter
    ) -> None:
        self.reports, self.settings, self.meter = reports, settings, meter
        self.diagnosis = Diagnosis(settings)
        self.diagnosis.remember(rows)

    def start(self, folder: Path, progress: Callable[[], Progress]) -> None:
        """Start the reports."""
        for report in self.reports:
            report.start(folder, self.settings, progress)

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Report an iteration, and the diagnosis' new findings."""
        for report in self.reports:
            report.iteration(metrics)
        self.note(*map(str, self.diagnosis.update(metrics)))

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Report finished games on one board; do nothing if there are none."""
        if records:
            for report in self.reports:
                report.games(env, records)

    def match(self, row: Row) -> None:
        """Report a judge's measurement, a row of evaluations.jsonl."""
        for report in self.reports:
            report.match(row)

    def note(self, *sentences: str) -> None:
        """Report sentences, one after the other."""
        for sentence in sentences:
            for report in self.reports:
                report.note(sentence)


class TensorBoardReport(Report):
    """A report that writes each metric as a TensorBoard curve over games, into `tensorboard` in the run's folder.

    The constructor raises ImportError if tensorboard is not installed.
    """

    def __init__(self) -> None:
        need = "curves for TensorBoard need tensorboard: pip install 'alphago[tensorboard]'"
        optional_import("tensorboard", need)  # torch's own error does not name the package
        self.make_writer: Callable[[str], Any] = optional_import("torch.utils.tensorboard", need).SummaryWriter
        self.writer: Any = None  # a SummaryWriter from `start` on
        self.step = 0  # games so far

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        """Begin to write, with the settings as a table; `progress` is not used."""
        if self.writer is not None:
            self.writer.close()
        self.writer = self.make_writer(str(folder / "tensorboard"))
        rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
        self.writer.add_text("settings", f"| setting | value |\n| --- | --- |\n{rows}")

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Add each number in `metrics` to the curve of that name."""
        self.step = metrics["games"]
        for name, value in metrics.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.writer.add_scalar(name, value, self.step)
        self.writer.flush()

    def match(self, row: Row) -> None:
        """Add each number in `row`, except totals and readouts, to the curve "NAME/OPPONENT"."""
        name = opponent_name(row).replace(":", "-")  # TensorBoard would replace the colon by _
        for key in row.keys() - {"seconds", "processor_seconds", "games", "positions", "readouts"}:
            if (value := number(row, key)) is not None:
                self.writer.add_scalar(f"{key}/{name}", value, row["games"])
        self.writer.flush()

    def note(self, text: str) -> None:
        self.writer.add_text("notes", text, self.step)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.writer.close()


class ConsoleReport(Report, ExitStack):
    """A report that shows a progress bar with the time left, the current activity, rates and losses.

    On a terminal the bar is redrawn twice a second.  As a context manager it closes the bar on exit, so that an error's
    message begins on a new line.
    """

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        """Show the bar, which calls `update` twice a second on a terminal."""
        self.close()  # the bar of an earlier start
        self.folder = folder
        print(f"training in {folder}", file=sys.stderr)
        games = settings["num_games"]
        self.games_so_far = 0
        self.of_games = "" if games is None else f"/{games}"
        self.rates = ""
        self.progress = progress
        bar_format = "training: {percentage:3.0f}%|{bar}| {desc}"
        self.bar = self.enter_context(LiveBar(total=1.0, bar_format=bar_format, update=self.update))

    def update(self) -> None:
        """Set the bar to the run's current progress and activity."""
        now = self.progress()
        parts = [f"{self.games_so_far}{self.of_games} games", *now.texts(), self.rates]
        self.bar.n = now.share
        self.bar.set_description_str(", ".join(filter(None, parts)), refresh=False)

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Show the iteration's speed, losses and slowest work in the bar."""
        self.games_so_far = metrics["games"]
        shown = [text.format(value) for key, text in RATES.items() if (value := number(metrics, key)) is not None]
        if slowest := bottleneck(metrics):
            work, share = slowest
            shown.append(f"bound={work} {share:.0%}")
        self.rates = ", ".join(shown)
        self.update()
        self.bar.update(0)  # redraws the bar where no thread does so twice a second

    def note(self, text: str) -> None:
        tqdm.write(text, file=sys.stderr)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """Close the bar, and print where the network is and how a stopped run goes on."""
        self.games_so_far = metrics["games"]
        self.update()
        self.close()
        how = "stopped" if stopped else "finished"
        print(f"{how} after {metrics['games']} games; the network is in {weights}", file=sys.stderr)
        if stopped:
            print(f"it goes on with: {how_to_continue(self.folder)}", file=sys.stderr)
