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
import random
from collections.abc import Callable
from statistics import fmean

import numpy as np
from figures import Figures
from openspiel import add_figure, add_options, in_turns, openspiel_rollouts, pyspiel, take_one_core

from alphago import GoEnv
from alphago.env.kernels.playouts import playout_batch

KOMI = 7.5


def go_of(size: int) -> pyspiel.Game:
    return pyspiel.load_game("go", {"board_size": size, "komi": KOMI})


def mean_length(size: int, games: int) -> float:
    """Moves in a random game of OpenSpiel."""
    chance, lengths = random.Random(1), []
    for _ in range(games):
        state = go_of(size).new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
        lengths.append(state.move_number())
    return fmean(lengths)


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
    add_options(parser, 20)
    parser.add_argument("--games", type=int, default=300, help="games whose moves are counted")
    arguments = parser.parse_args()
    figures = Figures(arguments.json)
    print(f"{take_one_core()}, komi {KOMI}")
    print("                 moves a game   alphago, games/s   OpenSpiel, games/s   ratio", flush=True)
    for size in arguments.sizes:
        length = round(mean_length(size, arguments.games))
        theirs = openspiel_rollouts(go_of(size), arguments.rollouts)
        mine, other, ratios = in_turns(our_playouts(size, length), theirs, arguments)
        ratio = add_figure(figures, f"{size}", ratios)
        print(f"  {f'{size}x{size}':<14} {length:12} {mine:18,.0f} {other:20,.0f}     {ratio}", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
