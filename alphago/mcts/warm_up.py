"""Compile the search's kernels in a second process, while this one compiles the game's.

Kernels are compiled at their first call and then kept on disk.  Numba compiles one after the other, also for several
threads.  So if the search's kernels are not on disk, a command that is about to play starts a second process,
`python -m alphago.mcts.warm_up`, to compile them, and later loads them from disk.  A kernel that both processes need at
the same time is compiled by one of them (`alphago.system.kernels.cache`).
"""

import atexit
import gc
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from alphago.env.games import GAMES, make_game
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.search import Search
from alphago.mcts.search_specs import PLAYER_RULE, SEARCHES, SELF_PLAY_RULE
from alphago.system.children import exit_when_input_ends, start_child
from alphago.system.cores import available_cores


@cache
def warm_up(game: str = "") -> "subprocess.Popen[bytes] | None":
    """Start the process that compiles the search's kernels, at most once, and return it.

    The process ends at the latest when this process ends; the kernels compiled so far stay cached.

    Args:
        game: the packaged game of a command that is about to play a move.  Then the kernels of this game's planes are
            compiled first, and next those of a player and an analysis.  "" for self-play, whose rule's kernels are then
            compiled first.

    Returns:
        None if the kernels are already compiled, if numba is switched off, or if there is only one core.
    """
    if numba.config.DISABLE_JIT or available_cores() < 2:
        return None
    if all(is_compiled(kind().new_rule(games=0, actions=0).select) for kind in SEARCHES.values()):
        return None
    try:
        process = start_child("-m", "alphago.mcts.warm_up", game, stderr=subprocess.DEVNULL)
    except OSError:  # no second process: this one compiles the kernels itself
        return None
    # At exit the function registered last is called first: the process is killed, then waited for.
    atexit.register(process.__exit__, None, None, None)  # closes the pipe, and waits for the process
    atexit.register(process.kill)  # does nothing if the process has ended
    return process


def is_compiled(kernel: Any) -> bool:
    """Return whether the compiled kernel is cached on disk."""
    module = kernel.__module__.rpartition(".")[2]
    return any(Path(kernel.stats.cache_path).glob(f"{module}.{kernel.py_func.__name__}-*.kernel"))


class PlainGame(TicTacToeEnv):
    """A game without kernels of its own, for which the search calls all of its kernels, that of decisive moves too."""

    has_decisive_moves = True


def compile_tree() -> None:
    """Run every rule's search as self-play does, so that the kernels of its trees are compiled."""
    # The rule of self-play comes first: a run that starts meanwhile needs its kernels.
    for rule in sorted(SEARCHES, key=lambda rule: rule != SELF_PLAY_RULE):  # False is first
        search, games, generators = run_search(rule), np.arange(1), [np.random.default_rng(0)]
        search.begin_move(games)
        search.add_noise(games, generators)
        search.selfplay_moves(games, np.ones(1, np.bool_), generators)
        search.advance(games, np.zeros(1, np.int32))


def run_search(rule: str) -> Search:
    """Run a few simulations of a rule, which call the kernels that every search needs; return the search of a game."""
    search, games = Search(PlainGame(), UniformEvaluator(), 1, SEARCHES[rule]()), np.arange(1)
    search.forget(games)
    search.run(np.full(1, 4, np.int32))
    search.priors(games)
    return search


def compile_planes(game: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the legal moves and the planes of a packaged game's start, so that their kernels are compiled."""
    position = make_game(game).position()
    return position.legal_mask, position.planes()


def compile_player(analysis: bool = True) -> None:
    """Run a player's search, so that its kernels are compiled.

    Args:
        analysis: whether to read the search's analysis too, and to play a move.
    """
    from alphago.mcts.tree_reading import read_analysis  # only here: self-play does not need it

    search, games = run_search(PLAYER_RULE), np.arange(1)
    if analysis:
        read_analysis(search, games)
        search.advance(games, np.zeros(1, np.int32))


if __name__ == "__main__":
    exit_when_input_ends()
    gc.disable()  # collecting the compiler's garbage would take an eighth of the time
    if len(sys.argv) > 1 and sys.argv[1] in GAMES:
        compile_planes(sys.argv[1])
        compile_player()
    compile_tree()
