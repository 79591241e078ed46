"""The clock of a run: training time, processor time, and the times at which to save and to stop."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from alphago.system.cores import available_cores
from alphago.system.kernels.cache import compiling_time

# Checkpoint every 60 s, or less often if saving would take over 2 % of the time.
SAVE_EVERY = 60.0
SAVING_SHARE = 0.02

Seconds = Callable[[], float]


class RunClock:
    """A clock of a run's training time and of the processor time during it; one of them may have a limit.

    Judges stop the clock while they judge.  The time in which the first iteration of a process compiles kernels does
    not count.

    Args:
        minutes: the limit; None for no limit.
        by_processor: whether the limit is one of processor time.
        now: function that returns the time in seconds.
        work: function that returns the processor time of this process in seconds.
        compiling: function that returns the time, and the processor time, that this process has spent on compiling
            kernels, in seconds.

    Attributes:
        ready: the value of `spent` at the end of the first iteration; None until then.  Schedules such as the
            curriculum begin here, because the first iteration also loads libraries and kernels.  The limit includes
            this time.
    """

    def __init__(
        self,
        minutes: float | None,
        *,
        by_processor: bool = False,
        now: Seconds = time.monotonic,
        work: Seconds = time.process_time,
        compiling: Callable[[], tuple[float, float]] = lambda: compiling_time.spent,
    ) -> None:
        self._now, self._work, self._compiling = now, work, compiling
        self.by_processor = by_processor
        self._is_first_iteration = True  # of this process; only this iteration compiles kernels
        self.limit = math.inf if minutes is None else 60 * minutes
        self.ready: float | None = None
        self.set(0.0)

    def set(self, seconds: float, processor: float = 0.0) -> None:
        """Set the training time and the processor time so far, in seconds; the clock goes on from there."""
        self._began = self._now() - seconds
        self._processor_began = self._work() - processor
        self._compiling_began = self._compiling()

    def state(self) -> dict[str, Any]:
        """Return the times so far, which `restore` needs, as plain data."""
        return {"seconds": self.seconds, "processor": self.processor, "ready": self.ready}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the times that the method `state` returned."""
        self.set(state["seconds"], state["processor"])
        if state["ready"] is not None:
            # If the limit was of the other kind of time before, the saved value may be more than is spent.
            self.ready = min(state["ready"], self.spent)

    def mark_ready(self) -> None:
        """Note the end of an iteration: set `ready`, unless it is set, and take no more account of compiling."""
        if self._is_first_iteration:
            self.set(self.seconds, self.processor)  # both have no compiling in them now, and none is subtracted later
            self._is_first_iteration = False
        if self.ready is None:
            self.ready = self.spent

    def _compiled(self, kind: int) -> float:
        """Return how long kernels were compiled since `set`, in seconds; kind: 0 for time, 1 for processor time."""
        return self._compiling()[kind] - self._compiling_began[kind] if self._is_first_iteration else 0.0

    @property
    def seconds(self) -> float:
        """The training time so far, in seconds."""
        return self._now() - self._began - self._compiled(0)

    @property
    def processor(self) -> float:
        """Processor time of all threads of this process during training time, in seconds.

        Unlike `seconds`, it does not include time in which other programs used the processor.
        """
        return self._work() - self._processor_began - self._compiled(1)

    @property
    def spent(self) -> float:
        """The time that counts towards the limit: `processor` if the limit is one of processor time, else `seconds`."""
        return self.processor if self.by_processor else self.seconds

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.spent >= self.limit

    @property
    def progress(self) -> float:
        """The share of the time from `ready` to the limit that is over, 0 .. 1; 0 without a limit or before `ready`."""
        if self.is_over:
            return 1.0
        if self.ready is None:
            return 0.0
        return max(0.0, self.spent - self.ready) / (self.limit - self.ready)

    @property
    def remaining(self) -> float:
        """The estimated seconds until the limit is reached; infinity if there is no limit.

        Processor time is converted to time by the ratio of the two so far.  At the beginning the ratio is 1.
        """
        seconds_per_spent = (self.seconds + 1) / (self.processor + 1) if self.by_processor else 1.0
        return max(0.0, self.limit - self.spent) * seconds_per_spent

    @property
    def deadline(self) -> float:
        """The earliest value of time.monotonic() at which the limit can be reached, if nothing is compiled until then.

        For a limit of time it is exact.  Processor time passes at most as fast as with all cores at work.
        """
        return self._now() + (self.limit - self.spent) / (available_cores() if self.by_processor else 1)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock within the `with` block."""
        before = self.seconds, self.processor
        try:
            yield
        finally:
            self.set(*before)


class SavingTimes:
    """The times at which to save checkpoints: every SAVE_EVERY seconds, or less often if saving takes long.

    Args:
        now: function that returns the time in seconds.

    Attributes:
        next: the time of the next checkpoint, as `now` measures it.
    """

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        self.next = now() + SAVE_EVERY

    @property
    def due(self) -> bool:
        """Whether to save a checkpoint now."""
        return self._now() >= self.next

    def schedule_next(self, began: float) -> None:
        """Schedule the next checkpoint after a checkpoint has been written.

        Args:
            began: the time at which writing began, as `now` measures it.
        """
        now = self._now()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)
