"""Gomoku, five in a row: `GomokuEnv(15)`; its rules are in kernels/gomoku.py."""

from functools import cached_property
from typing import Any

import numpy as np

from alphago.cuda.backend import find_backend
from alphago.env import symmetry
from alphago.env.board import StonesEnv, check_player
from alphago.env.device_rows import DeviceRowBatch, row_program
from alphago.env.game import GameEnv
from alphago.env.kernels import gomoku as kernels
from alphago.env.kernels.rows import HEADER, MARGIN
from alphago.env.stones_batch import LineBatch
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_bool, check_int, checks_keywords

MIN_SIZE, MAX_SIZE = 2, 25


@checks_keywords()
class GomokuEnv(StonesEnv):
    """Freestyle Gomoku on `board_size` x `board_size` points, 2 to 25; with other options, any (m, m, k) game.

    Black begins; the first side with `connect_row` or more stones in a straight line wins; a full board is a draw.
    There are no forbidden moves and no passes.  An action is row * N + column with row 0 at the top.

    connect_row: stones in a line that win, 1 to board_size.
    planes: 3 or more: 2 planes per remembered board (own and enemy stones, newest board first), 1 for the side to move,
        and with an even number 1 more: what a full board is worth to the mover, which `position(draw="black")` sets.
        A network with this plane plays matches to win: its search counts a draw as lost.
    random_draws: in self-play, whether a full board counts for Black, for White or for neither, drawn for each game;
        `planes` must be even.

    Names and defaults of the first three arguments are AlphaGo.jl's; it has odd numbers of planes only.  A network
    that knows what a draw is worth is KataGo's idea (Wu, "KataGo", `drawEquivalentWinsForWhite`).
    Raises ValueError for invalid options.
    """

    name = "gomoku"
    stones_in = "points"
    actions_are_points = True
    has_device_kernels = True

    def __init__(
        self, board_size: int = 15, connect_row: int = 5, planes: int = 17, random_draws: bool = False
    ) -> None:
        self.N = check_int("board_size", board_size, MIN_SIZE, MAX_SIZE)
        self.connect_row = check_int("connect_row", connect_row, 1, self.N)
        self.planes = check_int("planes", planes, 3)
        self.random_draws = check_bool("random_draws", random_draws)
        if random_draws and not self.sees_draws:
            raise ValueError(f"planes must be even with random_draws, so that one tells who has a draw, got {planes}")
        self.plane_shape = (self.N, self.N)
        self.action_space = self.max_moves = self.N * self.N

    @property
    def config(self) -> dict[str, Any]:
        varied = {"random_draws": True} if self.random_draws else {}
        return {"board_size": self.N, "connect_row": self.connect_row, "planes": self.planes, **varied}

    @property
    def rule_options(self) -> dict[str, Any]:
        return {"board_size": self.N, "connect_row": self.connect_row}

    @property
    def sees_draws(self) -> bool:
        """Whether one of the planes tells what a full board is worth."""
        return self.planes % 2 == 0

    def resized(self, size: int) -> "GomokuEnv":
        return self.replace(board_size=size)

    def accepts(self, other: GameEnv) -> bool:
        return isinstance(other, GomokuEnv) and self.match_variant() == other.match_variant()

    def training_variant(self) -> "GomokuEnv":
        """Return the game with `random_draws`, if the planes tell what a draw is worth."""
        return self.replace(random_draws=self.sees_draws)

    def match_variant(self) -> "GomokuEnv":
        return self.replace(random_draws=False) if self.random_draws else self

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return {"draw": "black"} or {"draw": "white"}, each in a third of the games, if `random_draws`; else {}."""
        if not self.random_draws:
            return {}
        side = ("", "black", "white")[generator.integers(3)]
        return {"draw": side} if side else {}

    def player_setup(self, side: int) -> dict[str, Any]:
        """Return the set-up in which a draw counts for the other side, if the network knows what a draw is worth."""
        return {"draw": -side} if self.sees_draws else {}

    @cached_property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N)

    def new_batch(self, count: int, device: str = "cpu") -> "GomokuBatch | DeviceRowBatch":
        if device == "cpu":
            return GomokuBatch(self, count)
        return DeviceRowBatch(self, count, find_backend(device), row_program(kernels))


class GomokuBatch(LineBatch):
    """Gomoku positions as packed rows (see the kernels for the layout)."""

    def __init__(self, env: GomokuEnv, count: int) -> None:
        self.connect = env.connect_row
        words = kernels.row_words(env.N, env.planes)
        super().__init__(env, count, kernels, words, (env.N, env.connect_row, env.planes))

    def reset(
        self,
        slots: np.ndarray,
        *,
        board: Any = None,
        to_play: int | str | None = None,
        draw: int | str | None = None,
    ) -> None:
        """Set all slots to the start position, or to the same set-up, as `StonesBatch.reset`.

        draw: the side for which a full board counts as won, "black" or "white" (or +1, -1); None for a draw.
        """
        super().reset(slots, board=board, to_play=to_play)
        if draw is not None:
            without_line = slots[self.rows[slots, MARGIN] == 0]
            self.rows[without_line, MARGIN] = check_player(draw, "draw")

    def settle(self, row: np.ndarray) -> None:
        super().settle(row)
        row[HEADER + self.env.N**2 :] = kernels.UNKNOWN
