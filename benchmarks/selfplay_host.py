"""What self-play costs beside its network: microseconds a move by kind of work, and the games per second they allow.

An evaluator that answers at once stands for a network on a GPU, so that all time is the host's: Python around the
searches ("games"), which all groups of games do under one lock; trees, which groups and cores do side by side; and
boards, which a GPU takes over.  A GPU is busy only as far as games and trees let it be.

    python benchmarks/selfplay_host.py --games 1024 --readouts 16
"""

import argparse
import time
from statistics import median
from typing import Any

import numpy as np
from figures import stamp

from alphago import GoEnv
from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.nn.threads import Workers
from alphago.system.stopwatch import Stopwatch
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings


class AtOnce:
    """The same priors for every position, from a table of random numbers, and no side ahead."""

    device = "cpu"

    def __init__(self, env: GameEnv, count: int) -> None:
        self.env = env
        self.table = np.random.default_rng(1).random((count, env.action_space), np.float32) + 0.01

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write priors and values; illegal actions get none, for which the boards are asked."""
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        np.multiply(self.table[: len(slots)], mask, out=priors)
        priors /= priors.sum(axis=1, keepdims=True)
        values[:] = 0


def spent(env: GameEnv, options: argparse.Namespace, workers: Workers) -> dict[str, float]:
    """Microseconds of a processor a move by kind of work, the medians of the turns."""
    settings = SelfPlaySettings(
        readouts=options.readouts, games_in_flight=options.games, groups=1, opening_plies=0, resign_threshold=-1.0
    ).completed(options.games, 1)
    games = SelfPlay(env, settings, range(10**9), workers, seed=1)
    evaluator: Any = AtOnce(env, options.games)
    games.evaluator = evaluator
    for group in games.groups:
        group.stopwatch = Stopwatch(time.thread_time)  # of the processor: other programs do not count
    turns: list[dict[str, float]] = []
    for turn in range(options.turns + 1):
        before = games.moves
        games.begin(options.plies)
        games.go_on()
        games.take()
        seconds = games.time_spent()
        if turn:  # the first one compiles
            turns.append({kind: 1e6 * used / (games.moves - before) for kind, used in seconds.items()})
    kinds = sorted({kind for turn in turns for kind in turn})
    return {kind: median(turn.get(kind, 0.0) for turn in turns) for kind in kinds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=9, help="of the board (9)")
    parser.add_argument("--games", type=int, default=1024, help="side by side in one group (1024)")
    parser.add_argument("--readouts", type=int, default=16, help="simulations a move (16)")
    parser.add_argument("--plies", type=int, default=24, help="moves in every game in a turn (24)")
    parser.add_argument("--turns", type=int, default=5, help="of which the median counts (5)")
    options = parser.parse_args()
    print(", ".join(map(str, stamp().values())))
    env = GoEnv(options.size)
    with Workers(1) as workers:
        kinds = spent(env, options, workers)
    for kind, microseconds in sorted(kinds.items(), key=lambda pair: -pair[1]):
        print(f"{kind:10} {microseconds:8.2f} us a move")
    plies, python, trees = selfplay_game(env).usual_length, kinds["games"], kinds["tree"]
    print(f"games of {plies:.0f} plies: Python alone allows {1e6 / (python * plies):,.0f} games/s,")
    print(f"trees {1e6 / (trees * plies):,.0f} games/s for each core that works on them")


if __name__ == "__main__":
    main()
