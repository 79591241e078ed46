"""The resignation threshold, calibrated on games without resignation: at checkpoints, or continuously in a run."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.records.record import GameRecord

MOST_WRONG = 0.05  # share of wrong resignations; AlphaGo Zero's bound (Silver et al. 2017, Methods, "Self-play")
FEWEST = 50  # smallest number of resignations that can justify a threshold
KEPT_SIDES = 1000  # number of latest sides of games to which a run's threshold is fitted
NEVER = -1.0  # the threshold of no resignation: no value is below it
# Upper bound of a run's threshold.  If one colour has won all games so far, resigning at once would never have been
# wrong; but then the network would learn nothing about how these games end.
HIGHEST = -0.8

Side = tuple[float, bool]  # one player's game: the lowest value after a search, and whether the player lost


class Resignation(NamedTuple):
    """A resignation threshold and its errors on the games to which it was fitted.

    threshold: a player resigns if the value after the search is below it, -1 .. 1 in that player's view.
    resigned: number of resignations that there would have been in these games.
    wrong: share of these resignations, 0 .. 1, by a player who did not lose the game.
    """

    threshold: float
    resigned: int
    wrong: float

    def notes(self) -> dict[str, str]:
        """Return the three fields as texts, by the names under which a checkpoint stores them."""
        names = ("resign_threshold", "resignations_judged", "resignations_wrong")
        return dict(zip(names, (f"{self.threshold:.3f}", f"{self.resigned}", f"{self.wrong:.4f}"), strict=True))


def calibrate(records: Sequence[GameRecord], most_wrong: float = MOST_WRONG) -> Resignation | None:
    """Return the threshold that `calibrate_sides` finds on games; None if there is no such threshold.

    Games that ended by resignation are left out, because their true result is unknown.

    most_wrong: largest share of wrong resignations.
    """
    return calibrate_sides([side for record in records for side in sides_of(record)], most_wrong)


def sides_of(record: GameRecord) -> list[Side]:
    """Return for each player of a game a `Side`: the lowest search value, and whether the player lost.

    The list is empty if the game ended by resignation.
    """
    sides: list[Side] = []
    for side in (1, -1):
        values = record.values[record.movers == side]
        if len(values) and not record.resigned:
            sides.append((float(values.min()), record.outcome * side < 0))
    return sides


def calibrate_sides(sides: Sequence[Side], most_wrong: float = MOST_WRONG) -> Resignation | None:
    """Return the highest threshold below 0 at which at most the share `most_wrong` of resignations would be wrong.

    A player resigns if the lowest value of the game is below the threshold; that is wrong unless the player lost.
    Returns None if no threshold with at least FEWEST resignations meets the bound.
    """
    ordered = sorted(sides)
    lowest, lost = np.array([value for value, _ in ordered]), np.array([lost for _, lost in ordered], np.bool_)
    resigned = np.arange(1, len(lost) + 1)  # number of resignations if the side at this place is the last to resign
    wrong = np.cumsum(~lost) / resigned
    for last in np.flatnonzero((wrong <= most_wrong) & (lowest < 0) & (resigned >= FEWEST))[::-1]:
        value, next_value = float(lowest[last]), float(lowest[last + 1]) if last + 1 < len(lowest) else math.inf
        if value < next_value:  # sides of equal lowest value resign together
            threshold = (value + min(next_value, 0.0)) / 2
            return Resignation(threshold, int(resigned[last]), float(wrong[last]))
    return None


class AdaptiveThreshold:
    """The resignation threshold of a run on one board, fitted to the latest games without resignation.

    As in AlphaGo Zero (Silver et al. 2017, Methods, "Self-play"), resignation is disabled in a share of the games.  The
    threshold is the one that `calibrate_sides` finds on these games, but at most HIGHEST.

    threshold: the threshold; None until it is found for the first time, and NEVER if later games allow no threshold.
    """

    def __init__(self) -> None:
        self.threshold: float | None = None
        self.sides: deque[Side] = deque(maxlen=KEPT_SIDES)
        self.found: Resignation | None = None

    def add(self, records: Sequence[GameRecord]) -> None:
        """Add finished games and fit the threshold again; games that ended by resignation are ignored."""
        new = [side for record in records for side in sides_of(record)]
        if not new:
            return
        self.sides.extend(new)
        self.found = calibrate_sides(self.sides)
        if self.found is not None:
            self.threshold = min(self.found.threshold, HIGHEST)
        elif self.threshold is not None:  # the one of earlier games is refuted
            self.threshold = NEVER

    def state(self) -> dict[str, Any]:
        """Return the threshold and the kept `Side`s as plain data."""
        return {"threshold": self.threshold, "sides": list(self.sides)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the data that the method `state` returned."""
        self.threshold = state["threshold"]
        self.sides.extend((value, lost) for value, lost in state["sides"])
        self.found = calibrate_sides(self.sides)
