"""Who hears of a training run: the loop prints nothing, it tells its reports."""

import sys
from pathlib import Path
from typing import Any, Protocol

from tqdm.auto import tqdm


class Report(Protocol):
    """Anything that wants to follow a run.  `metrics` is what a line of metrics.jsonl holds."""

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        """Before the first game."""

    def iteration(self, metrics: dict[str, Any]) -> None:
        """After each round of self-play and training."""

    def note(self, text: str) -> None:
        """Something that happened in between, as a sentence: an examination, a diagnosis."""

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """After the last one; `stopped` by the user before its time."""


class ConsoleReport:
    """A progress bar with the expected end, rates and losses.  Counts games, or seconds of a timed run."""

    def __init__(self) -> None:
        self.bar: tqdm | None = None

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
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
