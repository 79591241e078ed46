"""Capturing races on a board of Go that can be counted: two chains that touch, have no eyes and cannot escape."""

from alphago.env.go_position import GoPosition
from alphago.exams.kinds import races
from alphago.exams.ladders import Chain, Stones
from alphago.ui.why.deeds import stones_of


def won_races(position: GoPosition) -> dict[tuple[Chain, Chain], tuple[int, int]]:
    """Return the races that the side to move wins: by its chain and the other side's chain, their numbers of liberties.

    The two chains race (`is_racing`), touch each other, and share at most one liberty.  The side to move wins if its
    chain has at least as many liberties.
    """
    stones, found = stones_of(position), dict[tuple[Chain, Chain], tuple[int, int]]()
    for chain in stones.chains():
        if chain.colour != position.to_play or not is_racing(stones, chain):
            continue
        for other in stones.touching(chain):
            own, theirs = len(chain.liberties), len(other.liberties)
            shared = len(chain.liberties & other.liberties)
            if own >= theirs and shared <= 1 and is_racing(stones, other):
                found[chain, other] = own, theirs
    return found


def is_racing(stones: Stones, chain: Chain) -> bool:
    """Return whether a chain can only live by winning a race against one chain.

    It has no eye, cannot run or connect, and exactly one of the chains that touch it is weak.
    """
    if not races(stones, chain) or len(chain.liberties) < 2:
        return False
    weak = [other for other in stones.touching(chain) if races(stones, other) or len(other.liberties) < 2]
    return len(weak) == 1 and not any(is_private(stones, chain, point) for point in chain.liberties)


def is_private(stones: Stones, chain: Chain, point: int) -> bool:
    """Return whether a liberty of a chain is an eye: the other side may not play on it."""
    return stones.play(-chain.colour, point) is None
