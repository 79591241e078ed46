"""The README's training call: how long it takes, how good its forecast of that is, and what its network has learned.

    python benchmarks/ten_lines.py                                            # a few minutes, then four matches
    ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI python benchmarks/ten_lines.py        # as on a processor without bfloat16

Prints when the run began, the forecast 20 s after the start of the call, when the first games were over, the end, and
the forecast's error; then 100 games each against random moves (policy alone) and the untrained network (64 readouts).
"""

import argparse
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import stamp

from alphago import GoEnv, NeuralNet, evaluate, train
from alphago.training.watch.report import Report

CALL = {"num_games": 100, "ckp_freq": 10, "tower_height": 10, "start_training_after": 500}


class Watch(Report):
    """A report that notes what a person at the progress bar would see, in seconds since it was made."""

    def __init__(self, forecast_at: float) -> None:
        self.began = time.monotonic()
        self.forecast_at = forecast_at
        self.forecast: float | None = None  # of the end
        self.first_games = self.ready = 0.0

    def seconds(self) -> float:
        return time.monotonic() - self.began

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Any]) -> None:
        self.ready = self.seconds()
        print(f"readouts {settings['readouts']}, bfloat16 {settings['bfloat16']}, search {settings['selfplay_dtype']}")

        def ask() -> None:
            while (remaining := progress().remaining) is None:
                time.sleep(0.1)
            self.forecast = self.seconds() + remaining

        self.timer = threading.Timer(max(0.0, self.forecast_at - self.ready), ask)
        self.timer.start()

    def iteration(self, metrics: dict[str, Any]) -> None:
        if metrics["games"] and not self.first_games:
            self.first_games = self.seconds()

    def note(self, text: str) -> None:
        print(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.timer.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--games", type=int, default=CALL["num_games"], help="of self-play (100)")
    parser.add_argument("--matches", type=int, default=100, help="games of each match (100)")
    options = parser.parse_args()
    print(", ".join(map(str, stamp().values())))
    env, watch = GoEnv(options.board_size), Watch(20.0)
    with TemporaryDirectory() as folder:
        net = train(env, folder=Path(folder) / "run", reports=[watch], **{**CALL, "num_games": options.games})
    end = watch.seconds()
    print(f"began after {watch.ready:.0f} s, first games after {watch.first_games:.0f} s, over after {end:.0f} s")
    if watch.forecast is not None:
        print(f"the forecast after 20 s: {watch.forecast:.0f} s, {watch.forecast / end - 1:+.0%}")
    print("policy alone against random moves:", evaluate(env, net, "random", options.matches, 0))
    untrained = NeuralNet(env, tower_height=CALL["tower_height"])
    print("64 readouts against the untrained network:", evaluate(env, net, untrained, options.matches, 64))


if __name__ == "__main__":
    main()
