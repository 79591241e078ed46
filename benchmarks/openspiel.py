"""Random games per second beside OpenSpiel's C++ rollouts, on one core: Go 9x9 and 19x19, Oware, Reversi.

OpenSpiel's rollouts run wholly in C++: a search of one simulation is so many games from the start by its
RandomRolloutEvaluator.  Ours run in one compiled call.  Both sides run in turns in one process on one core; a ratio is
the median of the turns, since other work on the machine changes what both reach.

- Go: every legal move is as likely, own eyes too, with komi 7.5.  OpenSpiel's games pass as readily as they play any
  other legal move, and end after two passes, when a board comes back, or after 2 N^2 moves.  Ours pass where nothing
  else is legal, which includes that no board comes back (positional superko), and end after as many moves as
  OpenSpiel's have on the mean.  Those are counted first, so that a game is as long on both sides.
- Oware and Reversi: the rules are the same, and `--plies` compares the numbers of games of 1, 2, … plies.  Oware's
  games end after 1 000 moves, as OpenSpiel's do, which no random game reaches.  OpenSpiel does not have CGZero's rules
  of Oware, which differ in how games end only: their counts are compared with OpenSpiel's too, since no game ends
  within so few plies.

It wants an environment of its own, since OpenSpiel is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/openspiel.py
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
from row_playouts import PLAYOUTS

from alphago import GameEnv, GoEnv, OwareEnv, ReversiEnv
from alphago.env.kernels.playouts import playout_batch
from alphago.nn.inference.hardware import processor

try:
    import pyspiel
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

KOMI = 7.5
GO = {"9": 9, "19": 19}
OTHERS: dict[str, tuple[str, GameEnv]] = {"oware": ("oware", OwareEnv(1000)), "reversi": ("othello", ReversiEnv())}
CGZERO = OwareEnv(rules="cgzero")  # the same counts as Oware's are expected
BATCH = 64  # our games of Oware or Reversi in one call


def theirs(game: pyspiel.Game, rollouts: int) -> Callable[[], int]:
    """Return what plays so many games in C++ and returns their number."""
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    options = {"max_simulations": 1, "max_memory_mb": 0, "solve": False, "seed": 1, "verbose": False}
    bot, start = pyspiel.MCTSBot(game, evaluator, uct_c=1.0, **options), game.new_initial_state()

    def work() -> int:
        bot.mcts_search(start)
        return rollouts

    return work


def ours(env: GameEnv, count: int) -> Callable[[], int]:
    """Return what plays and scores a batch of random games and returns their number."""
    batch, slots, state = env.new_batch(count), np.arange(count), np.array([1], np.int64)
    mask, outcomes = np.zeros(env.action_space, np.bool_), np.empty(count, np.float32)

    def work() -> int:
        batch.reset(slots)
        if env.name == "go":
            playout_batch(batch.rows, slots, state, True)
        else:
            PLAYOUTS[env.name](batch.rows, slots, mask, state)
        batch.outcome(slots, outcomes)
        return count

    return work


def mean_length(game: pyspiel.Game, games: int) -> float:
    """Return the mean number of moves of OpenSpiel's random games."""
    chance, lengths = random.Random(1), []
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
        lengths.append(state.move_number())
    return fmean(lengths)


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


def count_theirs(game: pyspiel.Game, plies: int) -> list[int]:
    states, counts = [game.new_initial_state()], []
    for _ in range(plies):
        states = [one.child(action) for one in states if not one.is_terminal() for action in one.legal_actions()]
        counts.append(len(states))
    return counts


def compare_rules(name: str, game: pyspiel.Game, env: GameEnv, plies: int) -> None:
    """Print the numbers of games by plies; SystemExit where they differ."""
    expected = count_theirs(game, plies)
    for other in (env, CGZERO) if name == "oware" else (env,):
        if (counts := count_ours(other, plies)) != expected:
            sys.exit(f"{name}: games by plies differ, those of {other} are {counts}, OpenSpiel's {expected}")
    print(f"  {name}: games of 1 to {plies} plies, the same on both sides: {expected}")


def main() -> None:
    names = [*GO, *OTHERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=names, default=names, help="which to measure; Go by its size")
    parser.add_argument("--plies", type=int, default=7, help="up to which games are counted (7)")
    parser.add_argument("--lengths", type=int, default=300, help="games of Go whose moves are counted (300)")
    parser.add_argument("--rollouts", type=int, default=20, help="OpenSpiel's games in one call (20)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement (1)")
    parser.add_argument("--turns", type=int, default=7, help="how often each side runs (7)")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print(f"{platform.platform()}, {processor()}, one core; OpenSpiel {version('open_spiel')}")
    for name in options.games:
        if name in GO:
            game = pyspiel.load_game("go", {"board_size": GO[name], "komi": KOMI})
            env: GameEnv = GoEnv(GO[name], komi=KOMI, max_moves=round(mean_length(game, options.lengths)))
            sides = ours(env, max(1, 16_000 // env.N**2)), theirs(game, options.rollouts)
        else:
            game, env = pyspiel.load_game(OTHERS[name][0]), OTHERS[name][1]
            compare_rules(name, game, env, options.plies)
            sides = ours(env, BATCH), theirs(game, options.rollouts)
        for side in sides:
            side()  # ours compiles
        turns = [tuple(rate(side, options.seconds) for side in sides) for _ in range(options.turns)]
        mine, other = (median(side) for side in zip(*turns, strict=True))
        ratios = [one / two for one, two in turns]
        figures.add(f"openspiel-{name}", median(ratios), min(ratios), max(ratios))
        told = f"{median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})"
        print(f"  {name}: {mine:,.0f} games/s, OpenSpiel {other:,.0f}: {told}", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
