"""What self-play by Gumbel search gains by keeping evaluations from move to move (`Search.restart`).

The same games twice, on one core: once each move begins with what the last one's search has seen, once with an
empty tree, as `Search.forget` leaves it.  What they find is the same.  Evaluations are counted; moves a second are
told of both in turns, and their ratio in the median.
Prediction: of 16 readouts and the root's own evaluation, the root's is always known, and of the 3 to 5 visits of the
move that was played those whose reply is looked at again: an eighth to a quarter less.
"""

import argparse
import os
import platform
import time
from statistics import median

import numpy as np

from alphago import GoEnv, load_model
from alphago.env.batch import GameBatch
from alphago.env.games import selfplay_game
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import Search
from alphago.nn.inference.hardware import processor
from alphago.nn.threads import one_torch_thread
from alphago.system.settings import make
from alphago.training.group import Group
from alphago.training.recipes import RECIPES
from alphago.training.settings.run_settings import RunSettings
from alphago.training.settings.selfplay_settings import SelfPlaySettings

GAMES = 128  # side by side
BOARDS = (7, 9)
READOUTS = (16, 24)


class Forgetful(Search):
    def restart(self, games: np.ndarray) -> None:
        self.forget(games)


class Counting(Evaluator):
    """An evaluator that counts what it is asked."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.asked = evaluator, 0

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.asked += len(slots)
        self.evaluator.evaluate(batch, slots, priors, values)


def played(
    kind: type[Search], env: GoEnv, settings: SelfPlaySettings, evaluator: Evaluator, plies: int
) -> tuple[float, float]:
    """Evaluations a move, and moves a second."""
    counting = Counting(evaluator)
    group = Group(env, counting, settings, GAMES, seed=0, numbers=range(1_000_000))
    group.search = kind(env, counting, GAMES, settings.search)
    group.use(counting)
    group.step()
    counting.asked, before, start = 0, group.moves, time.perf_counter()
    for _ in range(plies):
        group.step()
    moves = group.moves - before
    return counting.asked / moves, moves / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=40, help="moves of each game in a turn (40)")
    parser.add_argument("--turns", type=int, default=5, help="how often both are measured (5)")
    options = parser.parse_args()
    print(f"{platform.platform()}, {processor()}, one of {os.cpu_count()} cores, {GAMES} games side by side")
    print(f"{'':<22} evaluations a move: kept, empty      moves/s: kept, empty       ratio")
    for size in BOARDS:
        preset = RECIPES[f"{size}x{size}"]
        env = selfplay_game(preset.make_env()).variant()
        evaluator = load_model(f"{size}x{size}", env).evaluator()
        for readouts in READOUTS:
            settings = (
                make(RunSettings, {**preset.settings, "readouts": readouts, "games_in_flight": GAMES})
                .completed("cpu")
                .selfplay
            )
            turns = []
            with one_torch_thread():
                for _ in range(options.turns):
                    turns.append(
                        [played(kind, env, settings, evaluator, options.plies) for kind in (Search, Forgetful)]
                    )
            (kept, _), (empty, _) = turns[0]
            rates = [median(turn[i][1] for turn in turns) for i in (0, 1)]
            ratio = median(mine[1] / other[1] for mine, other in turns)
            told = (
                f"{kept:18.2f} {empty:10.2f} ({kept / empty - 1:+.0%}) {rates[0]:11,.0f} {rates[1]:8,.0f} {ratio:13.2f}"
            )
            print(f"  {f'{size}x{size}, {readouts} readouts':<20} {told}", flush=True)


if __name__ == "__main__":
    main()
