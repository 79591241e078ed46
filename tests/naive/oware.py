"""Oware in plain Python: two lists of houses, and every position since the last capture."""

import numpy as np

from alphago import OwareEnv
from tests.naive.plain import NaiveState

EXACT = 12  # numbers of seeds that have a plane of their own


class NaiveOware(NaiveState):
    def __init__(self, env: OwareEnv, houses: list[int] | None = None, margin: int = 0, to_play: int = 1) -> None:
        houses = houses or [4] * 12
        captured = 48 - sum(houses)
        self.env, self.limit = env, env.max_moves
        self.houses = {1: list(houses[:6]), -1: list(houses[6:])}  # from each player's left
        self.stores = {1: (captured + margin) // 2, -1: (captured - margin) // 2}
        self.to_play = to_play
        self.ply = 0
        self.over = False
        self.seen: list[tuple] = []
        self.end_if_decided()

    def after(self, house: int) -> tuple[dict[int, list[int]], int]:
        """Return the houses after a move, and the seeds captured by it."""
        houses = {player: list(side) for player, side in self.houses.items()}
        ring = [(self.to_play, i) for i in range(6)] + [(-self.to_play, i) for i in range(6)]
        order = [*ring[house + 1 :], *ring[:house]]  # all other houses, as they are sown
        seeds, houses[self.to_play][house] = houses[self.to_play][house], 0
        sown = [order[k % 11] for k in range(seeds)]
        for player, i in sown:
            houses[player][i] += 1
        taken = []
        player, i = sown[-1]
        while player == -self.to_play and i >= 0 and houses[player][i] in (2, 3):
            taken.append(i)
            i -= 1
        captured = sum(houses[-self.to_play][i] for i in taken)
        if captured == sum(houses[-self.to_play]):
            return houses, 0
        for i in taken:
            houses[-self.to_play][i] = 0
        return houses, captured

    def moves(self) -> list[int]:
        own, enemy = self.houses[self.to_play], self.houses[-self.to_play]
        moves = [house for house in range(6) if own[house]]
        return moves if any(enemy) else [house for house in moves if any(self.after(house)[0][-self.to_play])]

    def play(self, action: int) -> None:
        self.houses, captured = self.after(action)
        self.stores[self.to_play] += captured
        if captured:
            self.seen = []
        self.to_play = -self.to_play
        self.ply += 1
        self.end_if_decided()

    def end_if_decided(self) -> None:
        key = (tuple(self.houses[1]), tuple(self.houses[-1]), self.to_play)
        if max(self.stores.values()) > 24:
            self.over = True
        elif (self.env.repetition and key in self.seen) or self.ply >= self.limit or not self.moves():
            self.over = True
            for player in (1, -1) if self.ply < self.limit or self.env.remainder == "own" else ():
                self.stores[player] += sum(self.houses[player])
                self.houses[player] = [0] * 6
        self.seen.append(key)

    def is_over(self) -> bool:
        return self.over

    def legal_mask(self) -> np.ndarray:
        mask = np.zeros(6, bool)
        mask[[] if self.over else self.moves()] = True
        return mask

    def score(self) -> float:
        return float(self.stores[self.to_play] - self.stores[-self.to_play])

    def outcome(self) -> float:
        margin, most, least = self.score(), max(self.stores.values()), min(self.stores.values())
        if not self.env.graded:
            return float(np.sign(margin))
        if margin == 0:
            return self.to_play * 0.0005 * self.stores[1]
        value = 0.85 + 0.0006 * (self.limit - self.ply) + 0.0026 * most - 0.0020 * least
        return float(np.sign(margin)) * min(value, 1.0)

    def one_hot(self) -> np.ndarray:
        """CGZero's inputs."""
        own, other = self.to_play, -self.to_play
        numbers = []
        for seeds in (*self.houses[own], *self.houses[other]):
            numbers += [float(min(seeds, 23) == number) for number in range(24)]
        for seeds in (self.stores[own], self.stores[other]):
            numbers += [float(min(seeds, 26) == number) for number in range(27)]
        return np.array(numbers, np.float32).reshape(342, 1, 1)

    def planes(self) -> np.ndarray:
        if self.env.plane_set == "one-hot":
            return self.one_hot()
        seeds = np.array([self.houses[-self.to_play][::-1], self.houses[self.to_play]])
        shares = self.stores[self.to_play] / 48, self.stores[-self.to_play] / 48, self.ply / self.limit
        constant = [np.full((2, 6), share) for share in shares]
        exact = [seeds == number for number in range(EXACT)]
        return np.stack([*exact, seeds / 12, *constant]).astype(np.float32)
