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
LEAST = 64  # fewest games of a range: waking a thread takes as long as searching fewer


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
        # The row of `priors` of each leaf: `priors` may have rows only for games that are not over.
        prior_rows = np.arange(len(values) + 1)
        if len(priors) < len(values):
            prior_rows[1:] = np.cumsum(~reached.over)

        def expand_part(begin: int, end: int, collisions: slice = slice(0)) -> int:
            part = wave.part(slice(begin, end), collisions)
            part_reached = Reached(*(array[begin:end] for array in reached))
            part_priors = priors[prior_rows[begin] : prior_rows[end]]
            return waves.expand(tree, part, part_reached, part_priors, values[begin:end])

        broken = sum(self._run(expand_part, bounds))
        expand_part(0, 0, collisions=slice(None))  # no leaves, but the collisions of all games
        return broken

    def bounds(self, count: int) -> list[int]:
        """Divide `count` games into at most one range per thread; return where each range begins, and `count`."""
        parts = max(1, min(self.threads, count // LEAST))
        return [count * part // parts for part in range(parts + 1)]

    def _run(self, work: Callable[[int, int], Result], bounds: Sequence[int]) -> list[Result]:
        """Return the results of `work(begin, end)` for each range; the calling thread does the last range."""
        *others, last = pairwise(bounds)
        waiting = [self._pool.submit(work, *part) for part in others]
        try:
            own = work(*last)
        finally:
            theirs = [future.result() for future in waiting]
        return [*theirs, own]


def join(wave: Wave, bounds: Sequence[int], counts: Sequence[tuple[int, int]], leaves: int) -> tuple[int, int]:
    """Move together the rows of `wave` that `select` wrote for each range; return the numbers of leaves and collisions.

    bounds: the index of the first game of each range, and the number of games.  counts: (leaves, collisions) of each
        range.
    leaves: rows per game of the arrays in `wave`; `wave.collisions` has 2 * leaves rows per game.
    """
    rows = collided = 0
    for begin, (found, met) in zip(bounds, counts, strict=False):
        to, source = slice(rows, rows + found), slice(begin * leaves, begin * leaves + found)
        if to != source:
            depth = int(wave.length[source].max(initial=0))
            wave.path[to, :depth] = wave.path[source, :depth]
            for array in (wave.game, wave.leaf, wave.length):
                array[to] = array[source]
        first = 2 * leaves * begin
        wave.collisions[collided : collided + met] = wave.collisions[first : first + met]
        rows, collided = rows + found, collided + met
    return rows, collided


def whole_games(games: np.ndarray, bound: int) -> int:
    """Return the first index, from `bound` on, at which the rows of a game begin.

    games: int64, the game of each row; the rows of a game are contiguous.
    """
    while 0 < bound < len(games) and games[bound] == games[bound - 1]:
        bound += 1
    return bound
