"""Reports of a training run: the training loop itself prints nothing."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from tqdm.auto import tqdm

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.live_bar import LiveBar
from alphago.training.history import Row, number, opponent_name
from alphago.training.watch.diagnosis import Diagnosis
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.metrics import bottleneck

LASTING = 3.0  # seconds after which the bar says how long the run has been doing what it does


class Progress(NamedTuple):
    """How far a run is at one moment.

    share: the share of its time that has passed, 0 .. 1; of its games while the time is unknown.
    remaining: seconds of training that are left; None while unknown.
    activity: what the run does now, such as "playing"; "" between two kinds of work.
    seconds: how long it has been doing that.
    """

    share: float
    remaining: float | None
    activity: str
    seconds: float


class Report:
    """A callback that follows a run; `metrics` is the content of a line of metrics.jsonl.

    A derived class needs only those methods in which it does something.
    """

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        """Begin: called before the first game, and again if a run loses its GPU and continues on the CPU.

        progress: returns how far the run is, at any time and in any thread.
        """

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Report an iteration of self-play and training."""

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Report games of self-play that have ended on a board."""

    def match(self, row: Row) -> None:
        """Report what a judge has measured; `row` is what a line of evaluations.jsonl holds."""

    def note(self, text: str) -> None:
        """Report a sentence about something between iterations, such as a match or a diagnosis."""

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """Report the end, after the last iteration; `stopped`: whether the user ended the run early."""


class Reporter:
    """The distributor of a run's events to its reports; it adds a diagnosis of the metrics.

    settings: the run's, as in its config.
    rows: the metrics of earlier iterations.
    meter: the GPU's; None without a GPU.
    estimate: called with the metrics of each iteration until it returns a sentence, which is reported.
    """

    def __init__(
        self,
        reports: Sequence[Report],
        settings: dict[str, Any] | None = None,
        rows: Sequence[Row] = (),
        meter: GpuMeter | None = None,
        estimate: Callable[[Row], str | None] | None = None,
    ) -> None:
        self.reports = reports
        self.metrics: dict[str, Any] = dict(rows[-1]) if rows else {}
        self.meter = meter
        self.estimate = estimate
        self.diagnosis = Diagnosis(settings or {})
        self.diagnosis.remember(rows)

    def gpu_busy(self) -> float | None:
        """Return the share of the time since the last call in which the GPU was busy; None without a GPU."""
        return None if self.meter is None else self.meter.busy()

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Report an iteration and the new findings of the diagnosis."""
        self.metrics = metrics
        for report in self.reports:
            report.iteration(metrics)
        self.note(*map(str, self.diagnosis.update(metrics)))
        if self.estimate is not None and (sentence := self.estimate(metrics)) is not None:
            self.estimate = None
            self.note(*filter(None, [sentence]))

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Report games that have ended, if there are any."""
        for report in self.reports if records else ():
            report.games(env, records)

    def match(self, row: Row) -> None:
        """Report what a judge has measured."""
        for report in self.reports:
            report.match(row)

    def final_findings(self) -> list[str]:
        """Return the diagnosis of the run's end, as sentences."""
        return list(map(str, self.diagnosis.final()))

    def note(self, *sentences: str) -> None:
        """Report sentences."""
        for sentence in sentences:
            for report in self.reports:
                report.note(sentence)


class TensorBoardReport(Report):
    """Curves for TensorBoard over games, in the run's folder `tensorboard`.

    Making one raises ImportError with a sentence if tensorboard is not installed.
    """

    def __init__(self) -> None:
        self.make_writer = tensorboard_writer()
        self.writer: Any = None
        self.step = 0  # games so far

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = self.make_writer(str(folder / "tensorboard"))
        rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
        self.writer.add_text("settings", f"| setting | value |\n| --- | --- |\n{rows}")

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Add each number of the metrics to the curve with its name."""
        self.step = metrics["games"]
        for name, value in metrics.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.writer.add_scalar(name, value, self.step)
        self.writer.flush()

    def match(self, row: Row) -> None:
        """Add each number of the row to the curve of its name and its opponent's."""
        name = opponent_name(row).replace(":", "-")  # which TensorBoard would replace by _
        for key in row.keys() - {"seconds", "processor_seconds", "games", "positions", "readouts"}:
            if (value := number(row, key)) is not None:
                self.writer.add_scalar(f"{key}/{name}", value, row["games"])
        self.writer.flush()

    def note(self, text: str) -> None:
        self.writer.add_text("notes", text, self.step)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.writer.close()


def tensorboard_writer() -> Callable[[str], Any]:
    """Return the function that makes a TensorBoard writer for a folder; raise ImportError without TensorBoard."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError("curves for TensorBoard need tensorboard: pip install 'alphago[tensorboard]'") from None
    make_writer: Callable[[str], Any] = SummaryWriter
    return make_writer


class ConsoleReport(Report):
    """A progress bar of the run's time, with the time left, what the run is doing, rates and losses.

    On a terminal it moves twice a second.  Used as a context it ends its line, also after an error, so that the error's
    message begins on a new line.
    """

    def __init__(self) -> None:
        self.bar: LiveBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        if self.bar is not None:
            self.bar.close()
        self.folder = folder
        print(f"training in {folder}", file=sys.stderr)
        games = settings["num_games"]
        self.games_so_far, self.of = 0, "" if games is None else f"/{games}"
        self.rates = ""
        self.progress = progress
        bar_format = "training: {percentage:3.0f}%|{bar}| {desc}"
        self.bar = LiveBar(total=1.0, bar_format=bar_format, update=self.update)

    def update(self) -> None:
        """Set what the bar shows to the present state of the run."""
        assert self.bar is not None
        now = self.progress()
        parts = [f"{self.games_so_far}{self.of} games"]
        if now.remaining is not None:
            parts.append(f"{self.bar.format_interval(now.remaining)} left")
        if now.activity:
            lasting = f" for {now.seconds:.0f} s" if now.seconds >= LASTING else ""
            parts.append(now.activity + lasting)
        self.bar.n = now.share
        self.bar.set_description_str(", ".join(filter(None, [*parts, self.rates])), refresh=False)

    def iteration(self, metrics: dict[str, Any]) -> None:
        assert self.bar is not None
        self.games_so_far = metrics["games"]
        shown = {"moves/s": f"{metrics['moves_per_second']:.0f}"}
        if metrics["policy_loss"] is not None:
            shown |= {"policy": f"{metrics['policy_loss']:.2f}", "value": f"{metrics['value_loss']:.2f}"}
        if slowest := bottleneck(metrics):
            shown["bound"] = f"{slowest[0]} {slowest[1]:.0%}"
        if (busy := number(metrics, "gpu_busy")) is not None:
            shown["gpu"] = f"{busy:.0%}"
        self.rates = ", ".join(f"{name}={value}" for name, value in shown.items())
        self.update()
        self.bar.update(0)  # where nothing draws it twice a second

    def note(self, text: str) -> None:
        tqdm.write(text, file=sys.stderr)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        assert self.bar is not None
        self.games_so_far = metrics["games"]
        self.update()
        self.bar.close()
        how = "stopped" if stopped else "finished"
        print(f"{how} after {metrics['games']} games; the network is in {weights}", file=sys.stderr)
        if stopped:
            print(f"it goes on with: alphago train --folder {shlex.quote(str(self.folder))}", file=sys.stderr)
        if not metrics["steps"]:
            print("it was not trained: there were fewer positions than start_training_after", file=sys.stderr)
