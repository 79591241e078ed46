"""Oware for a bot: the rules as `alphago.OwareEnv` has them, and turns as CodinGame writes them.

Each turn is a line of 12 integers: the seeds in the bot's houses from its left, then in the other side's.  Three more
may follow: the bot's captured seeds, the other side's, and the plies so far; without them the bot keeps count.  The
answer is the house to sow, 0 to 5.  `python bot.py 200` takes 200 ms for a move instead of 42.
"""

import gc
import sys
from typing import Any

import numpy as np
from player import FIRST_MS, LATER_MS, MANY, Network, Search


class Oware:
    """A position, which `after` does not change.

    `houses` has the seeds in Black's six houses, then in White's, and `stores` the captured seeds of Black and White.
    `mover` is 1 for Black or -1.  `seen` has all positions since the last capture, if a repetition ends the game.
    """

    def __init__(self, options: dict[str, Any], houses: list[int], stores: list[int], mover: int, ply: int) -> None:
        self.options, self.houses, self.stores = options, houses, stores
        self.mover, self.ply, self.over = mover, ply, False
        self.seen: frozenset[tuple[Any, ...]] = frozenset()

    @classmethod
    def start(cls, options: dict[str, Any]) -> "Oware":
        return cls(options, [4] * 12, [0, 0], 1, 0).end_if_over()

    def legal(self) -> list[int]:
        """Return the legal actions, 0 to 5 from the mover's left; a side without seeds must be given some."""
        own, other = (0, 6) if self.mover == 1 else (6, 0)
        houses = self.houses
        starved = not any(houses[other : other + 6])
        return [i for i in range(6) if houses[own + i] and (not starved or houses[own + i] >= 6 - i)]

    def sow(self, action: int) -> tuple[list[int], int]:
        """Return the houses after sowing an own house, before captures, and where the last seed fell."""
        houses = self.houses.copy()
        start = i = action if self.mover == 1 else 6 + action
        seeds, houses[start] = houses[start], 0
        while seeds:
            i = (i + 1) % 12
            if i != start:
                houses[i] += 1
                seeds -= 1
        return houses, i

    def after(self, action: int) -> "Oware":
        """Return the position after sowing an own house and capturing."""
        houses, last = self.sow(action)
        stores, side = self.stores.copy(), 0 if self.mover == 1 else 1
        left, first = 6 * (1 - side), last + 1  # the other side's leftmost house; the first house to capture
        seeds = 0  # to capture
        if left <= last < left + 6:
            while first > left and 2 <= houses[first - 1] <= 3:
                first -= 1
                seeds += houses[first]
        captures = 0 < seeds < sum(houses[left : left + 6])  # nothing if it would be all seeds of the other side
        if captures:
            houses[first : last + 1] = [0] * (last + 1 - first)
            stores[side] += seeds
        then = Oware(self.options, houses, stores, -self.mover, self.ply + 1)
        then.seen = frozenset() if captures else self.seen
        return then.end_if_over()

    def end_if_over(self) -> "Oware":
        """End the game if it is won or cannot go on, and return this position."""
        if max(self.stores) > 24:
            self.over = True
            return self
        at_limit = self.ply >= self.options["max_moves"]
        repeated = False
        if self.options["repetition"]:
            key = (self.mover, *self.houses)
            repeated = key in self.seen
            self.seen = self.seen | {key}
        if repeated or at_limit or not self.legal():
            self.over = True
            if not at_limit or self.options["remainder"] == "own":
                self.stores = [self.stores[0] + sum(self.houses[:6]), self.stores[1] + sum(self.houses[6:])]
                self.houses = [0] * 12
        return self

    def winning_move(self) -> int | None:
        """Return the first action that wins at once, or None.

        In graded games it is always None, since wins differ there.  Only three things can end a game with a win of the
        side that moved, and other actions are not tried: a capture, a position met before, and the limit of moves.
        """
        if self.options["graded"]:
            return None
        side = 0 if self.mover == 1 else 1
        last_ply = self.ply + 1 >= self.options["max_moves"]
        may_repeat = len(self.seen) > 1 and self.stores[side] + sum(self.houses[6 * side : 6 * side + 6]) > 24
        if not last_ply and not may_repeat and self.stores[side] < 10:  # at most 15 are captured: three in five houses
            return None
        for action in self.legal():
            houses, last = self.sow(action)
            captures = last // 6 != side and 2 <= houses[last] <= 3
            if last_ply or captures or (may_repeat and (-self.mover, *houses) in self.seen):
                then = self.after(action)
                if then.over and then.stores[side] > then.stores[1 - side]:
                    return action
        return None

    def outcome(self) -> float:
        """Return the mover's result of a finished game; in graded games early and clear wins count more."""
        black, white = self.stores
        sign = self.mover * ((black > white) - (black < white))
        if not self.options["graded"]:
            return float(sign)
        if sign == 0:
            return float(np.float32(self.mover * 0.0005 * black))
        early = self.options["max_moves"] - self.ply
        value = 0.85 + 0.0006 * early + 0.0026 * max(black, white) - 0.0020 * min(black, white)
        return float(np.float32(sign * min(value, 1.0)))

    def planes(self) -> np.ndarray:
        """Return the planes of the set "board", float32 [1, 16, 2, 6], or "one-hot", [1, 342, 1, 1]."""
        own, other = (0, 6) if self.mover == 1 else (6, 0)
        if self.options["planes"] == "one-hot":
            return self.one_hot([*range(own, own + 6), *range(other, other + 6)], [own // 6, other // 6])
        # The houses by the planes' points: the other side's row above, from its right, the mover's row below.
        order = [*range(other + 5, other - 1, -1), *range(own, own + 6)]
        planes = np.zeros((16, 12), np.float32)
        for point, house in enumerate(order):
            seeds = self.houses[house]
            if seeds < 12:
                planes[seeds, point] = 1
            planes[12, point] = seeds / 12
        planes[13], planes[14] = self.stores[own // 6] / 48, self.stores[other // 6] / 48
        planes[15] = self.ply / self.options["max_moves"]
        return planes.reshape(1, 16, 2, 6)

    def one_hot(self, houses: list[int], stores: list[int]) -> np.ndarray:
        """Return zeros and a one for each count of seeds, float32 [1, 342, 1, 1].

        A house has 24 numbers, for 0 to 22 seeds and for 23 or more; a store has 27, for 0 to 25 and for 26 or more.

        Args:
            houses, stores: indices of houses and stores, in the order of the input.
        """
        planes = np.zeros(12 * 24 + 2 * 27, np.float32)
        for i, house in enumerate(houses):
            planes[24 * i + min(self.houses[house], 23)] = 1
        for i, store in enumerate(stores):
            planes[12 * 24 + 27 * i + min(self.stores[store], 26)] = 1
        return planes.reshape(1, -1, 1, 1)


class Turns:
    """What the bot knows of the game besides a line of input; the bot counts as Black."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        # After the bot's last move: its captured seeds, the plies so far, and the seeds in all houses.
        self.mine, self.ply, self.seeds = 0, -1, 48
        self.seen: frozenset[tuple[Any, ...]] = frozenset()  # see Oware

    def position(self, line: str) -> Oware:
        """Return the position that a line of input tells."""
        numbers = [int(word) for word in line.split()]
        if len(numbers) not in (12, 15):
            raise ValueError(f"a turn must be 12 or 15 integers, got {line!r}")
        houses = numbers[:12]
        ply = self.ply + 1 if self.ply >= 0 else int(houses != [4] * 12)  # in the first turn: whether a move was played
        mine, theirs, ply = numbers[12:] or (self.mine, 48 - sum(houses) - self.mine, ply)
        game = Oware(self.options, houses, [mine, theirs], 1, ply)
        game.seen = self.seen if sum(houses) == self.seeds else frozenset()  # no seeds were captured since then
        return game.end_if_over()

    def note_move(self, game: Oware, action: int) -> None:
        """Keep what the next turns need to know of the bot's own move."""
        after = game.after(action)
        self.mine, self.ply, self.seeds, self.seen = after.stores[0], after.ply, sum(after.houses), after.seen


def main(packed: str) -> None:
    gc.disable()  # a collection takes milliseconds in the middle of a move, and there are no cycles to find
    network = Network(packed)
    search, turns = Search(network), Turns(network.facts["options"])
    later = float(sys.argv[1]) if len(sys.argv) > 1 else LATER_MS
    milliseconds = max(FIRST_MS, later)
    for line in filter(str.strip, sys.stdin):
        game = turns.position(line)
        game.over = False  # even if the game is over by the bot's rules, a move is asked for
        has_choice = len(game.legal()) > 1
        action, readouts = search.best(game, MANY, milliseconds) if has_choice else (only_action(game), 0)
        turns.note_move(game, action)
        print(action, flush=True)
        print(f"{readouts} simulations", file=sys.stderr, flush=True)
        milliseconds = later


def only_action(game: Oware) -> int:
    """Return the only legal action; if there is none, a house with seeds, or 0."""
    return (game.legal() or [i for i in range(6) if game.houses[i]] or [0])[0]
