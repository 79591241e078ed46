"""Gomoku with the opening Swap2 in plain Python, which gives both players the same chances.

The first player places three stones: black, white, black.  The second player then has three choices: to place a white
stone, and so to play White; to play Black by `swap`, so that the first player goes on with White; or to place a white
and a black stone by `two-more`, after which the first player places a white stone or swaps.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.drawing.board_view import BoardView
from alphago.env import symmetry
from alphago.env.batch import GameBatch
from alphago.env.board import StonesEnv, StonesPosition
from alphago.env.check import check_game
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_int


class Swap2:
    """A position; `play` changes it in place."""

    def __init__(self, size: int, connect_row: int) -> None:
        self.board = np.zeros((size, size), np.int8)  # 1 black stones, -1 white ones; row 0 at the top
        self.connect_row, self.to_play = connect_row, 1
        self.opening_stones = 3  # stones of the opening that the mover still has to place
        self.choices = 0  # 2: the mover may swap or place two more; 1: the mover may swap; 0: neither
        self.stone_count = 0  # on the board
        self.winner = 0  # +1 or -1; 0 before a side has won

    def play(self, action: int) -> None:
        """Place a stone on a point, or choose one of the two actions after the points: swap, or two more stones."""
        points = self.board.size
        if action == points:  # swap: the other side goes on with White
            self.to_play, self.choices = -self.to_play, 0
        elif action > points:
            self.opening_stones, self.choices = 2, 0
        else:
            self.put(action)

    @property
    def next_stone(self) -> int:
        """The colour of the next stone: 1 black, -1 white; stones are black and white in turn."""
        return 1 if self.stone_count % 2 == 0 else -1

    def put(self, point: int) -> None:
        """Place the next stone, and end the mover's turn unless stones of the opening are left to place."""
        row, column = divmod(point, len(self.board))
        self.board[row, column] = self.next_stone
        self.stone_count += 1
        if self.opening_stones:  # none of these stones wins
            self.opening_stones -= 1
            if self.opening_stones == 0:
                self.choices = 2 if self.stone_count == 3 else 1  # "two-more" may be chosen once
                self.to_play = -self.to_play
            return
        if self.longest_line(row, column) >= self.connect_row:
            self.winner = self.to_play
        self.choices, self.to_play = 0, -self.to_play

    def longest_line(self, row: int, column: int) -> int:
        """Return the length of the longest line of one colour through the stone on a point."""
        size, longest = len(self.board), 0
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            length = 1
            for sign in (1, -1):
                r, c = row + sign * down, column + sign * right
                while 0 <= r < size and 0 <= c < size and self.board[r, c] == self.board[row, column]:
                    length += 1
                    r, c = r + sign * down, c + sign * right
            longest = max(longest, length)
        return longest

    def is_over(self) -> bool:
        return self.winner != 0 or self.stone_count == self.board.size

    def legal_mask(self) -> np.ndarray:
        legal = np.append(self.board.ravel() == 0, [self.choices > 0, self.choices > 1])
        return legal & (not self.is_over())

    def outcome(self) -> float:
        return float(self.winner * self.to_play)

    def planes(self) -> np.ndarray:
        """Return six planes: the stones of the next stone's colour, those of the other colour, and four facts.

        Each fact fills a plane: stones of the opening to place, divided by 3; whether the mover may swap; whether the
        mover may place two more; whether the next stone is white.
        """
        own = self.board * self.next_stone
        facts = (self.opening_stones / 3, self.choices > 0, self.choices > 1, self.stone_count % 2)
        return np.stack([own == 1, own == -1, *(np.full(own.shape, fact) for fact in facts)]).astype(np.float32)

    def copy(self) -> "Swap2":
        twin = Swap2.__new__(Swap2)
        twin.__dict__.update(self.__dict__, board=self.board.copy())
        return twin


class GomokuSwap2Env(StonesEnv):
    """Gomoku with Swap2.

    Args:
        board_size: points along a side.
        connect_row: stones in a line that win.
    """

    name, title, surface = "gomoku-swap2", "Gomoku with Swap2", "lines"
    has_decisive_moves = True
    planes, further_actions = 6, ("swap", "two-more")

    def __init__(self, board_size: int = 9, connect_row: int = 5) -> None:
        self.N = check_int("board_size", board_size, 5, 25)
        self.connect_row = check_int("connect_row", connect_row, 4, self.N)
        self.plane_shape, self.action_space = (self.N, self.N), self.N**2 + 2
        self.max_moves = self.action_space
        self.config = {"board_size": self.N, "connect_row": self.connect_row}

    def new(self) -> Swap2:
        return Swap2(self.N, self.connect_row)

    def make_position(self, batch: GameBatch, setup: Mapping[str, object]) -> "Swap2Position":
        return Swap2Position(self, batch, setup)

    @cached_property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N, extra_actions=2)

    @cached_property
    def board_view(self) -> BoardView:
        return replace(super().board_view, sides=("First player", "Second player"))


class Swap2Position(StonesPosition):
    """A position whose stones keep their colours, whoever owns them."""

    @cached_property
    def board(self) -> np.ndarray:
        return self.batch.states[0].board.copy()  # type: ignore[attr-defined]

    @property
    def state_text(self) -> str:
        """The side to move, and the colour of the next stone."""
        colour = "black" if self.batch.states[0].next_stone == 1 else "white"  # type: ignore[attr-defined]
        return super().state_text if self.is_over else f"{super().state_text}, next a {colour} stone"


if __name__ == "__main__":
    check_game(GomokuSwap2Env(5, 4), games=4)
    print("Gomoku with Swap2 keeps the contract of a game")
