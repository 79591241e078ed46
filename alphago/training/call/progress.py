"""The progress of a run: its share, the current activity, and an estimate of the remaining time."""

import math
from collections import deque

from alphago.system.stopwatch import EXAMINATION, MATCHES, OPTIMIZER, PLAYING, PUBLISHING, SAMPLING, SAVING
from alphago.training.history import Row
from alphago.training.run import Run
from alphago.training.watch.report import Progress, Report

LATEST = 20  # number of latest iterations over which the speed is averaged: games end in some of them only
ACTIVITIES = {
    PLAYING.name: "playing",
    OPTIMIZER.name: "learning",
    SAMPLING.name: "learning",
    PUBLISHING.name: "preparing the new network",
    SAVING.name: "saving",
    MATCHES.name: "playing a match",
    EXAMINATION.name: "playing the opponent",
}


class RunProgress(Report):
    """A report that estimates a run's progress; calling it, at any time and from any thread, returns the progress.

    The remaining time is estimated from the remaining games and the speed of the latest iterations.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        # The totals of the run when this object was created, then the rows of metrics.jsonl.
        first: Row = {"games": run.games, "seconds": run.clock.seconds}
        self.rows = deque([first], LATEST + 1)

    def iteration(self, metrics: Row) -> None:
        """Take the end of an iteration into account."""
        self.rows.append(metrics)

    def __call__(self) -> Progress:
        """Return the progress of the run at this moment."""
        run = self.run
        remaining, now = self.remaining(), run.clock.seconds
        share = run.progress if remaining is None else now / max(now + remaining, 1e-9)  # no division by 0
        kind, seconds = run.stopwatch.current
        return Progress(min(1.0, share), remaining, ACTIVITIES.get(kind, ""), seconds)

    def remaining(self) -> float | None:
        """Return the estimated seconds until the run ends, 0 when it is over; None while the speed is unknown."""
        if self.run.is_over:  # perhaps with gradient steps that are never taken
            return 0.0
        remaining, settings = self.run.clock.remaining, self.run.settings
        times = [] if math.isinf(remaining) else [remaining]
        first, last = self.rows[0], self.rows[-1]
        if settings.num_games is not None and (done := last["games"] - first["games"]):
            times.append((settings.num_games - last["games"]) * (last["seconds"] - first["seconds"]) / done)
        return min(times, default=None)
