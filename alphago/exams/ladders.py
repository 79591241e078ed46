"""Read whether a chain is caught in a ladder, on a simple board with chains and liberties.

The only ko rule here is that a ko must not be retaken at once.  The code is written to be simple, not fast.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

DEEPEST = 40  # largest number of the attacker's moves that are read
MOST_BOARDS = 2000  # largest number of boards of one reading; a chain that is not caught by then counts as free
Line = tuple[int, ...]  # moves of both sides in turn, as points; size * size for a pass


class Chain(NamedTuple):
    """Connected stones of one colour; points are row * width + column."""

    colour: int
    stones: frozenset[int]
    liberties: frozenset[int]


class Stones(NamedTuple):
    """Stones on a board of `size` x `size` points.

    Attributes:
        colours: 1 Black, -1 White, 0 empty, by point.
        ko: the point on which the next move would retake a ko, or None.
    """

    size: int
    colours: tuple[int, ...]
    ko: int | None = None

    @classmethod
    def of(cls, board: np.ndarray) -> "Stones":
        """Return the stones of a board, int8 [N, N]."""
        return cls(len(board), tuple(board.ravel().tolist()))

    def chain(self, point: int) -> Chain:
        """Return the chain of the stone on a point."""
        colour = self.colours[point]
        stones, around = self.area(point, colour)
        return Chain(colour, frozenset(stones), frozenset(near for near in around if not self.colours[near]))

    def area(self, point: int, *colours: int) -> tuple[set[int], set[int]]:
        """Return the points that are connected with a point by points of some colours, and the points around them.

        The point itself is among the connected ones, whatever its colour.
        """
        connected, around = {point}, set[int]()
        to_visit = [point]  # connected points whose neighbours were not looked at yet
        while to_visit:
            for near in neighbours(self.size)[to_visit.pop()]:
                if self.colours[near] not in colours:
                    around.add(near)
                elif near not in connected:
                    connected.add(near)
                    to_visit.append(near)
        return connected, around

    def chains(self, points: Iterable[int] | None = None) -> Iterator[Chain]:
        """Yield every chain that has a stone on one of the points, in the order of the points; None for all points."""
        seen: set[int] = set()
        for point in range(self.size**2) if points is None else points:
            if self.colours[point] and point not in seen:
                chain = self.chain(point)
                seen |= chain.stones
                yield chain

    def touching(self, chain: Chain) -> Iterator[Chain]:
        """Yield the chains of the other colour that touch a chain."""
        around = {near for stone in chain.stones for near in neighbours(self.size)[stone]}
        return self.chains(sorted(around - chain.stones))

    def play(self, colour: int, point: int) -> "Stones | None":
        """Return the stones after a move on an empty point; None if the move is suicide or retakes a ko."""
        if point == self.ko:
            return None
        placed = Stones(self.size, (*self.colours[:point], colour, *self.colours[point + 1 :]))
        enemies = [near for near in neighbours(self.size)[point] if self.colours[near] == -colour]
        dead = [chain.stones for chain in placed.chains(enemies) if not chain.liberties]
        captured = set[int]().union(*dead)
        colours = [0 if stone in captured else owner for stone, owner in enumerate(placed.colours)]
        after = Stones(self.size, tuple(colours)) if captured else placed
        own = after.chain(point)
        is_ko = len(captured) == len(own.stones) == len(own.liberties) == 1  # one stone took one and can be taken back
        ko = min(captured) if is_ko else None
        return after._replace(ko=ko) if own.liberties else None  # without liberties it is suicide


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of each point of a board: the points one step away in rows and columns together."""
    places = [divmod(point, size) for point in range(size**2)]  # (row, column)
    return tuple(
        tuple(r * size + c for r, c in places if abs(r - row) + abs(c - column) == 1) for row, column in places
    )


@dataclass
class Reading:
    """One reading of a ladder: a sequence of moves in which every move of the attacker but the last gives atari.

    `attack` and `defend` call each other in turn; a new Reading is made for each chain.

    Attributes:
        boards_left: how many further boards are read at most; each call of `defend` takes one.
    """

    boards_left: int = MOST_BOARDS

    def attack(self, stones: Stones, point: int, depth: int = DEEPEST) -> Line | None:
        """Return the moves by which the attacker, who is to move, takes the chain on a point; None if it escapes.

        Every move of the attacker but the last must leave the chain a single liberty, so the defender has to answer it.

        Args:
            depth: how many moves of the attacker are read at most.
        """
        chain = stones.chain(point)
        if len(chain.liberties) > 2 or depth == 0 or self.boards_left <= 0:
            return None
        for liberty in sorted(chain.liberties):
            after = stones.play(-chain.colour, liberty)
            if after is None:
                continue
            if len(chain.liberties) == 1:  # the move takes the chain
                return (liberty,)
            line = self.defend(after, point, depth - 1)
            if line is not None:
                return (liberty, *line)
        return None

    def defend(self, stones: Stones, point: int, depth: int = DEEPEST) -> Line | None:
        """Return the moves that follow if the defender, who is to move, cannot save the chain on a point; else None.

        The defender extends at the chain's liberty or takes a touching chain that has one liberty; if neither is legal,
        it passes.  The moves returned are the longest resistance.

        Args:
            depth: how many moves of the attacker are read at most.
        """
        self.boards_left -= 1
        chain = stones.chain(point)
        if len(chain.liberties) > 1:
            return None
        answers = set(chain.liberties)
        for other in stones.touching(chain):
            if len(other.liberties) == 1:
                answers |= other.liberties
        longest: Line = (stones.size**2, *chain.liberties)  # a pass, after which the chain is taken
        for move in sorted(answers):
            after = stones.play(chain.colour, move)
            if after is None:
                continue
            line = self.attack(after, point, depth)
            if line is None:  # this answer saves the chain
                return None
            longest = max((move, *line), longest, key=len)
        return longest
