"""What the best move of Go keeps and another one gives up, by the forecasts of the board after both."""

from collections.abc import Iterator

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.ui.why.deeds import group_of, share_of, stones_of
from alphago.ui.why.facts import SURE_PART, ChangesOwner, Fact, Gains
from alphago.ui.why.tried import Searched, Tried

SAFER = 0.3  # a chain's chance to survive differs by this: a strong judge then nearly always sees a difference too
LIKELY = 0.6  # chance that the best move gives what it saves, or takes: a move that saves nothing is no reason
BETTER = 0.4  # a point of an area is forecast better by this, on the scale of ownership -1 .. 1
LEAST_AREA = 1.5 / SURE_PART  # estimated points of a difference that is told: it is surely 2 or more, rounded
MOST_CHAINS = 2


def kept_by_best(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return the chains that the best move saves or takes, unlike this one, or else the area that is better after it.

    The largest of either; [] if there is none, or if the network forecasts no ownership.
    """
    best_owners, owners = seen.best.ownership, seen.after.ownership
    if best_owners is None or owners is None or tried.action == tried.best:
        return []
    mover, action, best = tried.mover, tried.action, tried.best
    kept = list[ChangesOwner]()
    for chain in stones_of(tried.position).chains():
        best_share, share = (share_of(view, chain.stones, mover) for view in (best_owners, owners))
        if best_share >= LIKELY and best_share - share >= SAFER:
            shares = (best_share, share) if chain.colour == mover else (1 - best_share, 1 - share)  # of its own side
            kept.append(ChangesOwner(mover, action, best, group_of(chain), *shares))
    if kept:
        kept.sort(key=lambda fact: -fact.group.stones * abs(fact.share - fact.best_share))  # most at stake first
        return [*kept[:MOST_CHAINS]]
    change = (mover * (best_owners - owners)).ravel()
    area = max(areas(change, tried.position.env.N), key=lambda points: change[points].sum(), default=[])
    if (gained := float(change[area].sum())) < LEAST_AREA:
        return []
    return [Gains(mover, action, best, middle(area, change, tried.position.env.N), gained)]


def areas(change: np.ndarray, size: int) -> Iterator[list[int]]:
    """Yield the points that become better by BETTER, in groups that touch, also by a corner; change: [size * size]."""
    left = set(np.flatnonzero(change > BETTER).tolist())
    while left:
        area = [left.pop()]
        for point in area:  # which grows
            row, column = divmod(point, size)
            near = {p for p in left if max(abs(p // size - row), abs(p % size - column)) <= 1}
            left -= near
            area += sorted(near)
        yield area


def middle(area: list[int], change: np.ndarray, size: int) -> int:
    """Return the point of an area that is nearest to its centre of gravity, each point weighed by its change."""
    rows, columns = np.divmod(np.array(sorted(area)), size)
    weights = change[sorted(area)]
    far = (rows - np.average(rows, weights=weights)) ** 2 + (columns - np.average(columns, weights=weights)) ** 2
    return sorted(area)[int(far.argmin())]
