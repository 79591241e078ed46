"""The resignation threshold, calibrated on games that were played to the end."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphago.records.record import GameRecord

MOST_WRONG = 0.05  # share of wrong resignations; AlphaGo Zero's bound (Silver et al. 2017, Methods, "Self-play")
FEWEST = 50  # resignations that a threshold is judged by


class Resignation(NamedTuple):
    """A threshold, and how often resigning by it would have been wrong."""

    threshold: float  # a mover whose value after the search is below it resigns
    resigned: int  # how many sides of games would have resigned
    wrong: float  # the share of these sides that did not lose

    def notes(self) -> dict[str, str]:
        """Return the threshold and its basis as texts to save with the network's weights."""
        names = ("resign_threshold", "resignations_judged", "resignations_wrong")
        return dict(zip(names, (f"{self.threshold:.3f}", f"{self.resigned}", f"{self.wrong:.4f}"), strict=True))


def calibrate(records: Sequence[GameRecord], most_wrong: float = MOST_WRONG) -> Resignation | None:
    """Return the highest threshold below 0 at which at most `most_wrong` of all resignations would have been wrong.

    Resigning a drawn game is wrong too.  Games that ended by resignation are left out: how they would have ended is
    unknown.  A side resigns at its first value below the threshold, so only its lowest value counts.  None if no
    threshold has at least FEWEST resignations and few enough wrong ones.
    """
    lowest: list[float] = []
    lost: list[bool] = []
    for record in records:
        for side in (1, -1):
            values = record.values[record.movers == side]
            if len(values) and not record.resigned:
                lowest.append(float(values.min()))
                lost.append(record.outcome * side < 0)
    order = np.argsort(lowest)
    values, right = np.array(lowest)[order], np.array(lost, np.bool_)[order]
    wrong = np.cumsum(~right) / np.arange(1, len(right) + 1)
    fits = np.flatnonzero((wrong <= most_wrong) & (values < 0))
    fits = fits[fits + 1 >= FEWEST]
    # Equal values resign together: a threshold lies above the last of them.
    for last in fits[::-1]:
        if last + 1 == len(values) or values[last + 1] > values[last]:
            above = min(float(values[last + 1]), 0.0) if last + 1 < len(values) else 0.0
            return Resignation((float(values[last]) + above) / 2, int(last) + 1, float(wrong[last]))
    return None
