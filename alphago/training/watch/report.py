"""Who hears of a training run: the loop prints nothing, it tells its reports."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tqdm.auto import tqdm

from alphago.training.watch.time_shares import told


class Report(Protocol):
    """Anything that wants to follow a run.  `metrics` is what a line of metrics.jsonl holds."""

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        """Before the first game, and once more where a run goes on without its GPU."""

    def iteration(self, metrics: dict[str, Any]) -> None:
        """After each round of self-play and training."""

    def note(self, text: str) -> None:
        """Something that happened in between, as a sentence: an examination, a diagnosis."""

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """After the last one; `stopped` by the user before its time."""


class TensorBoardReport:
    """Curves for TensorBoard, in the folder `tensorboard` of the run, over games.

    Raises ImportError with a sentence when it is made where tensorboard is not installed.
    """

    def __init__(self) -> None:
        self.make_writer = tensorboard_writer()
        self.writer: Any = None
        self.games = 0

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = self.make_writer(str(folder / "tensorboard"))
        rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
        self.writer.add_text("settings", f"| setting | value |\n| --- | --- |\n{rows}")

    def iteration(self, metrics: dict[str, Any]) -> None:
        """Every number in the metrics becomes a point of the curve of its name."""
        self.games = metrics["games"]
        for name, value in metrics.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.writer.add_scalar(name, value, self.games)
        self.writer.flush()

    def note(self, text: str) -> None:
        self.writer.add_text("notes", text, self.games)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.writer.close()


def tensorboard_writer() -> Callable[[str], Any]:
    """What makes a writer of TensorBoard's files from a folder's name; ImportError where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError("curves for TensorBoard need tensorboard: pip install 'alphago[tensorboard]'") from None
    make_writer: Callable[[str], Any] = SummaryWriter
    return make_writer


class ConsoleReport:
    """A progress bar with the expected end, rates and losses.  Counts games, or seconds of a timed run."""

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
        shown |= told(metrics)
        if self.bar.n == 0 and metrics["iteration"] > 1:  # a run that goes on: what was done before tells no rate
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
