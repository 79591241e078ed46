"""A wave's kernels over ranges of games, on several threads: kernels give up Python's lock.

What comes out is what one thread would make, to the last bit: games do not look at each other, and in each the same is
done in the same order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from alphago.mcts.kernels import waves
from alphago.mcts.tree import Rule, Tree

LEAST = 64  # games of a range: fewer take no longer than it takes to wake a thread


class Ranges:
    """Runs `waves.select` and `waves.expand`, on up to `threads` threads, the caller's among them."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def select(
        self,
        tree: Tree,
        budget: np.ndarray,
        rule: Rule,
        gumbel: np.ndarray,
        schedules: np.ndarray,
        schedule_of: np.ndarray,
        *out: np.ndarray,
    ) -> tuple[int, int]:
        """As `waves.select`.  out: its games, leaves, paths, lengths and collisions."""
        bounds = self._bounds(len(budget))
        if len(bounds) == 2:
            return waves.select(tree, budget, rule, gumbel, schedules, schedule_of, *out)
        rooms = [rule.leaves] * 4 + [2 * rule.leaves]  # rows of each output for a game

        def work(begin: int, end: int) -> tuple[int, int]:
            part = Tree(*(array[begin:end] for array in tree))
            own = (array[begin * room : end * room] for array, room in zip(out, rooms, strict=True))
            return waves.select(
                part, budget[begin:end], rule, gumbel[begin:end], schedules, schedule_of[begin:end], *own
            )

        counts = self._run(work, bounds)
        return joined(bounds, counts, rule.leaves, *out)

    def expand(
        self,
        tree: Tree,
        games: np.ndarray,
        leaves: np.ndarray,
        movers: np.ndarray,
        over: np.ndarray,
        values: np.ndarray,
        priors: np.ndarray,
        collisions: np.ndarray,
    ) -> int:
        """As `waves.expand`; rows of one game are side by side."""
        bounds = self._bounds(len(games))
        if len(bounds) == 2:
            return waves.expand(tree, games, leaves, movers, over, values, priors, collisions)
        bounds = [whole_games(games, bound) for bound in bounds]
        # Where in `priors` each range begins: there may be rows for those alone that are not over.
        rows = np.arange(len(games) + 1)
        if len(priors) < len(games):
            rows[1:] = np.cumsum(~over)

        def work(begin: int, end: int) -> int:
            own = (array[begin:end] for array in (games, leaves, movers, over, values))
            return waves.expand(tree, *own, priors[rows[begin] : rows[end]], collisions[:0])

        broken = sum(self._run(work, bounds))
        if len(collisions):  # of any game
            none = (array[:0] for array in (games, leaves, movers, over, values))
            waves.expand(tree, *none, priors[:0], collisions)
        return broken

    def _bounds(self, count: int) -> list[int]:
        """Where ranges of so many games begin, and the end of the last."""
        parts = max(1, min(self.threads, count // LEAST))
        return [count * part // parts for part in range(parts + 1)]

    def _run(self, work: Callable[[int, int], Any], bounds: Sequence[int]) -> list[Any]:
        """What `work` returns for each range; the caller's thread takes the last one."""
        assert self._pool is not None
        *others, last = pairwise(bounds)
        waiting = [self._pool.submit(work, *part) for part in others]
        try:
            own = work(*last)
        finally:
            theirs = [future.result() for future in waiting]
        return [*theirs, own]


def joined(
    bounds: Sequence[int],
    counts: Sequence[tuple[int, int]],
    leaves: int,
    games: np.ndarray,
    nodes: np.ndarray,
    paths: np.ndarray,
    lengths: np.ndarray,
    collisions: np.ndarray,
) -> tuple[int, int]:
    """Moves what ranges of games left in their own rows of `select`'s outputs together; returns how many rows.

    leaves: rows of a game, of which collisions have twice as many.
    """
    rows = collided = 0
    for begin, (found, met) in zip(bounds, counts, strict=False):
        here, there = slice(rows, rows + found), slice(begin * leaves, begin * leaves + found)
        games[here] = games[there] + begin
        if here != there:
            depth = int(lengths[there].max(initial=0))
            nodes[here], lengths[here] = nodes[there], lengths[there]
            paths[here, :depth] = paths[there, :depth]
        first = 2 * leaves * begin
        collisions[collided : collided + met] = collisions[first : first + met] + np.array([begin, 0], np.int32)
        rows, collided = rows + found, collided + met
    return rows, collided


def whole_games(games: np.ndarray, bound: int) -> int:
    """The bound, or the next one at which another game begins."""
    while 0 < bound < len(games) and games[bound] == games[bound - 1]:
        bound += 1
    return bound
