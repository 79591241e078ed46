"""What the best move of Go keeps and another move gives up, by the forecasts of the board after each of them."""

from collections.abc import Iterator

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Reading
from alphago.ui.why.deeds import BOARDS, group_of, is_in_ko, share_of, stones_of
from alphago.ui.why.facts import ChangesOwner, Fact, Gains
from alphago.ui.why.tried import Searched, Tried

SAFER = 0.3  # least difference of a chain's chance to survive; from here on a strong judge nearly always sees one too
SAVED, AT_RISK = 0.7, 0.5  # its least chance after the best move, and its most after the played one
BETTER = 0.4  # least difference at a point of an area, on the scale of ownership -1 .. 1
LEAST_AREA = 6.0  # least estimated points of an area that is told: the judge nearly always sees it gain too


def kept_by_best(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return the chain that the best move saves and the played move does not, as a list with one fact.

    It is the one with most at stake; neither a stone that is in a ko, nor a chain that can be taken after the best move
    too.  If there is none, return the area that the best move gains most.  Returns [] if there is neither, or if the
    network forecasts no ownership.
    """
    best_owners, owners = seen.after_best.ownership, seen.after.ownership
    if best_owners is None or owners is None or tried.action == tried.best:
        return []
    mover, action, best = tried.mover, tried.action, tried.best
    kept = list[ChangesOwner]()
    stones, after_best = stones_of(tried.position), stones_of(tried.after_best)
    for chain in stones.chains():
        if chain.colour != mover or is_in_ko(stones, chain):
            continue
        is_taken_anyway = Reading(BOARDS).attack(after_best, min(chain.stones)) is not None
        if is_taken_anyway:
            continue
        best_share, share = share_of(best_owners, chain.stones, mover), share_of(owners, chain.stones, mover)
        if best_share >= SAVED and share <= AT_RISK and best_share - share >= SAFER:
            kept.append(ChangesOwner(mover, action, best, group_of(chain), best_share=best_share, share=share))
    if kept:
        return [max(kept, key=lambda fact: fact.group.stones * (fact.best_share - fact.share))]
    change = (mover * (best_owners - owners)).ravel()
    area = max(areas(change, tried.position.env.N), key=lambda points: change[points].sum(), default=[])
    if (gained := float(change[area].sum())) < LEAST_AREA:
        return []
    centre = middle(area, change, tried.position.env.N)
    losses = {  # of the other side's chains in the area: part of the chance to survive
        chain: share_of(owners, chain.stones, -mover) - share_of(best_owners, chain.stones, -mover)
        for chain in stones.chains()
        if chain.colour == -mover and chain.stones & set(area)
    }
    weakest = max(losses, key=lambda chain: len(chain.stones) * losses[chain], default=None)
    weakened = group_of(weakest) if weakest and losses[weakest] >= SAFER else None
    return [Gains(mover, action, best=best, centre=centre, points=gained, weakened=weakened)]


def areas(change: np.ndarray, size: int) -> Iterator[list[int]]:
    """Yield the areas of points that become better by more than BETTER; change: [size * size].

    Points that touch, also diagonally, are in one area.
    """
    left = set(np.flatnonzero(change > BETTER).tolist())
    while left:
        area = [left.pop()]
        for point in area:  # the list grows by the points that touch this one
            row, column = divmod(point, size)
            touching = {other for other in left if max(abs(other // size - row), abs(other % size - column)) <= 1}
            left -= touching
            area += sorted(touching)
        yield area


def middle(area: list[int], change: np.ndarray, size: int) -> int:
    """Return the point of an area that is nearest to its centre of gravity; the weight of a point is its change."""
    points = np.array(sorted(area))
    rows, columns = np.divmod(points, size)
    weights = change[points]
    centre_row, centre_column = np.average(rows, weights=weights), np.average(columns, weights=weights)
    distances = (rows - centre_row) ** 2 + (columns - centre_column) ** 2
    return int(points[distances.argmin()])
