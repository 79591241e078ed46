"""Gomoku, five in a row: `GomokuEnv(15)`; its rules are in kernels/gomoku.py."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.drawing.board_view import BoardView
from alphago.env import symmetry
from alphago.env.batch import GameBatch
from alphago.env.board import StonesEnv
from alphago.env.game_options import Option, to_option
from alphago.env.go_rules import star_points
from alphago.env.kernels import gomoku as kernels
from alphago.env.kernels.rows import HEADER
from alphago.env.packed_batch import LineBatch
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_int, checks_keywords

MIN_SIZE, MAX_SIZE = 2, 25


@checks_keywords()
class GomokuEnv(StonesEnv):
    """Freestyle Gomoku on `board_size` x `board_size` points, 2 to 25; with other options, any (m, m, k) game.

    Black begins; the first side with `connect_row` or more stones in a straight line wins; a full board is a draw.
    There are no forbidden moves and no passes.  An action is row * N + column with row 0 at the top.

    Names and defaults of the three arguments are AlphaGo.jl's.

    Args:
        connect_row: stones in a line that win, at most the board's size.
        planes: an odd number >= 3: 2 planes per remembered board (own and enemy stones, newest board first), 1 for the
            side to move.

    Raises:
        ValueError: for invalid options.
    """

    name, title = "gomoku", "Gomoku"
    surface = "lines"
    actions_are_points = True
    has_device_kernels = has_decisive_moves = True

    def __init__(self, board_size: int = 15, connect_row: int = 5, planes: int = 17) -> None:
        self.N = check_int("board_size", board_size, MIN_SIZE, MAX_SIZE)
        self.connect_row = check_int("connect_row", connect_row, 1, self.N)
        self.planes = check_int("planes", planes, 3)
        if self.planes % 2 == 0:
            raise ValueError(f"planes must be odd (2 per remembered board, 1 for the mover), got {planes}")
        self.plane_shape = (self.N, self.N)
        self.action_space = self.max_moves = self.N * self.N

    @property
    def config(self) -> dict[str, object]:
        return {"board_size": self.N, "connect_row": self.connect_row, "planes": self.planes}

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game: the size, and the stones in a row that win."""
        size = to_option("board_size", self.N, least=MIN_SIZE, most=MAX_SIZE)
        return size, to_option("connect_row", self.connect_row, title="In a row")

    @cached_property
    def board_view(self) -> BoardView:
        return replace(super().board_view, stars=tuple(star_points(self.N)))

    @cached_property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N)

    def new_batch(self, count: int, device: str = "cpu") -> GameBatch:
        """Return a batch of `count` start positions on a device: "cpu", "cuda" or "host"."""
        return GomokuBatch.on(device, self, count)


class GomokuBatch(LineBatch):
    """Gomoku positions as packed rows (see the kernels for the layout)."""

    rules = kernels

    def __init__(self, env: GomokuEnv, count: int) -> None:
        self.connect = env.connect_row
        depth = (env.planes - 1) // 2  # boards in the planes, and latest actions in a row
        super().__init__(env, count, words=HEADER + env.N**2 + depth, options=(env.N, env.connect_row, depth))

    def settle(self, row: np.ndarray) -> None:
        """Do what `LineBatch.settle` does; the actions before the set-up, in the words after the board, are unknown."""
        super().settle(row)
        row[HEADER + self.env.N**2 :] = kernels.UNKNOWN
