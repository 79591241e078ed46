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
import sys
from collections.abc import Callable

import numpy as np
from figures import Figures
from openspiel import add_figure, add_options, in_turns, openspiel_rollouts, pyspiel, take_one_core

from alphago import GameEnv, OwareEnv, ReversiEnv
from alphago.env.kernels.row_playouts import PLAYOUTS

GAMES: dict[str, tuple[str, GameEnv]] = {"oware": ("oware", OwareEnv(1000)), "reversi": ("othello", ReversiEnv())}
LIKE: dict[str, tuple[GameEnv, str]] = {  # the same counts are expected of these, which OpenSpiel does not have
    "oware": (OwareEnv(rules="cgzero"), "CGZero's rules, which OpenSpiel does not have, give the same numbers")
}
BATCH = 64  # our games in one call


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
    add_options(parser, 50)
    options = parser.parse_args()
    figures = Figures(options.json)
    print(take_one_core())
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
        (ours, moves), theirs = our_playouts(env), openspiel_rollouts(pyspiel.load_game(theirs_name), options.rollouts)
        mine, other, ratios = in_turns(ours, theirs, options)
        print(
            f"  {name}: {sum(moves) / len(moves) / BATCH:.0f} moves a game; {mine:,.0f} games/s,"
            f" OpenSpiel {other:,.0f}: {add_figure(figures, name, ratios)}",
            flush=True,
        )
    figures.save()


if __name__ == "__main__":
    main()
