"""A wave's kernels over ranges of games, on several threads: kernels give up Python's lock.

The result equals that of one thread, to the last bit: games are independent, and each one's search takes the same
steps in the same order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from alphago.env.game import Reached
from alphago.mcts.kernels import waves
from alphago.mcts.tree import Tree, Wave

LEAST = 64  # games of a range: fewer take no longer than it takes to wake a thread


class Ranges:
    """A pool that runs a rule's `select` and `waves.expand` on up to `threads` threads, the caller's included."""

    def __init__(self, select: Any, threads: int) -> None:
        self.threads = threads
        self._select = select
        self._pool = ThreadPoolExecutor(max(1, threads - 1))

    def select(self, tree: Tree, budget: np.ndarray, rule: Any, wave: Wave, games: tuple[int, int]) -> tuple[int, int]:
        """Choose leaves in all games, as `waves.select`."""
        bounds = self.bounds(len(budget))
        counts = self._run(lambda begin, end: self._select(tree, budget, rule, wave, (begin, end)), bounds)
        return join(wave, bounds, counts, len(wave.game) // len(budget))

    def expand(self, tree: Tree, wave: Wave, reached: Reached, priors: np.ndarray, values: np.ndarray) -> int:
        """Enter evaluations and back them up, as `waves.expand`; the rows of one game must be side by side."""
        bounds = self.bounds(len(wave.game))
        if len(bounds) == 2:
            return waves.expand(tree, wave, reached, priors, values)
        bounds = [whole_games(wave.game, bound) for bound in bounds]
        # Where in `priors` each range begins: there may be rows for those alone that are not over.
        rows = np.arange(len(values) + 1)
        if len(priors) < len(values):
            rows[1:] = np.cumsum(~reached.over)

        def work(begin: int, end: int, collisions: slice = slice(0)) -> int:
            own = Reached(*(array[begin:end] for array in reached))
            part = wave.part(slice(begin, end), collisions)
            return waves.expand(tree, part, own, priors[rows[begin] : rows[end]], values[begin:end])

        broken = sum(self._run(work, bounds))
        work(0, 0, slice(None))  # the collisions, of any game
        return broken

    def bounds(self, count: int) -> list[int]:
        """Return where each range of `count` games begins, and where the last one ends."""
        parts = max(1, min(self.threads, count // LEAST))
        return [count * part // parts for part in range(parts + 1)]

    def _run(self, work: Callable[[int, int], Any], bounds: Sequence[int]) -> list[Any]:
        """Return the results of `work` for each range; the caller's thread takes the last one."""
        *others, last = pairwise(bounds)
        waiting = [self._pool.submit(work, *part) for part in others]
        try:
            own = work(*last)
        finally:
            theirs = [future.result() for future in waiting]
        return [*theirs, own]


def join(wave: Wave, bounds: Sequence[int], counts: Sequence[tuple[int, int]], leaves: int) -> tuple[int, int]:
    """Close the gaps between what `select` wrote for each range of games; return the number of leaves and collisions.

    leaves: rows of a game, of which collisions have twice as many.
    """
    rows = collided = 0
    for begin, (found, met) in zip(bounds, counts, strict=False):
        here, there = slice(rows, rows + found), slice(begin * leaves, begin * leaves + found)
        if here != there:
            depth = int(wave.length[there].max(initial=0))
            wave.path[here, :depth] = wave.path[there, :depth]
            for array in (wave.game, wave.leaf, wave.length):
                array[here] = array[there]
        first = 2 * leaves * begin
        wave.collisions[collided : collided + met] = wave.collisions[first : first + met]
        rows, collided = rows + found, collided + met
    return rows, collided


def whole_games(games: np.ndarray, bound: int) -> int:
    """Return the bound, or the next one at which another game begins."""
    while 0 < bound < len(games) and games[bound] == games[bound - 1]:
        bound += 1
    return bound
