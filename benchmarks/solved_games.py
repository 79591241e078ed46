"""Shared by the benchmarks of solved games: the signs of a network's values on solved positions."""

import argparse
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from figures import Figures

from alphago.arena.match import wilson
from alphago.env.position import Position
from alphago.mcts.analysis import analyze


@numba.njit(cache=True, inline="always")
def bits_of(x: int) -> int:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


def share(right: int, count: int) -> str:
    low, high = wilson(right / max(count, 1), max(count, 1))
    return f"{right} of {count}, {right / max(count, 1):.1%} ({low:.1%} to {high:.1%})"


def judge_values(
    game: str, net: Any, solved: tuple[Sequence[Position], np.ndarray], options: argparse.Namespace, figures: Figures
) -> None:
    """Print how often the signs of values are right.

    game: in the figures' names.  solved: positions, and their outcomes for the player to move, 1, 0 or -1.
    """
    positions, outcomes = solved
    print(f"won {np.mean(outcomes == 1):.0%}, drawn {np.mean(outcomes == 0):.0%}, lost {np.mean(outcomes == -1):.0%}")
    decided = np.flatnonzero(outcomes)
    found = analyze([positions[i] for i in decided], net, readouts=options.readouts)
    for name, values in (("the network's value", found.raw_value), (f"{options.readouts} readouts", found.value)):
        right = int(np.sum(np.sign(values) == outcomes[decided]))
        print(f"sign of {name}: {share(right, len(decided))} of the decided positions")
        figures.add(f"{game}-sign-{'raw' if name.startswith('the') else 'search'}", right / len(decided))
