"""Tic-tac-toe in plain Python, as an example of a new game: a class for positions, and a class for the game."""

import numpy as np

from alphago.env import symmetry
from alphago.env.board import StonesEnv
from alphago.env.check import check_game

LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])


class TicTacToe:
    """A position; `play` changes it in place."""

    def __init__(self) -> None:
        self.board = np.zeros(9, np.int8)  # 1 and -1: the players' stones
        self.to_play = 1

    def play(self, action: int) -> None:
        self.board[action] = self.to_play
        self.to_play = -self.to_play

    def winner(self) -> int:
        """Return the player with three in a line, 1 or -1; 0 if there is none."""
        sums = self.board[LINES].sum(axis=1)
        return 1 if 3 in sums else -1 if -3 in sums else 0

    def is_over(self) -> bool:
        return self.winner() != 0 or bool(self.board.all())

    def legal_mask(self) -> np.ndarray:
        return np.zeros(9, bool) if self.is_over() else self.board == 0

    def outcome(self) -> float:
        return self.winner() * self.to_play  # the mover's view: -1 if the player to move has lost

    def planes(self) -> np.ndarray:
        own = self.board.reshape(3, 3) * self.to_play  # the mover's view again
        return np.stack([own == 1, own == -1]).astype(np.float32)

    def copy(self) -> "TicTacToe":
        twin = TicTacToe()
        twin.board, twin.to_play = self.board.copy(), self.to_play
        return twin


class TicTacToeEnv(StonesEnv):  # StonesEnv draws positions, from planes 0 and 1, and names the points
    name = "tic-tac-toe"
    N, planes, plane_shape = 3, 2, (3, 3)
    action_space, max_moves = 9, 9
    config = {}  # it takes no arguments
    symmetries = symmetry.square(3)

    def new(self) -> TicTacToe:
        return TicTacToe()


if __name__ == "__main__":
    check_game(TicTacToeEnv())
    print("tic-tac-toe keeps the contract of a game")
