"""Own eyes, by the kernel that light playouts go by."""

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_legal import is_own_eye


def own_eyes(rows: np.ndarray, size: int) -> np.ndarray:
    """bool [n, size * size]: which empty points of Go's packed rows are eyes of the side to move."""
    return np.array(
        [
            [
                int(row[layout.cell(point) + layout.COLOUR]) == layout.EMPTY
                and bool(is_own_eye(row, point, int(row[layout.TO_PLAY])))
                for point in (layout.point_of(row, action) for action in range(size * size))
            ]
            for row in rows
        ]
    )
