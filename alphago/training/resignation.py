"""The resignation threshold: calibrate it on games that were played to their ends."""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from alphago.records.record import GameRecord

MOST_WRONG = 0.05  # largest share of wrong resignations, as in AlphaGo Zero (Silver et al. 2017, Methods, "Self-play")
FEWEST = 50  # smallest number of resignations that can justify a threshold
KEPT_SIDES = 1000  # number of latest `Side`s to which a run's threshold is fitted
NEVER = -1.0  # the threshold with which no player resigns, since no value is below it
# Upper bound of a run's threshold.  If one colour has won all games so far, resigning at once would never have been
# wrong.  But then the network would learn nothing about how games end.
HIGHEST = -0.8

Side = tuple[float, bool]  # a player's side of a game: the lowest value after a search, and whether the player lost


class Resignation(NamedTuple):
    """A resignation threshold and its errors on the games to which it was fitted.

    Attributes:
        threshold: a player resigns if the value after the search is below it, -1 .. 1 in that player's view.
        resigned: number of resignations that there would have been in these games.
        wrong: share of these resignations that would have been wrong, 0 .. 1: the player did not lose the game.
    """

    threshold: float
    resigned: int
    wrong: float

    def notes(self) -> dict[str, str]:
        """Return the three fields as texts, by the names under which a checkpoint stores them."""
        return {
            "resign_threshold": f"{self.threshold:.3f}",
            "resignations_judged": f"{self.resigned}",
            "resignations_wrong": f"{self.wrong:.4f}",
        }


def list_sides(records: Iterable[GameRecord]) -> list[Side]:
    """Return the sides that made a move in games, see `Side`.

    Games that ended by resignation are left out, because their true result is unknown.
    """
    sides: list[Side] = []
    for record in records:
        for player in (1, -1):  # Black, White
            values = record.values[(record.movers == player) & (record.weights > 0)]  # 0: a move without a search
            if len(values) and not record.resigned:
                sides.append((float(values.min()), record.outcome * player < 0))
    return sides


def calibrate(sides: Iterable[Side]) -> Resignation | None:
    """Return the highest threshold below 0 at which at most the share MOST_WRONG of resignations would be wrong.

    A player resigns if the lowest value of the game is below the threshold.  The resignation is wrong unless the player
    lost the game.  At all thresholds between two successive lowest values the same players resign.  So the result is
    the middle of the highest such gap that is good enough.

    Returns:
        The threshold with its errors on these games; None if there is none with at least FEWEST resignations.
    """
    ordered = sorted(sides)
    lowest = np.array([value for value, _ in ordered])
    lost = np.array([lost for _, lost in ordered], np.bool_)
    # Entry i of these two arrays: the number of resignations, and the share of wrong ones, if the sides 0 .. i resign.
    resigned = np.arange(1, len(lost) + 1)
    wrong = np.cumsum(~lost) / resigned
    next_lowest = np.append(lowest[1:], math.inf)
    is_gap = lowest < next_lowest  # a threshold fits between these two; sides of equal value resign together
    is_good = (wrong <= MOST_WRONG) & (lowest < 0) & (resigned >= FEWEST)
    candidates = np.flatnonzero(is_gap & is_good)
    if not len(candidates):
        return None
    last = candidates[-1]
    # The middle of the gap, which ends at the next side's lowest value, or at 0.
    threshold = (float(lowest[last]) + min(float(next_lowest[last]), 0.0)) / 2
    return Resignation(threshold, int(resigned[last]), float(wrong[last]))


class AdaptiveThreshold:
    """The resignation threshold of a run on one board, fitted to the latest games without resignation.

    As in AlphaGo Zero (Silver et al. 2017, Methods, "Self-play"), resignation is disabled in a share of the games.  The
    threshold is what `calibrate` finds on these games, but at most HIGHEST.

    Attributes:
        threshold: the threshold; None until it is found for the first time, and NEVER if later games allow no
            threshold.
    """

    def __init__(self) -> None:
        self.threshold: float | None = None
        self.sides: deque[Side] = deque(maxlen=KEPT_SIDES)
        self.fit: Resignation | None = None  # the result of `calibrate` for `sides`

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add finished games and fit the threshold again; games that ended by resignation are ignored."""
        new_sides = list_sides(records)
        if not new_sides:
            return
        self.sides.extend(new_sides)
        self.fit = calibrate(self.sides)
        if self.fit is not None:
            self.threshold = min(self.fit.threshold, HIGHEST)
        elif self.threshold is not None:  # later games refute the threshold of earlier games
            self.threshold = NEVER

    def state(self) -> dict[str, Any]:
        """Return the threshold and the kept `Side`s as plain data."""
        return {"threshold": self.threshold, "sides": list(self.sides)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the data that the method `state` returned."""
        self.threshold = state["threshold"]
        self.sides.extend((value, lost) for value, lost in state["sides"])  # tuples, which JSON has as lists
        self.fit = calibrate(self.sides)
