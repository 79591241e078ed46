"""Sharing out what cannot be cut: games, and positions of a batch."""

from collections.abc import Sequence

import numpy as np


def apportion(whole: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers that are `whole` in all, in proportion to the shares; none is 0 where there is enough for all."""
    least = 1 if whole >= len(shares) else 0
    ends = np.round((whole - least * len(shares)) * np.cumsum(shares) / np.sum(shares)).astype(int)
    return [least + int(count) for count in np.diff(ends, prepend=0)]
