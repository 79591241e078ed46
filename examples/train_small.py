"""Training with a custom report: a table of how 6x6 is learned, in a minute or two.

A report derives from Report, and has a method for each kind of event that it reports; the loop itself prints nothing.
All metrics of an iteration are a line of metrics.jsonl in the run's folder.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphago import GoEnv, train
from alphago.training.watch.report import Report

COLUMNS = ("games", "positions", "policy_loss", "value_loss", "top_move_agreement")


class TableReport(Report):
    """Prints a line every so many games, and the run's notes in between."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.next_at = 0

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], object]) -> None:
        print(f"{settings['num_games']} games, {settings['readouts']} readouts a move, in {folder}")
        print("  ".join(f"{name:>18}" for name in COLUMNS))

    def iteration(self, metrics: dict[str, Any]) -> None:
        if metrics["games"] >= self.next_at:
            self.next_at = metrics["games"] + self.every
            values = [metrics[name] for name in COLUMNS]  # None before there was a gradient step
            print("  ".join(f"{'-' if value is None else format(value, '.4g'):>18}" for value in values))

    def note(self, text: str) -> None:
        print(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        print(f"{'stopped' if stopped else 'finished'} after {metrics['games']} games: {weights}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a small network on 6x6 and prints a table.")
    parser.add_argument("--games", type=int, default=600, help="games of self-play (600)")
    parser.add_argument("--readouts", type=int, default=32, help="simulations a move (32)")
    arguments = parser.parse_args()
    report = TableReport(every=max(1, arguments.games // 20))
    train(
        GoEnv(6, komi=4),
        arguments.games,
        tower_height=2,
        channels=32,
        readouts=arguments.readouts,
        start_training_after=500,
        ckp_freq=max(1, arguments.games // 5),
        reports=[report],
    )


if __name__ == "__main__":
    main()
