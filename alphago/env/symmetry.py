"""The symmetries of a board, as index arrays for planes and actions."""

from typing import NamedTuple

import numpy as np


class Symmetries(NamedTuple):
    """The S symmetries (rotations and reflections) of a game; the first is the identity.

    `points[s]` transforms an array with one value per point: after = before[..., points[s]].
    `actions[s]` transforms an array with one value per action: after = before[..., actions[s]].
    """

    points: np.ndarray  # int64 [S, H * W]
    actions: np.ndarray  # int64 [S, action_space]


def identity(plane_points: int, action_space: int) -> Symmetries:
    """Return the identity as the only symmetry, for games without symmetries."""
    return Symmetries(np.arange(plane_points)[None], np.arange(action_space)[None])


def square(size: int, extra_actions: int = 0) -> Symmetries:
    """Return the 8 symmetries of a square board on which an action is row * size + column.

    Args:
        extra_actions: number of further actions (a pass), which no symmetry changes.
    """
    board = np.arange(size * size).reshape(size, size)
    rotations = [np.rot90(board, quarters) for quarters in range(4)]
    reflections = [rotated.T for rotated in rotations]
    points = np.stack([transformed.ravel() for transformed in rotations + reflections])
    unchanged = np.tile(np.arange(size * size, size * size + extra_actions), (len(points), 1))
    return Symmetries(points, np.concatenate([points, unchanged], axis=1))
