"""Run the kernels of a wave on several threads, each with a range of the games.

The threads are numba's own, which run without Python: threads of Python that hand such short work to each other wait
for Python's lock longer than the work takes (docs/experiments/39).  The result is bit-identical to that of one thread:
games are independent, and each game's steps keep their order.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np

from alphago.env.leaves import Reached
from alphago.mcts.kernels import waves
from alphago.mcts.tree import Tree, Wave

LEAST = 32  # fewest games of a range
OPENMP = "numba.np.ufunc.omppool"  # numba's module for threads of OpenMP


class Ranges:
    """Runs a rule's `select` and `waves.expand` on up to `threads` threads, the caller's included.

    threads: the number of ranges; 1 if numba cannot use OpenMP.
    """

    def __init__(self, select: Callable[..., tuple[int, int]], threads: int) -> None:
        self.threads = threads if has_safe_threads() else 1
        self._select: Any = select

    def select(
        self, tree: Tree, budget: np.ndarray, rule: object, wave: Wave, games: tuple[int, int]
    ) -> tuple[int, int]:
        """Choose leaves in all games, and return their number and that of collisions, as `waves.select` does."""
        bounds = self.bounds(len(budget))
        if len(bounds) == 2:  # one range
            leaves, collisions = self._select(tree, budget, rule, wave, games)
            return leaves, collisions
        counts = np.empty((len(bounds) - 1, 2), np.int64)
        with numba_threads(len(counts)):
            self._select.in_ranges(tree, budget, rule, wave, np.array(bounds), counts)
        return join(wave, bounds, counts.tolist(), len(wave.game) // len(budget))

    def expand(self, tree: Tree, wave: Wave, reached: Reached, priors: np.ndarray, values: np.ndarray) -> int:
        """Write evaluations into the tree and back them up; return the number of broken ones, as `waves.expand` does.

        The rows of a game must be contiguous in `wave`.
        """
        bounds = self.bounds(len(wave.game))
        if len(bounds) == 2:  # one range
            return waves.expand(tree, wave, reached, priors, values)
        begins = np.array([whole_games(wave.game, bound) for bound in bounds])
        first_priors = begins[:-1]
        if len(priors) < len(values):  # there are rows only for leaves at which the game is not over
            first_priors = np.concatenate([[0], np.cumsum(~reached.over)])[first_priors]
        broken = np.empty(len(first_priors), np.int64)
        with numba_threads(len(broken)):
            waves.expand_ranges(tree, wave, reached, priors, values, begins, first_priors, broken)
        return int(broken.sum())

    def bounds(self, count: int) -> list[int]:
        """Divide `count` games into at most one range per thread; return where each range begins, and `count`."""
        parts = max(1, min(self.threads, count // LEAST))
        return [count * part // parts for part in range(parts + 1)]


@contextlib.contextmanager
def numba_threads(count: int) -> Iterator[None]:
    """Let numba's parallel kernels use so many threads, at most one a core; afterwards as before."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def has_safe_threads() -> bool:
    """Return whether numba uses OpenMP, so that several threads of Python may begin parallel work at the same time.

    With numba's own pool of threads this would end the process.
    """
    try:
        importlib.import_module(OPENMP)  # fails without libgomp
    except ImportError:
        return False
    return numba.config.THREADING_LAYER != "workqueue"  # what NUMBA_THREADING_LAYER asks for


def join(wave: Wave, bounds: Sequence[int], counts: Sequence[Sequence[int]], leaves: int) -> tuple[int, int]:
    """Close the gaps between the rows of `wave` that `select` wrote for each range of games.

    bounds: the index of the first game of each range, and the number of games.
    counts: for each range, how many leaves and how many collisions `select` wrote.
    leaves: rows per game of the arrays in `wave`; `wave.collisions` has 2 * leaves rows per game.
    Returns the number of all leaves and of all collisions.
    """
    all_leaves = all_collisions = 0
    for first_game, (found, collided) in zip(bounds, counts, strict=False):
        target = slice(all_leaves, all_leaves + found)
        source = slice(first_game * leaves, first_game * leaves + found)
        if target != source:
            depth = int(wave.length[source].max(initial=0))
            wave.path[target, :depth] = wave.path[source, :depth]
            for array in (wave.game, wave.leaf, wave.length):
                array[target] = array[source]
        begin = 2 * leaves * first_game
        wave.collisions[all_collisions : all_collisions + collided] = wave.collisions[begin : begin + collided]
        all_leaves += found
        all_collisions += collided
    return all_leaves, all_collisions


def whole_games(games: np.ndarray, bound: int) -> int:
    """Return the first index, from `bound` on, at which the rows of a game begin.

    games: int64, the game of each row; the rows of a game are contiguous.
    """
    while 0 < bound < len(games) and games[bound] == games[bound - 1]:
        bound += 1
    return bound
