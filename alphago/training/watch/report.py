"""Reports of a training run: the loop prints nothing, it reports."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.training.history import Row, number
from alphago.training.watch.diagnosis import Diagnosis
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.metrics import bottleneck


class Report:
    """A callback that follows a run.  `metrics` is what a line of metrics.jsonl holds.

    A class derived from it needs the methods only for which it does something.
    """

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        """Begin, before the first game, and once more where a run goes on without its GPU."""

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Report an iteration of self-play and training."""

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Report games of self-play on a board that have ended."""

    def note(self, text: str) -> None:
        """Report a sentence about something that happened in between: a match, a diagnosis."""

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """Report the end, after the last iteration; `stopped`: whether the user ended the run before its time."""


class Reporter:
    """A distributor of a run's events to its reports, with a diagnosis of the metrics.

    Args:
        settings: the run's, as in its config.
        rows: the metrics of earlier iterations.
        meter: the GPU's; None without one.
        estimate: called with the metrics until it returns a sentence, which is reported.
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
        """Return the share of the time since the last call that the GPU was busy; None without one."""
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

    def final_findings(self) -> list[str]:
        """Return what the diagnosis has to say of the run's end."""
        return list(map(str, self.diagnosis.final()))

    def note(self, *sentences: str) -> None:
        """Report these sentences."""
        for sentence in sentences:
            for report in self.reports:
                report.note(sentence)


class TensorBoardReport(Report):
    """Curves for TensorBoard, in the folder `tensorboard` of the run, over games.

    Raises ImportError with a sentence when it is made without tensorboard installed.
    """

    def __init__(self) -> None:
        self.make_writer = tensorboard_writer()
        self.writer: Any = None
        self.step = 0  # games so far

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = self.make_writer(str(folder / "tensorboard"))
        rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
        self.writer.add_text("settings", f"| setting | value |\n| --- | --- |\n{rows}")

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Add each number of the metrics to the curve of its name."""
        self.step = metrics["games"]
        for name, value in metrics.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.writer.add_scalar(name, value, self.step)
        self.writer.flush()

    def note(self, text: str) -> None:
        self.writer.add_text("notes", text, self.step)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.writer.close()


def tensorboard_writer() -> Callable[[str], Any]:
    """Return what makes a TensorBoard writer from a folder's name; raise ImportError without TensorBoard."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError("curves for TensorBoard need tensorboard: pip install 'alphago[tensorboard]'") from None
    make_writer: Callable[[str], Any] = SummaryWriter
    return make_writer


class ConsoleReport(Report):
    """A progress bar with the expected end, rates and losses, in games, or in seconds of a timed run."""

    def __init__(self) -> None:
        self.bar: tqdm | None = None

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        if self.bar is not None:
            self.bar.close()
        minutes = settings["max_minutes"]
        self.timed = minutes is not None
        print(f"training in {folder}", file=sys.stderr)
        if self.timed:
            clock = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} s{postfix}"
            self.bar = tqdm(total=minutes * 60, desc="training", bar_format=clock, dynamic_ncols=True)
        else:
            self.bar = tqdm(total=settings["num_games"], unit="game", desc="training", dynamic_ncols=True)

    def iteration(self, metrics: dict[str, Any]) -> None:
        assert self.bar is not None
        done = min(metrics["seconds"], self.bar.total) if self.timed else metrics["games"]
        shown = {} if not self.timed else {"games": metrics["games"]}
        shown["moves/s"] = f"{metrics['moves_per_second']:.0f}"
        if metrics["policy_loss"] is not None:
            shown |= {"policy": f"{metrics['policy_loss']:.2f}", "value": f"{metrics['value_loss']:.2f}"}
        if slowest := bottleneck(metrics):
            shown["bound"] = f"{slowest[0]} {slowest[1]:.0%}"
        if (busy := number(metrics, "gpu_busy")) is not None:
            shown["gpu"] = f"{busy:.0%}"
        if self.bar.n == 0 and metrics["iteration"] > 1:  # a resumed run: earlier games give no rate
            self.bar.initial = self.bar.n = done
        self.bar.set_postfix(shown, refresh=False)
        self.bar.update(done - self.bar.n)

    def note(self, text: str) -> None:
        tqdm.write(text, file=sys.stderr)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        assert self.bar is not None
        self.bar.close()
        how = "stopped" if stopped else "finished"
        print(f"{how} after {metrics['games']} games; the network is in {weights}", file=sys.stderr)
        if not metrics["steps"]:
            print("it was not trained: there were fewer positions than start_training_after", file=sys.stderr)
