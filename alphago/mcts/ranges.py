"""Run the kernels of a wave on several threads, each with a range of the games; the kernels release the GIL.

The result is bit-identical to that of one thread: games are independent, and each game's steps keep their order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from alphago.env.leaves import Reached
from alphago.mcts.kernels import waves
from alphago.mcts.tree import Tree, Wave

Result = TypeVar("Result")
LEAST = 64  # fewest games of a range: searching fewer games takes no longer than waking a thread


class Ranges:
    """A pool that runs a rule's `select` and `waves.expand` on up to `threads` threads, the caller's included."""

    def __init__(self, select: Callable[..., tuple[int, int]], threads: int) -> None:
        self.threads = threads
        self._select = select
        self._pool = ThreadPoolExecutor(max(1, threads - 1))

    def select(
        self, tree: Tree, budget: np.ndarray, rule: object, wave: Wave, games: tuple[int, int]
    ) -> tuple[int, int]:
        """Choose leaves in all games, and return their number and that of collisions, as `waves.select` does."""
        bounds = self.bounds(len(budget))
        counts = self._run(lambda begin, end: self._select(tree, budget, rule, wave, (begin, end)), bounds)
        return join(wave, bounds, counts, len(wave.game) // len(budget))

    def expand(self, tree: Tree, wave: Wave, reached: Reached, priors: np.ndarray, values: np.ndarray) -> int:
        """Write evaluations into the tree and back them up; return the number of broken ones, as `waves.expand` does.

        The rows of a game must be contiguous in `wave`.
        """
        bounds = self.bounds(len(wave.game))
        if len(bounds) == 2:
            return waves.expand(tree, wave, reached, priors, values)
        bounds = [whole_games(wave.game, bound) for bound in bounds]
        # For each leaf, its row in `priors`, which may have rows only for leaves at which the game is not over.
        prior_rows = np.arange(len(values) + 1)
        if len(priors) < len(values):
            prior_rows[1:] = np.cumsum(~reached.over)

        def expand_part(begin: int, end: int, collisions: slice = slice(0)) -> int:
            part = wave.part(slice(begin, end), collisions)
            part_reached = Reached(*(array[begin:end] for array in reached))
            part_priors = priors[prior_rows[begin] : prior_rows[end]]
            return waves.expand(tree, part, part_reached, part_priors, values[begin:end])

        broken = sum(self._run(expand_part, bounds))
        expand_part(0, 0, collisions=slice(None))  # removes the collisions of all games; there are no leaves left
        return broken

    def bounds(self, count: int) -> list[int]:
        """Divide `count` games into at most one range per thread; return where each range begins, and `count`."""
        parts = max(1, min(self.threads, count // LEAST))
        return [count * part // parts for part in range(parts + 1)]

    def _run(self, work: Callable[[int, int], Result], bounds: Sequence[int]) -> list[Result]:
        """Return the results of `work(begin, end)` for each range; the calling thread does the last range."""
        *pool_ranges, last_range = pairwise(bounds)
        futures = [self._pool.submit(work, *pool_range) for pool_range in pool_ranges]
        try:
            last_result = work(*last_range)
        finally:
            results = [future.result() for future in futures]
        return [*results, last_result]


def join(wave: Wave, bounds: Sequence[int], counts: Sequence[tuple[int, int]], leaves: int) -> tuple[int, int]:
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
