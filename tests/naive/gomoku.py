"""Gomoku in plain Python: all boards are kept, and every window of every line is looked at."""

import numpy as np

from alphago import GomokuEnv
from tests.naive.plain import NaiveState


class NaiveGomoku(NaiveState):
    def __init__(self, env: GomokuEnv) -> None:
        self.env, self.size, self.connect = env, env.N, env.connect_row
        self.boards = [np.zeros((env.N, env.N), np.int8)]  # oldest first: 1 Black, -1 White
        self.to_play = 1
        self.winner = 0  # 1 or -1

    def play(self, action: int) -> None:
        board = self.boards[-1].copy()
        board[divmod(action, self.size)] = self.to_play
        self.boards.append(board)
        self.to_play = -self.to_play
        self.winner = self.find_winner()

    def find_winner(self) -> int:
        """Return 1 or -1 for the side with `connect` stones in a row, column or diagonal, else 0."""
        board = self.boards[-1]
        lines = [*board, *board.T]
        for turned in (board, board[::-1]):
            lines += [turned.diagonal(offset) for offset in range(-self.size, self.size + 1)]
        sums = {int(line[i : i + self.connect].sum()) for line in lines for i in range(len(line) - self.connect + 1)}
        return 1 if self.connect in sums else -1 if -self.connect in sums else 0

    def is_over(self) -> bool:
        return self.winner != 0 or bool(self.boards[-1].all())

    def legal_mask(self) -> np.ndarray:
        return np.zeros(self.size**2, bool) if self.is_over() else self.boards[-1].ravel() == 0

    def outcome(self) -> float:
        return self.winner * self.to_play

    def score(self) -> float:
        return self.outcome()

    def planes(self) -> np.ndarray:
        planes = np.zeros((self.env.planes, self.size, self.size), np.float32)
        for age, board in enumerate(self.boards[::-1][: self.env.planes // 2]):
            planes[2 * age] = board == self.to_play
            planes[2 * age + 1] = board == -self.to_play
        planes[-1] = self.to_play == 1
        return planes
