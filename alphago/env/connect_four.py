"""Connect Four: `ConnectFourEnv()`; its rules are in kernels/connect_four.py."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.drawing.board_view import BoardView
from alphago.env.batch import GameBatch
from alphago.env.board import StonesEnv, StonesPosition, point_text
from alphago.env.kernels import connect_four as kernels
from alphago.env.packed_batch import LineBatch
from alphago.env.symmetry import Symmetries
from alphago.system.validation import checks_keywords

HEIGHT, WIDTH = 6, 7
RED, YELLOW = "#c8322b", "#f3c432"


@checks_keywords()
class ConnectFourEnv(StonesEnv):
    """Connect Four on 7 columns of 6 points: a stone falls down its column, four in a straight line win.

    An action is a column from the left, 0 to 6, written A to G.  A full board is a draw.  A network receives two
    planes: the mover's stones and the other side's.
    """

    name, title = "connect-four", "Connect Four"
    N, planes, plane_shape = WIDTH, 2, (HEIGHT, WIDTH)
    action_space, max_moves = WIDTH, HEIGHT * WIDTH
    has_device_kernels = has_decisive_moves = True

    def __init__(self) -> None:
        """Make the game; it has no options."""

    @property
    def config(self) -> dict[str, object]:
        return {}

    @cached_property
    def board_view(self) -> BoardView:
        return replace(super().board_view, colours=(RED, YELLOW), sides=("Red", "Yellow"))

    @cached_property
    def symmetries(self) -> Symmetries:
        """The identity, and the reflection that exchanges left and right."""
        points = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
        columns = np.arange(WIDTH)
        return Symmetries(np.stack([points.ravel(), points[:, ::-1].ravel()]), np.stack([columns, columns[::-1]]))

    def new_batch(self, count: int, device: str = "cpu") -> GameBatch:
        """Return a batch of `count` start positions on a device: "cpu", "cuda" or "host"."""
        return ConnectFourBatch.on(device, self, count)

    def make_position(self, batch: GameBatch, setup: Mapping[str, object]) -> "ConnectFourPosition":
        """Return the only position in `batch`; setup: the keywords of `position` with which its game began."""
        return ConnectFourPosition(self, batch, setup)


class ConnectFourBatch(LineBatch):
    """Connect Four positions as packed rows."""

    rules, connect = kernels, kernels.CONNECT

    def settle(self, row: np.ndarray) -> None:
        """Check a set-up board and complete its row, as `LineBatch.settle` does.

        Raises ValueError also for a stone above an empty point.
        """
        board = self.cells(row).reshape(HEIGHT, WIDTH)
        if len(floating := np.flatnonzero((board[:-1] != 0) & (board[1:] == 0))):  # stones above an empty point
            point = point_text(int(floating[0]), HEIGHT, WIDTH)
            raise ValueError(f"board must have its stones on top of each other, got nothing below {point}")
        super().settle(row)


class ConnectFourPosition(StonesPosition):
    """A position of Connect Four to read, print and play on."""

    @property
    def last_point(self) -> int | None:
        """The point of the last stone, which is the highest of its column; None before the first move."""
        return self.last_cell

    def why_illegal(self, action: int) -> str:
        """Return the only reason that an action, which is a column, can be illegal before the end of the game."""
        return "the column is full"
