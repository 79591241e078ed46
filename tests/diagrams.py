"""Go positions as drawings: '.' empty, 'X' Black, 'O' White, one line per row from the top.

Spaces and empty lines do not matter.
"""

import re
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition

COLOURS = {".": 0, "X": 1, "O": -1}


def board(drawing: str) -> np.ndarray:
    """int8 [N, N], as `position.board`."""
    rows = ["".join(line.split()) for line in drawing.splitlines() if line.strip()]
    assert all(len(row) == len(rows) for row in rows), f"not square: {rows}"
    return np.array([[COLOURS[point] for point in row] for row in rows], np.int8)


def stones(drawing: str) -> dict[str, list[int]]:
    """The keywords `black` and `white` of `GoEnv.position`."""
    points = board(drawing).ravel()
    return {"black": np.flatnonzero(points == 1).tolist(), "white": np.flatnonzero(points == -1).tolist()}


def position(drawing: str, moves: str = "", *, env: GoEnv | None = None, **setup: Any) -> GoPosition:
    """The drawn position, on a GoEnv of its size unless another is given, after some moves."""
    env = env or GoEnv(len(board(drawing)))
    return play(env.position(**stones(drawing), **setup), moves)


def play(start: GoPosition, moves: str) -> GoPosition:
    """Plays moves such as "B C3, W pass"; the players have to be right."""
    for colour, point in re.findall(r"([BW]) (\w+)", moves):
        assert start.to_play == {"B": 1, "W": -1}[colour], f"it is not {colour}'s turn for {colour} {point}"
        start = start.play(start.env.from_text(point))
    return start


def draw(shown: GoPosition | np.ndarray) -> str:
    """The drawing of a position or board."""
    cells = shown if isinstance(shown, np.ndarray) else shown.board
    return "\n".join(" ".join(".XO"[colour] for colour in row) for row in cells)


def tidy(drawing: str) -> str:
    """A drawing with the spacing of `draw`, to compare with it."""
    return draw(board(drawing))


def is_legal(where: GoPosition, point: str) -> bool:
    return bool(where.legal_mask[where.env.from_text(point)])
