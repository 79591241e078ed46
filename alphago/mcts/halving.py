"""Sequential halving: which of the root's candidates a Gumbel search follows next, as tables."""

import functools
import math

import numpy as np


@functools.cache
def halving_schedules(considered: int, readouts: int) -> np.ndarray:
    """Sequential halving for 0 to `considered` candidates, int32 [considered + 1, readouts].

    Entry [k, i] is the number of visits that a candidate must have had to be followed in simulation i,
    where there are k candidates.  Phases of equal length in simulations: all are visited equally
    often, then the better half of them, and so on down to two (Danihelka et al. 2022, section 3;
    Karnin et al. 2013).
    """
    table = np.zeros((considered + 1, readouts), np.int32)
    for candidates in range(1, considered + 1):
        phases = max(1, math.ceil(math.log2(candidates)))
        schedule: list[int] = []
        visits, left = 0, candidates
        while len(schedule) < readouts:
            for _ in range(max(1, readouts // (phases * left))):
                schedule += [visits] * left
                visits += 1
            left = max(min(2, candidates), left // 2)
        table[candidates] = schedule[:readouts]
    return table


@functools.cache
def stacked_schedules(considered: int, budgets: tuple[int, ...]) -> np.ndarray:
    """The schedules of several budgets, int32 [budgets, considered + 1, greatest budget]."""
    stacked = np.zeros((len(budgets), considered + 1, max(budgets, default=1)), np.int32)
    for table, readouts in zip(stacked, budgets, strict=True):
        few = min(considered, readouts)
        table[: few + 1, :readouts] = halving_schedules(few, readouts)
        table[:, readouts:] = table.shape[1]  # nobody has so many visits: the least visited is next
    return stacked
