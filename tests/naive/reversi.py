"""Reversi in plain Python, with stones in a dictionary."""

import numpy as np

from alphago import ReversiEnv
from tests.naive.plain import NaiveState

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


class NaiveReversi(NaiveState):
    def __init__(self, env: ReversiEnv) -> None:
        self.env, self.size = env, env.N
        high = env.N // 2
        self.stones = {(high - 1, high - 1): -1, (high, high): -1, (high - 1, high): 1, (high, high - 1): 1}
        self.to_play = 1

    def turned(self, row: int, column: int, mover: int) -> list[tuple[int, int]]:
        """Return the stones that a stone there would turn."""
        if (row, column) in self.stones:
            return []
        found = []
        for down, right in DIRECTIONS:
            line = [(row + down * step, column + right * step) for step in range(1, self.size)]
            ends = [step for step, point in enumerate(line) if self.stones.get(point) != -mover]
            if ends and self.stones.get(line[ends[0]]) == mover:
                found += line[: ends[0]]
        return found

    def moves(self, mover: int) -> list[int]:
        return [action for action in range(self.size**2) if self.turned(*divmod(action, self.size), mover)]

    def play(self, action: int) -> None:
        if action < self.size**2:
            point = divmod(action, self.size)
            for stone in [*self.turned(*point, self.to_play), point]:
                self.stones[stone] = self.to_play
        self.to_play = -self.to_play

    def is_over(self) -> bool:
        return not self.moves(1) and not self.moves(-1)

    def legal_mask(self) -> np.ndarray:
        mask = np.zeros(self.size**2 + 1, bool)
        moves = self.moves(self.to_play)
        mask[moves] = True
        mask[-1] = not moves and not self.is_over()
        return mask

    def score(self) -> float:
        return float(sum(self.stones.values()) * self.to_play)

    def outcome(self) -> float:
        return float(np.sign(self.score()))

    def ownership(self) -> np.ndarray:
        own = [self.stones.get(divmod(point, self.size), 0) * self.to_play for point in range(self.size**2)]
        return np.array(own, np.int8)

    def planes(self) -> np.ndarray:
        own = self.ownership().reshape(self.size, self.size)
        planes = np.zeros((4, self.size, self.size), np.float32)
        planes[:2] = own == 1, own == -1
        for plane, mover in zip(planes[2:], (self.to_play, -self.to_play), strict=True):
            plane.ravel()[self.moves(mover)] = 1
        return planes
