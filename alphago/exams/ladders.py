"""A small board to read on: chains, liberties, and whether a chain is caught in a ladder.

Of the ko rules it knows that a ko must not be retaken at once.  It reads one chain with few choices, and is told for
what it finds, not for speed.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

DEEPEST = 40  # most moves of the attacker that are read
Line = tuple[int, ...]  # moves of both sides in turn, as points; size * size for a pass
MOST_BOARDS = 2000  # most boards of one reading; a chain that is not caught within them counts as free


class Chain(NamedTuple):
    """Connected stones of one colour; points are row * width + column."""

    colour: int
    stones: frozenset[int]
    liberties: frozenset[int]


class Stones:
    """Stones on a board of `size` x `size` points.

    colours: 1 Black, -1 White, 0 empty, by point.  ko: the point where the next move must not take one stone back.
    """

    def __init__(self, size: int, colours: tuple[int, ...], ko: int | None = None) -> None:
        self.size = size
        self.colours = colours
        self.ko = ko

    @classmethod
    def of(cls, board: np.ndarray) -> "Stones":
        """Return the stones of a board, int8 [N, N]."""
        return cls(len(board), tuple(board.ravel().tolist()))

    def chain(self, point: int) -> Chain:
        """Return the chain of the stone on a point."""
        colour, liberties = self.colours[point], set()
        stones, to_visit = {point}, [point]
        while to_visit:
            for near in neighbours(self.size)[to_visit.pop()]:
                if self.colours[near] == 0:
                    liberties.add(near)
                elif self.colours[near] == colour and near not in stones:
                    stones.add(near)
                    to_visit.append(near)
        return Chain(colour, frozenset(stones), frozenset(liberties))

    def chains(self) -> Iterator[Chain]:
        """Yield every chain of the board, by its first point."""
        seen: set[int] = set()
        for point, colour in enumerate(self.colours):
            if colour and point not in seen:
                chain = self.chain(point)
                seen |= chain.stones
                yield chain

    def touching(self, chain: Chain) -> Iterator[Chain]:
        """Yield the chains of the other colour that touch a chain."""
        around = {p for stone in chain.stones for p in neighbours(self.size)[stone]}
        seen: set[int] = set()
        for point in sorted(around):
            if self.colours[point] == -chain.colour and point not in seen:
                other = self.chain(point)
                seen |= other.stones
                yield other

    def play(self, colour: int, point: int) -> "Stones | None":
        """Return the stones after a move on an empty point; None if it is suicide or takes a ko back."""
        if point == self.ko:
            return None
        colours, captured = list(self.colours), list[int]()
        colours[point] = colour
        after = Stones(self.size, tuple(colours))
        for near in neighbours(self.size)[point]:
            if after.colours[near] == -colour and not (taken := after.chain(near)).liberties:
                captured += taken.stones
                kept = [0 if p in taken.stones else c for p, c in enumerate(after.colours)]
                after = Stones(self.size, tuple(kept))
        own = after.chain(point)
        is_ko = len(captured) == len(own.stones) == len(own.liberties) == 1  # one stone took one, and is in atari
        if is_ko:
            after.ko = captured[0]
        return after if own.liberties else None


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of each point of a board."""
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0))
    return tuple(
        tuple((r + dr) * size + c + dc for dr, dc in steps if 0 <= r + dr < size and 0 <= c + dc < size)
        for r in range(size)
        for c in range(size)
    )


class Reading:
    """The boards that one reading may still look at."""

    def __init__(self, boards: int | None = None) -> None:
        self.left = MOST_BOARDS if boards is None else boards

    def attack(self, stones: Stones, point: int, deep: int = DEEPEST) -> Line | None:
        """Return the moves by which the attacker, who is to move, takes the chain on a point; None if it is free.

        Every move but the last must leave the chain one liberty, so the defender always has to answer.

        deep: most moves of the attacker.
        """
        chain = stones.chain(point)
        if len(chain.liberties) > 2 or deep == 0 or self.left <= 0:
            return None
        for liberty in sorted(chain.liberties):
            after = stones.play(-chain.colour, liberty)
            if after is None:
                continue
            if len(chain.liberties) == 1:
                return (liberty,)
            if (line := self.defend(after, point, deep - 1)) is not None:
                return (liberty, *line)
        return None

    def defend(self, stones: Stones, point: int, deep: int = DEEPEST) -> Line | None:
        """Return the moves that follow if the defender, who moves, cannot save the chain on a point; else None.

        The defender extends at the liberty, or takes a touching chain that has one liberty, and passes if neither is
        possible.  The line is the longest resistance.
        """
        self.left -= 1
        chain = stones.chain(point)
        if len(chain.liberties) > 1:
            return None
        saving = set(chain.liberties)
        saving |= {p for other in stones.touching(chain) if len(other.liberties) == 1 for p in other.liberties}
        longest: Line = (stones.size**2, *chain.liberties)  # a pass, and the chain is taken
        for move in sorted(saving):
            after = stones.play(chain.colour, move)
            if after is None:
                continue
            line = self.attack(after, point, deep)
            if line is None:
                return None
            longest = max((move, *line), longest, key=len)
        return longest


def ladder(stones: Stones, point: int) -> Line | None:
    """Return the moves by which the other side, moving first, takes the chain on a point by a ladder.

    In a ladder every move gives atari until the chain is taken; the defender's moves are between them.  None if the
    chain gets free.
    """
    return Reading().attack(stones, point)
