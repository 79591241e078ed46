"""Capturing races on a board of Go that can be counted: two chains without eyes that touch and cannot get away."""

from alphago.env.go_position import GoPosition
from alphago.exams.kinds import races
from alphago.exams.ladders import Chain, Stones
from alphago.ui.why.deeds import stones_of


def won_races(position: GoPosition) -> dict[tuple[Chain, Chain], tuple[int, int]]:
    """Return the races that the side to move wins: its chain and the other one, with their liberties.

    Told are races of two chains, each of which touches no other weak one, that share at most one liberty.  The side to
    move wins if it has at least as many liberties, and a chain in reach of more liberties is in no race.
    """
    stones, found = stones_of(position), dict[tuple[Chain, Chain], tuple[int, int]]()
    for chain in stones.chains():
        if chain.colour != position.to_play or not is_racing(stones, chain):
            continue
        for other in stones.touching(chain):
            own, theirs = len(chain.liberties), len(other.liberties)
            if is_racing(stones, other) and len(chain.liberties & other.liberties) <= 1 and own >= theirs:
                found[chain, other] = own, theirs
    return found


def is_racing(stones: Stones, chain: Chain) -> bool:
    """Return whether a chain has no eye, cannot run or connect, and all but one of the chains around it are safe."""
    if not races(stones, chain) or len(chain.liberties) < 2:
        return False
    weak = [other for other in stones.touching(chain) if races(stones, other) or len(other.liberties) < 2]
    return len(weak) == 1 and not any(is_private(stones, chain, point) for point in chain.liberties)


def is_private(stones: Stones, chain: Chain, point: int) -> bool:
    """Return whether the other side could not fill a liberty of a chain at once, as it is an eye of it."""
    return stones.play(-chain.colour, point) is None
