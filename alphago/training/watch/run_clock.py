"""A run's time: how much of it is over, how much of it the processor had for it, and when it is time to save."""

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

    def set(self, seconds: float, processor: float = 0.0) -> None:
        """From now on so many seconds have been used, so many of them of the processor, and counting."""
        self._began = time.monotonic() - seconds
        self._processor_began = time.process_time() - processor

    @property
    def seconds(self) -> float:
        """Training time so far."""
        return time.monotonic() - self._began

    @property
    def processor(self) -> float:
        """Seconds that cores worked for this process in training time so far, all of its threads together.

        Two busy threads of a machine that nobody else uses come to two seconds a second.  What other programs have, and
        what the machine's host gives to other machines, is not in it.
        """
        return time.process_time() - self._processor_began

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
        before = self.seconds, self.processor
        try:
            yield
        finally:
            self.set(*before)


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
