"""The resignation threshold, calibrated on games that were played to the end: at checkpoints, or during a run."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.records.record import GameRecord

MOST_WRONG = 0.05  # share of wrong resignations; AlphaGo Zero's bound (Silver et al. 2017, Methods, "Self-play")
FEWEST = 50  # resignations that a threshold is judged by
KEPT_SIDES = 1000  # the latest ones, of games that were played out, to which a run's threshold is fitted
NEVER = -1.0  # a threshold below which no value is
# No run resigns above it.  Where one colour has won every game so far, resigning at once has never been wrong; but then
# nothing would be learned of how these games end.
HIGHEST = -0.8

Side = tuple[float, bool]  # of a game: its lowest value, and whether it lost


class Resignation(NamedTuple):
    """A threshold, and how often resigning by it would have been wrong."""

    threshold: float  # a mover whose value after the search is below it resigns
    resigned: int  # how many sides of games would have resigned
    wrong: float  # the share of these sides that did not lose

    def notes(self) -> dict[str, str]:
        """Return the threshold, how many resignations judged it, and the wrong share of these, as texts to save."""
        names = ("resign_threshold", "resignations_judged", "resignations_wrong")
        return dict(zip(names, (f"{self.threshold:.3f}", f"{self.resigned}", f"{self.wrong:.4f}"), strict=True))


def calibrate(records: Sequence[GameRecord], most_wrong: float = MOST_WRONG) -> Resignation | None:
    """Return the threshold that `calibrate_sides` finds on games that were played out.

    Resigned games are left out: how they would have ended is unknown.
    """
    return calibrate_sides([side for record in records for side in sides_of(record)], most_wrong)


def sides_of(record: GameRecord) -> list[Side]:
    """Return both sides of a game that was played out; none of a resigned one."""
    sides: list[Side] = []
    for side in (1, -1):
        values = record.values[record.movers == side]
        if len(values) and not record.resigned:
            sides.append((float(values.min()), record.outcome * side < 0))
    return sides


def calibrate_sides(sides: Sequence[Side], most_wrong: float = MOST_WRONG) -> Resignation | None:
    """Return the highest threshold below 0 at which at most `most_wrong` of all resignations would have been wrong.

    Resigning a drawn game is wrong too.  A side resigns at its first value below the threshold, so only its lowest
    value counts.  None if no threshold has at least FEWEST resignations and few enough wrong ones.
    """
    ordered = sorted(sides)
    values, right = np.array([value for value, _ in ordered]), np.array([lost for _, lost in ordered], np.bool_)
    wrong = np.cumsum(~right) / np.arange(1, len(right) + 1)
    fits = np.flatnonzero((wrong <= most_wrong) & (values < 0))
    fits = fits[fits + 1 >= FEWEST]
    # Equal values resign together: a threshold lies above the last of them.
    for last in fits[::-1]:
        if last + 1 == len(values) or values[last + 1] > values[last]:
            above = min(float(values[last + 1]), 0.0) if last + 1 < len(values) else 0.0
            return Resignation((float(values[last]) + above) / 2, int(last) + 1, float(wrong[last]))
    return None


class AdaptiveThreshold:
    """The threshold of resignation of a run's games on one board, fitted to those that are played out.

    AlphaGo Zero's (Silver et al. 2017, Methods, "Self-play"): in a share of the games no one resigns, and by these the
    threshold is the highest at which at most MOST_WRONG of the resignations would have been wrong; HIGHEST at most.

    threshold: None until one was known; NEVER where no threshold is right often enough any more.
    """

    def __init__(self) -> None:
        self.threshold: float | None = None
        self.sides: deque[Side] = deque(maxlen=KEPT_SIDES)
        self.found: Resignation | None = None

    def add(self, records: Sequence[GameRecord]) -> None:
        """Fit the threshold to further games that were played out."""
        new = [side for record in records for side in sides_of(record)]
        if not new:
            return
        self.sides.extend(new)
        self.found = calibrate_sides(self.sides)
        if self.found is not None:
            self.threshold = min(self.found.threshold, HIGHEST)
        elif self.threshold is not None:
            self.threshold = NEVER

    def state(self) -> dict[str, Any]:
        """Return threshold and sides as plain data."""
        return {"threshold": self.threshold, "sides": list(self.sides)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.threshold = state["threshold"]
        self.sides.extend((value, lost) for value, lost in state["sides"])
        self.found = calibrate_sides(self.sides)
