"""A run's time: how much of it is over, and when it is time to save."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

SAVE_EVERY = 60.0  # seconds between checkpoints, at most,
SAVING_SHARE = 0.02  # unless writing them takes a greater share of the time than this


class RunClock:
    """Training time, which stands still during examinations and may have a limit.

    minutes: the limit; None for none.
    ready: the training time at the end of the first iteration, in which kernels are compiled that are not yet; None
        until then.  It counts for the limit, but schedules begin there: on a slow machine compiling takes more of a
        short run than a curriculum's first board has.
    """

    def __init__(self, minutes: float | None) -> None:
        self.limit = math.inf if minutes is None else 60 * minutes
        self.ready: float | None = None
        self.set(0.0)

    def set(self, seconds: float) -> None:
        """From now on so many seconds have been used, and counting."""
        self._began = time.monotonic() - seconds

    @property
    def seconds(self) -> float:
        """Training time so far."""
        return time.monotonic() - self._began

    @property
    def used(self) -> float:
        """The share of the limit that is over, more than 1 after it; 0 without a limit."""
        return self.seconds / self.limit

    @property
    def progress(self) -> float:
        """The share of the time from `ready` to the limit that is over; 0 without a limit."""
        if self.used >= 1.0:
            return 1.0
        return 0.0 if self.ready is None else max(0.0, self.seconds - self.ready) / (self.limit - self.ready)

    @property
    def deadline(self) -> float:
        """The time (of time.monotonic()) at which the limit is reached."""
        return self._began + self.limit

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The time within does not count."""
        before = self.seconds
        try:
            yield
        finally:
            self.set(before)


class SavingTimes:
    """When to save: `next` is a time of time.monotonic()."""

    def __init__(self) -> None:
        self.next = time.monotonic() + SAVE_EVERY

    @property
    def due(self) -> bool:
        return time.monotonic() >= self.next

    def saved(self, began: float) -> None:
        """A checkpoint that was begun then (of time.monotonic()) is written."""
        now = time.monotonic()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)
