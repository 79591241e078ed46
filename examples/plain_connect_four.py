"""Connect Four in plain Python, as an example of a new game; docs/add_a_game.md explains it step by step."""

import numpy as np

from alphago.env.board import StonesEnv
from alphago.env.check import check_game
from alphago.env.symmetry import Symmetries

HEIGHT, WIDTH, CONNECT = 6, 7, 4
POINTS = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
LINES = np.array(
    [  # every way to connect four, as its four points; an array, so that one sum covers all lines
        POINTS[rows, columns]
        for r in range(HEIGHT)
        for c in range(WIDTH)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        for rows, columns in [(r + down * np.arange(CONNECT), c + right * np.arange(CONNECT))]
        if rows[-1] < HEIGHT and 0 <= columns[-1] < WIDTH
    ]
)


class ConnectFour:
    """A position; `play` changes it in place."""

    def __init__(self) -> None:
        self.board = np.zeros((HEIGHT, WIDTH), np.int8)  # 1 and -1: the players' stones; row 0 at the top
        self.to_play = 1

    def play(self, action: int) -> None:
        row = np.flatnonzero(self.board[:, action] == 0)[-1]  # the lowest empty cell of the column
        self.board[row, action] = self.to_play
        self.to_play = -self.to_play

    def winner(self) -> int:
        """Return the player with four in a line, 1 or -1; 0 if there is none."""
        sums = self.board.ravel()[LINES].sum(axis=1)
        return 1 if CONNECT in sums else -1 if -CONNECT in sums else 0

    def is_over(self) -> bool:
        return self.winner() != 0 or bool(self.board.all())

    def legal_mask(self) -> np.ndarray:
        return np.zeros(WIDTH, bool) if self.is_over() else self.board[0] == 0

    def outcome(self) -> float:
        return self.winner() * self.to_play  # the mover's view: -1 if the player to move has lost

    def planes(self) -> np.ndarray:
        own = self.board * self.to_play  # the mover's view again
        return np.stack([own == 1, own == -1]).astype(np.float32)

    def copy(self) -> "ConnectFour":
        twin = ConnectFour()
        twin.board, twin.to_play = self.board.copy(), self.to_play
        return twin


class PlainConnectFourEnv(StonesEnv):  # StonesEnv draws positions, from planes 0 and 1
    name = "connect-four"
    N, planes, plane_shape = WIDTH, 2, (HEIGHT, WIDTH)
    action_space, max_moves = WIDTH, HEIGHT * WIDTH
    config = {}  # it takes no arguments
    symmetries = Symmetries(  # the identity, and the reflection that exchanges left and right
        np.stack([POINTS.ravel(), POINTS[:, ::-1].ravel()]), np.stack([np.arange(WIDTH), np.arange(WIDTH)[::-1]])
    )

    def new(self) -> ConnectFour:
        return ConnectFour()


if __name__ == "__main__":
    check_game(PlainConnectFourEnv(), games=10)
    print("Connect Four keeps the contract of a game")
