"""Small games and evaluators for the tests of this folder."""

import copy

import numpy as np

from alphago import GameEnv, GoEnv, Position
from alphago.examples.tic_tac_toe import TicTacToeEnv


class Counting:
    """A pile of counters: take 1, 2 or 3; whoever takes the last wins.  Who takes 1 moves again.

    The same player moves twice in a row, or more often, and may be to move when the game is over.
    """

    def __init__(self, pile: int) -> None:
        self.pile = pile
        self.to_play = 1
        self.last_taker = 0

    def play(self, action: int) -> None:
        self.pile -= action + 1
        self.last_taker = self.to_play
        if action > 0:
            self.to_play = -self.to_play

    def legal_mask(self) -> np.ndarray:
        return np.arange(1, 4) <= self.pile

    def is_over(self) -> bool:
        return self.pile == 0

    def outcome(self) -> float:
        return 1.0 if self.last_taker == self.to_play else -1.0

    def planes(self) -> np.ndarray:
        return np.array([self.pile, self.last_taker * self.to_play], np.float32).reshape(2, 1, 1)

    def copy(self) -> "Counting":
        return copy.copy(self)


class CountingEnv(GameEnv):
    name = "counting"
    N, planes, plane_shape = 1, 2, (1, 1)
    action_space = 3

    def __init__(self, pile: int) -> None:
        self.pile = pile
        self.max_moves = pile

    @property
    def config(self) -> dict:
        return {"pile": self.pile}

    def new(self, pile: int | None = None) -> Counting:
        return Counting(self.pile if pile is None else pile)


# Searches are compared with naive ones in these.
GAMES = [GoEnv(3), GoEnv(5, komi=0.5, max_moves=14), TicTacToeEnv(), CountingEnv(12)]


def best_values(position: Position) -> dict[int, float]:
    """The result after each legal move with best play from there, the mover's view; looks at all games."""
    values = {}
    for action in np.flatnonzero(position.legal_mask).tolist():
        after = position.play(action)
        value = after.to_play * after.result if after.is_over else max(best_values(after).values())
        values[action] = value if after.to_play == position.to_play else -value
    return values
