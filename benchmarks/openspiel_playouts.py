"""Random games of Go per second beside OpenSpiel's C++ rollouts: every legal move as likely, own eyes too, one core.

OpenSpiel's rollouts run wholly in C++: a search of one simulation is `--rollouts` games from the empty board by its
RandomRolloutEvaluator.  They pass as readily as they play any other legal move, and end after two passes, when a
board comes back, or after 2 N^2 moves.  Ours pass where nothing else is legal, which includes that no board comes
back (positional superko), and end after as many moves as OpenSpiel's have on the mean.  Those are counted first, so
that a game is as long on both sides.  Both are scored by area with komi 7.5.

It wants an environment of its own, since OpenSpiel is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/openspiel_playouts.py

Both sides run in turns in one process on one core; a ratio is the median of the turns, since other work on the machine
changes what both reach.
"""

import argparse
import os
import platform
import random
import sys
from collections.abc import Callable
from importlib.metadata import version
from statistics import fmean, median

import numpy as np
from figures import Figures, add_option, rate

from alphago import GoEnv
from alphago.env.kernels.playouts import playout_batch
from alphago.nn.inference.hardware import processor

try:
    import pyspiel
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

KOMI = 7.5


def mean_length(size: int, games: int) -> float:
    """Moves in a random game of OpenSpiel."""
    chance, lengths = random.Random(1), []
    for _ in range(games):
        state = pyspiel.load_game("go", {"board_size": size, "komi": KOMI}).new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
        lengths.append(state.move_number())
    return fmean(lengths)


def openspiel_rollouts(size: int, rollouts: int) -> Callable[[], int]:
    """What plays so many games in C++ and returns their number."""
    game = pyspiel.load_game("go", {"board_size": size, "komi": KOMI})
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    options = {"max_simulations": 1, "max_memory_mb": 0, "solve": False, "seed": 1, "verbose": False}
    bot, start = pyspiel.MCTSBot(game, evaluator, uct_c=1.0, **options), game.new_initial_state()

    def work() -> int:
        bot.mcts_search(start)
        return rollouts

    return work


def our_playouts(size: int, length: int) -> Callable[[], int]:
    """What plays and scores a batch of games of `length` moves and returns their number."""
    env, count = GoEnv(size, komi=KOMI, max_moves=length), max(1, 16_000 // size**2)
    batch, slots = env.new_batch(count), np.arange(count)
    state, outcomes = np.array([1], np.int64), np.empty(count, np.float32)

    def work() -> int:
        batch.reset(slots)
        playout_batch(batch.rows, slots, state, True)
        batch.outcome(slots, outcomes)
        return count

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[9, 19], help="board sides")
    parser.add_argument("--rollouts", type=int, default=20, help="OpenSpiel's games in one call")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement")
    parser.add_argument("--turns", type=int, default=7, help="how often each side runs")
    parser.add_argument("--games", type=int, default=300, help="games whose moves are counted")
    add_option(parser)
    arguments = parser.parse_args()
    figures = Figures(arguments.json)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print(f"{platform.platform()}, {processor()}, one core; OpenSpiel {version('open_spiel')}, komi {KOMI}")
    print("                 moves a game   alphago, games/s   OpenSpiel, games/s   ratio", flush=True)
    for size in arguments.sizes:
        length = round(mean_length(size, arguments.games))
        ours, theirs = our_playouts(size, length), openspiel_rollouts(size, arguments.rollouts)
        ours()  # compiles
        theirs()
        turns = [(rate(ours, arguments.seconds), rate(theirs, arguments.seconds)) for _ in range(arguments.turns)]
        ratios = [mine / other for mine, other in turns]
        mine, other = (median(side) for side in zip(*turns, strict=True))
        figures.add(f"openspiel-{size}", median(ratios), min(ratios), max(ratios))
        print(
            f"  {f'{size}x{size}':<14} {length:12} {mine:18,.0f} {other:20,.0f} {median(ratios):7.1f}"
            f" (from {min(ratios):.1f} to {max(ratios):.1f})",
            flush=True,
        )
    figures.save()


if __name__ == "__main__":
    main()
