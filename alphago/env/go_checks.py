"""What arguments of `GoEnv` and its positions may be."""

from collections.abc import Iterable

import numpy as np

from alphago.env.kernels import go_features as features

MIN_SIZE, MAX_SIZE = 2, 25

Stones = str | Iterable[str | int]


def listed(points: Stones) -> list[str | int]:
    """Points as a list, from text or any collection; ValueError for what is neither."""
    if not isinstance(points, Iterable):
        raise ValueError(f"stones are a text such as 'D4 E5' or a collection of points, got {points!r}")
    return list(points.split() if isinstance(points, str) else points)


def check_board(board: np.ndarray, size: int) -> np.ndarray:
    """Stones as an array [N, N] of 1, -1 and 0; ValueError for another shape or other numbers."""
    stones = np.asarray(board)
    if stones.shape != (size, size) or not np.isin(stones, (-1, 0, 1)).all():
        raise ValueError(f"a board is {[size, size]} points of 1, -1 and 0, got {list(stones.shape)}: {board!r}")
    return stones


def check_planes(planes: int | str) -> tuple[str | None, int]:
    """The named set of planes, None for boards alone, and how many planes; ValueError for anything else."""
    if isinstance(planes, str) and planes in features.SETS:
        return planes, len(features.SETS[planes])
    whole = not isinstance(planes, bool) and isinstance(planes, (int, np.integer))
    if not whole or int(planes) % 2 == 0 or int(planes) < 3:
        raise ValueError(
            f"planes is {', '.join(map(repr, features.SETS))}, or an odd number from 3 (2 per remembered board, 1 for "
            f"the mover), got {planes!r}"
        )
    return None, int(planes)
