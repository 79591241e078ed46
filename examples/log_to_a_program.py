"""Send what a training run reports to another program, as JSON lines on its standard input.

    python examples/log_to_a_program.py --to "tee log.jsonl" --games 100

A program of yours, or a library such as MLflow or Weights & Biases, takes the place of `tee`: call its logging function
where `send` is called here.
"""

import argparse
import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphago import GoEnv, Report, train


class ProgramReport(Report):
    """A report that writes every event of a run to a program; see `Report` for the events that there are."""

    def __init__(self, command: str) -> None:
        self.program = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, text=True)

    def send(self, event: str, **data: Any) -> None:
        """Write an event with its data, by name, as a line of JSON."""
        assert self.program.stdin is not None
        self.program.stdin.write(json.dumps({"event": event, **data}, default=str) + "\n")
        self.program.stdin.flush()

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], object]) -> None:
        self.send("start", folder=str(folder), settings=settings)

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.send("iteration", **metrics)  # losses, speeds, statistics of the games, by name

    def match(self, row: Any) -> None:
        self.send("match", **row)  # win rate against an opponent that the run watches

    def note(self, text: str) -> None:
        self.send("note", text=text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.send("finish", weights=str(weights), stopped=stopped)
        self.program.communicate()  # closes its input and waits for its end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", default="tee log.jsonl", help="the program, with its arguments")
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    train(
        GoEnv(6, komi=4),
        options.games,
        readouts=16,
        tower_height=1,
        watch=["random@0"],
        reports=[ProgramReport(options.to)],
    )


if __name__ == "__main__":
    main()
