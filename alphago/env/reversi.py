"""Reversi (Othello): `ReversiEnv(8)`, over the kernels of the same name."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from alphago.env import symmetry
from alphago.env.board import StonesPosition, action_text, read_action
from alphago.env.game import PLAYER_NAMES, GameBatch, GameEnv
from alphago.env.kernels import reversi as kernels
from alphago.env.kernels.rows import HEADER
from alphago.env.packed import RowBatch
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_int, checks_keywords

MIN_SIZE, MAX_SIZE = 4, 16


@checks_keywords()
class ReversiEnv(GameEnv):
    """Reversi on an even board of 4 to 16 points along a side, from the four stones in the middle.

    A stone has to enclose stones of the other side in straight lines, and they become the mover's.  Who cannot do so
    passes (and may pass only then); the game is over when neither can.  The margin is the difference of the stones,
    and empty points do not count; the outcome is its sign.

    An action is row * N + column with row 0 at the top; the last one, N * N, is the pass.  A network sees two planes:
    the mover's stones and the other side's.  Raises ValueError for impossible options.
    """

    name = "reversi"
    planes = 2
    actions_are_points = True
    has_ownership = True
    pass_action: int

    def __init__(self, board_size: int = 8) -> None:
        self.N = check_int("board_size", board_size, MIN_SIZE, MAX_SIZE)
        if self.N % 2:
            raise ValueError(f"board_size must be even, got {board_size}")
        self.plane_shape = (self.N, self.N)
        self.pass_action = self.N * self.N
        self.action_space = self.N * self.N + 1
        self.max_moves = 2 * (self.N * self.N - 4)  # between two passes there is a stone

    @property
    def config(self) -> dict[str, Any]:
        return {"board_size": self.N}

    def resized(self, size: int) -> "ReversiEnv":
        return ReversiEnv(size)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The four symmetries that keep the start position: identity, half turn, and both diagonal reflections."""
        points, actions = symmetry.square(self.N, extra_actions=1)
        kept = [0, 2, 4, 6]
        return Symmetries(points[kept], actions[kept])

    def new_batch(self, count: int, device: str = "cpu") -> RowBatch:
        self.require_cpu(device)
        return RowBatch(self, count, kernels, HEADER + self.N * self.N, (self.N,))

    def make_position(self, batch: GameBatch, setup: Mapping[str, Any]) -> "ReversiPosition":
        return ReversiPosition(self, batch, setup)

    def to_text(self, action: int) -> str:
        """Return the action's name, 'D3' or 'pass'; columns are letters without I, rows count from the bottom."""
        return action_text(self, action)

    def from_text(self, text: str) -> int:
        """Return the action of 'D3', 'd3' or 'pass'; raise ValueError for other texts."""
        return read_action(self, text)


class ReversiPosition(StonesPosition):
    """A position of Reversi to read, print and play on."""

    def why_illegal(self, action: int) -> str:
        if action == self.env.pass_action:
            return f"{PLAYER_NAMES[self.to_play]} can put a stone, so may not pass"
        return super().why_illegal(action) if self.board.ravel()[action] else "it encloses nothing"
