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
    """A clock of training time and of its processor time, which judges can stop, with an optional limit of one of them.

    Compiling, which the first iteration of a process may have to do, is no training time.

    `ready`: what was `spent` at the end of the first iteration; None until then.  Schedules such as the curriculum
    begin at `ready`, because the first iteration also loads libraries and kernels.  The limit includes the time before
    `ready`.

    Args:
        minutes: the limit; None for no limit.
        by_processor: whether it is a limit of processor time.
        now, work: functions that return the time, and this process's processor time, in seconds.
        compiling: a function that returns how much of both this process has spent on compiling kernels, in seconds.
    """

    def __init__(
        self,
        minutes: float | None,
        *,
        by_processor: bool = False,
        now: Seconds = time.monotonic,
        work: Seconds = time.process_time,
        compiling: Callable[[], tuple[float, float]] = lambda: (compiling_time.seconds, compiling_time.processor_time),
    ) -> None:
        self._now, self._work, self._compiling = now, work, compiling
        self.by_processor = by_processor
        self._may_compile = True  # until this process has done an iteration
        self.limit = math.inf if minutes is None else 60 * minutes
        self.ready: float | None = None
        self.set(0.0)

    def set(self, seconds: float, processor: float = 0.0) -> None:
        """Set training time and processor time so far, in seconds, and continue from there."""
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
            self.ready = min(state["ready"], self.spent)  # of a run whose limit was of the other time, it may be more

    def mark_ready(self) -> None:
        """Set `ready` to what is `spent` now, unless it is already set; from now on compiling is not looked at."""
        if self._may_compile:
            self.set(self.seconds, self.processor)  # both times without that of compiling so far
            self._may_compile = False
        if self.ready is None:
            self.ready = self.spent

    def _compiled(self, kind: int) -> float:
        """Return the seconds since `_began` in which kernels were compiled, of time (0) or of processor time (1)."""
        return self._compiling()[kind] - self._compiling_began[kind] if self._may_compile else 0.0

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
        """What counts towards the limit, in seconds: `processor` if the limit is of processor time, else `seconds`."""
        return self.processor if self.by_processor else self.seconds

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.spent >= self.limit

    @property
    def progress(self) -> float:
        """The share of what lies between `ready` and the limit that is spent, 0 .. 1; 0 without a limit."""
        if self.is_over:
            return 1.0
        if self.ready is None:
            return 0.0
        return max(0.0, self.spent - self.ready) / (self.limit - self.ready)

    @property
    def remaining(self) -> float:
        """The seconds by the clock until the limit is reached, infinity without one.

        Processor time that is left is converted by the run's use of processors so far, at first that of one core.
        """
        by_the_clock = (self.seconds + 1) / (self.processor + 1) if self.by_processor else 1.0
        return max(0.0, self.limit - self.spent) * by_the_clock

    @property
    def deadline(self) -> float:
        """The value of time.monotonic() before which the limit is not reached; if it is of time, at which it is.

        No more may be compiled until then.
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
        now: returns the time in seconds.  `next`: the time of the next checkpoint, as `now` measures it.
    """

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        self.next = now() + SAVE_EVERY

    @property
    def due(self) -> bool:
        return self._now() >= self.next

    def schedule_next(self, began: float) -> None:
        """Schedule the next checkpoint after a checkpoint has been written.

        Args:
            began: the time at which writing began, as `now` measures it.
        """
        now = self._now()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)
