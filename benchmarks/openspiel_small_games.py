"""Random games of Oware and Reversi beside OpenSpiel's C++ rollouts, on one core, and both counts of games by plies.

OpenSpiel's rollouts run wholly in C++: a search of one simulation is `--rollouts` games from the start by its
RandomRolloutEvaluator.  Ours run in one compiled call.  The rules are the same: Oware's games end after 1 000 moves, as
OpenSpiel's do, which no random game reaches; `--plies` compares the numbers of games of 1, 2, … plies.  OpenSpiel does
not have CGZero's rules of Oware, which differ in how games end only: their counts are compared with OpenSpiel's too,
since no game ends within so few plies.

It wants an environment of its own, since OpenSpiel is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/openspiel_small_games.py

Both sides run in turns in one process on one core; a ratio is the median of the turns.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from statistics import median

import numpy as np
from figures import Figures, add_option, rate

from alphago import GameEnv, OwareEnv, ReversiEnv
from alphago.env.kernels.row_playouts import PLAYOUTS
from alphago.nn.inference.hardware import processor

try:
    import pyspiel
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

GAMES: dict[str, tuple[str, GameEnv]] = {"oware": ("oware", OwareEnv(1000)), "reversi": ("othello", ReversiEnv())}
LIKE: dict[str, tuple[GameEnv, str]] = {  # the same counts are expected of these, which OpenSpiel does not have
    "oware": (OwareEnv(rules="cgzero"), "CGZero's rules, which OpenSpiel does not have, give the same numbers")
}
BATCH = 64  # our games in one call


def openspiel_rollouts(name: str, rollouts: int) -> Callable[[], int]:
    """Return what plays so many games in C++ and returns their number."""
    game = pyspiel.load_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    options = {"max_simulations": 1, "max_memory_mb": 0, "solve": False, "seed": 1, "verbose": False}
    bot, start = pyspiel.MCTSBot(game, evaluator, uct_c=1.0, **options), game.new_initial_state()

    def work() -> int:
        bot.mcts_search(start)
        return rollouts

    return work


def our_playouts(env: GameEnv) -> tuple[Callable[[], int], list[int]]:
    """Return what plays a batch of games and returns their number, and a list that gets the moves of each call."""
    batch, slots = env.new_batch(BATCH), np.arange(BATCH)
    mask, state, moves = np.zeros(env.action_space, np.bool_), np.array([1], np.int64), []
    outcomes = np.empty(BATCH, np.float32)

    def work() -> int:
        batch.reset(slots)
        moves.append(PLAYOUTS[env.name](batch.rows, slots, mask, state))
        batch.outcome(slots, outcomes)
        return BATCH

    return work, moves


def count_ours(env: GameEnv, plies: int) -> list[int]:
    """Return the numbers of games of 1, 2, … plies."""
    batch, counts = env.new_batch(1), []
    for _ in range(plies):
        slots = np.arange(batch.count)
        parents, actions = np.nonzero(batch.legal_mask(slots, np.empty((batch.count, env.action_space), np.bool_)))
        counts.append(len(parents))
        after = env.new_batch(len(parents))
        after.copy(parents, np.arange(len(parents)), of=batch)
        after.play(np.arange(len(parents)), actions.astype(np.int32))
        batch = after
    return counts


def count_theirs(name: str, plies: int) -> list[int]:
    states, counts = [pyspiel.load_game(name).new_initial_state()], []
    for _ in range(plies):
        states = [
            state.child(action) for state in states if not state.is_terminal() for action in state.legal_actions()
        ]
        counts.append(len(states))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=tuple(GAMES), default=list(GAMES), help="which to measure")
    parser.add_argument("--plies", type=int, default=7, help="up to which games are counted (7)")
    parser.add_argument("--rollouts", type=int, default=50, help="OpenSpiel's games in one call")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement")
    parser.add_argument("--turns", type=int, default=7, help="how often each side runs")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print(f"{platform.platform()}, {processor()}, one core; OpenSpiel {version('open_spiel')}")
    for name in options.games:
        theirs_name, env = GAMES[name]
        counts = count_ours(env, options.plies), count_theirs(theirs_name, options.plies)
        if counts[0] != counts[1]:
            sys.exit(f"{name}: games by plies differ, ours are {counts[0]}, OpenSpiel's {counts[1]}")
        print(f"  {name}: games of 1 to {options.plies} plies, the same on both sides: {counts[0]}")
        if name in LIKE:
            like, text = LIKE[name]
            if (others := count_ours(like, options.plies)) != counts[0]:
                sys.exit(f"{name}: games by plies differ, {like} has {others}, OpenSpiel's Oware {counts[1]}")
            print(f"  {name}: {text}")
        (ours, moves), theirs = our_playouts(env), openspiel_rollouts(theirs_name, options.rollouts)
        ours()  # compiles
        theirs()
        turns = [(rate(ours, options.seconds), rate(theirs, options.seconds)) for _ in range(options.turns)]
        ratios = [mine / other for mine, other in turns]
        mine, other = (median(side) for side in zip(*turns, strict=True))
        figures.add(f"openspiel-{name}", median(ratios), min(ratios), max(ratios))
        print(
            f"  {name}: {sum(moves) / len(moves) / BATCH:.0f} moves a game; {mine:,.0f} games/s,"
            f" OpenSpiel {other:,.0f}: {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})",
            flush=True,
        )
    figures.save()


if __name__ == "__main__":
    main()
