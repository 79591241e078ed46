"""Hex in plain Python: Black joins top and bottom, White left and right; the second player may swap."""

from functools import cached_property
from math import sqrt

import numpy as np

from alphago.drawing.board_view import COLUMNS, BoardView
from alphago.env.board import StonesEnv
from alphago.env.check import check_game
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_int

STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))  # (down, right) to the six cells beside a cell


class Hex:
    """A position; `play` changes it in place."""

    def __init__(self, size: int) -> None:
        self.board = np.zeros((size, size), np.int8)  # 1 and -1: the players' stones; row 0 at the top
        self.to_play, self.plies = 1, 0
        self.winner = 0  # 1 or -1; 0 before a side has won

    def play(self, action: int) -> None:
        """Place a stone, or swap: the action after the points."""
        if action == self.board.size:  # Black's stone becomes White's, mirrored
            self.board = -self.board.T.copy()
        else:
            self.board[divmod(action, len(self.board))] = self.to_play
            if self.joins(action):
                self.winner = self.to_play
        self.to_play = -self.to_play
        self.plies += 1

    def joins(self, action: int) -> bool:
        """Return whether the chain of the stone on a point reaches both edges of its side."""
        size, start = len(self.board), divmod(action, len(self.board))
        colour, cells, seen = self.board[start], [start], {start}
        for row, column in cells:  # the list grows during the loop
            for down, right in STEPS:
                r, c = row + down, column + right
                on_board = 0 <= r < size and 0 <= c < size
                if on_board and self.board[r, c] == colour and (r, c) not in seen:
                    seen.add((r, c))
                    cells.append((r, c))
        reached = {row if colour == 1 else column for row, column in cells}
        return {0, size - 1} <= reached

    def is_over(self) -> bool:
        return self.winner != 0

    def legal_mask(self) -> np.ndarray:
        return np.append(self.board.ravel() == 0, self.plies == 1) & (not self.is_over())

    def outcome(self) -> float:
        return float(self.winner * self.to_play)

    def planes(self) -> np.ndarray:
        """Return four planes: the mover's stones, the other side's, whether Black moves, whether a swap is possible."""
        own = self.board * self.to_play
        facts = (self.to_play == 1, self.plies == 1)
        return np.stack([own == 1, own == -1, *(np.full(own.shape, fact) for fact in facts)]).astype(np.float32)

    def copy(self) -> "Hex":
        twin = Hex(len(self.board))
        twin.board, twin.winner = self.board.copy(), self.winner
        twin.to_play, twin.plies = self.to_play, self.plies
        return twin


class HexEnv(StonesEnv):
    """Hex on a rhombus; the first side that joins its two edges wins, and there are no draws.

    Args:
        board_size: cells along an edge.
    """

    name, title, surface = "hex", "Hex", "lines"
    actions_are_points, has_decisive_moves = True, True
    planes, further_actions = 4, ("swap",)

    def __init__(self, board_size: int = 7) -> None:
        self.N = check_int("board_size", board_size, 2, 25)
        self.plane_shape, self.action_space = (self.N, self.N), self.N**2 + 1
        self.max_moves = self.action_space
        self.config = {"board_size": self.N}

    def new(self) -> Hex:
        return Hex(self.N)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The identity and the half turn."""
        points = np.stack([np.arange(self.N**2), np.arange(self.N**2)[::-1]])
        return Symmetries(points, np.concatenate([points, np.full((2, 1), self.N**2)], axis=1))

    @cached_property
    def board_view(self) -> BoardView:
        """Stones where three lines cross, on a board that leans to the right: a row down is half a column right."""
        size, last = self.N, self.N - 1
        cells = list(np.ndindex(size, size))
        places = (*((point,) for point in range(size**2)), ())  # the swap has no cell
        lines = [
            (*xy(row, column), *xy(row + down, column + right))
            for row, column in cells
            for down, right in ((0, 1), (1, 0), (1, -1))  # a line in another direction begins at its other cell
            if row + down < size and 0 <= column + right < size
        ]
        low, high = -0.65, last + 0.65  # the edges are 0.65 steps outside the outermost cells
        corners = [xy(row, column) for row, column in ((low, low), (low, high), (high, high), (high, low))]
        # Each edge, (x, y, x, y), goes from a corner to the next one.
        top, right, bottom, left = ((*corners[i], *corners[(i + 1) % 4]) for i in range(4))
        return BoardView(
            self.title_and_size,
            self.surface,
            size=xy(last, last),
            margin=1.5,
            cells=tuple(xy(row, column) for row, column in cells),
            places=(places, places),
            lines=tuple(lines),
            edges=((top, bottom), (right, left)),
            labels=self.labels(),
            stone=0.42,
            reach=0.45,
        )

    def labels(self) -> tuple[tuple[float, float, str], ...]:
        """Return the names of columns and rows as (x, y, text): letters above and below, numbers left and right."""
        last, names = self.N - 1, []
        for i, letter in enumerate(COLUMNS[: self.N]):  # 0.9 rows outside; the board leans, hence 0.45 columns aside
            names += [(*xy(-0.9, i + 0.45), letter), (*xy(last + 0.9, i - 0.45), letter)]
        for row in range(self.N):
            names += [(*xy(row, column), str(self.N - row)) for column in (-0.95, last + 0.95)]
        return tuple(names)


def xy(row: float, column: float) -> tuple[float, float]:
    """Return the x and y at which a cell is drawn on the leaning board, in distances of neighbours."""
    return round(column + row / 2, 3), round(row * sqrt(3) / 2, 3)


if __name__ == "__main__":
    check_game(HexEnv(4), games=4)
    print("Hex keeps the contract of a game")
