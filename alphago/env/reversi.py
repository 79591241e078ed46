"""Reversi (Othello): `ReversiEnv(8)`; its rules are in kernels/reversi.py."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.drawing.board_view import BoardView
from alphago.env import symmetry
from alphago.env.batch import GameBatch
from alphago.env.board import StonesEnv, StonesPosition
from alphago.env.game import PLAYER_NAMES
from alphago.env.game_options import Option, to_option
from alphago.env.kernels import reversi as kernels
from alphago.env.packed_batch import StonesBatch
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_int, checks_keywords

MIN_SIZE, MAX_SIZE = 4, 16
FELT = "#2b6842"


@checks_keywords()
class ReversiEnv(StonesEnv):
    """Reversi on `board_size` x `board_size` points, an even size from 4 to 16, with four stones in the middle.

    A stone must enclose stones of the other side in straight lines, and they become the mover's.  A player who cannot
    do so passes (and may pass only then); the game is over when neither can.  The margin is the number of Black's
    stones minus the number of White's stones; the outcome is its sign.

    An action is row * N + column with row 0 at the top; the last one, N * N, is the pass.  A network receives four
    planes: the stones of the mover and of the other side, and the points on which each could place a stone now.

    Raises:
        ValueError: for invalid options.
    """

    name, title = "reversi", "Reversi"
    planes = 4
    actions_are_points = True
    has_ownership = has_device_kernels = has_decisive_moves = True
    pass_action: int

    def __init__(self, board_size: int = 8) -> None:
        self.N = check_int("board_size", board_size, MIN_SIZE, MAX_SIZE)
        if self.N % 2:
            raise ValueError(f"board_size must be even, got {board_size}")
        self.plane_shape = (self.N, self.N)
        self.pass_action = self.N * self.N
        self.action_space = self.N * self.N + 1
        self.max_moves = 2 * (self.N * self.N - 4)  # at least every second ply places a stone

    @property
    def config(self) -> dict[str, object]:
        return {"board_size": self.N}

    @cached_property
    def board_view(self) -> BoardView:
        return replace(super().board_view, ground=FELT)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game: the size."""
        return (to_option("board_size", self.N, least=MIN_SIZE, most=MAX_SIZE, step=2),)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The four symmetries that keep the start position: identity, half turn, and both diagonal reflections."""
        points, actions = symmetry.square(self.N, extra_actions=1)
        kept = [0, 2, 4, 6]  # `square` returns rotations by 0, 1, 2 and 3 quarter turns, then each of them transposed
        return Symmetries(points[kept], actions[kept])

    def new_batch(self, count: int, device: str = "cpu") -> GameBatch:
        """Return a batch of `count` start positions on a device: "cpu", "cuda" or "host"."""
        return ReversiBatch.on(device, self, count)

    def make_position(self, batch: GameBatch, setup: Mapping[str, object]) -> "ReversiPosition":
        """Return the only position in `batch`; setup: the keywords of `position` with which its game began."""
        return ReversiPosition(self, batch, setup)


class ReversiBatch(StonesBatch):
    """Reversi positions as packed rows."""

    rules = kernels

    def settle(self, row: np.ndarray) -> None:
        """Set margin and end of the game from the stones; raise ValueError if a point in the middle is empty."""
        board = self.cells(row).reshape(self.env.N, self.env.N)
        middle = slice(self.env.N // 2 - 1, self.env.N // 2 + 1)
        if not board[middle, middle].all():
            raise ValueError("board must have stones on the four points in the middle")
        kernels.settle(row)


class ReversiPosition(StonesPosition):
    """A position of Reversi to read, print and play on."""

    def why_illegal(self, action: int) -> str:
        """Return why an action is illegal in a game that is not over: a needless pass, a stone, nothing enclosed."""
        if action == self.env.pass_action:
            return f"{PLAYER_NAMES[self.to_play]} can place a stone, so must not pass"
        return super().why_illegal(action) if self.board.ravel()[action] else "it encloses no stones"
