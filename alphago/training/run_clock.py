"""The clock of a run: training time, processor time, and the times at which to save and to stop."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alphago.system.cores import available_cores
from alphago.system.kernels.cache import compiling_time

# Checkpoint every 60 s, or less often if saving would take over 2 % of the time.
SAVE_EVERY = 60.0
SAVING_SHARE = 0.02
TIME, PROCESSOR = 0, 1  # indices in the pair `compiling_time.spent`


class RunClock:
    """A clock of a run's training time and of the processor time during it; one of them may have a limit.

    Judges stop the clock while they judge.  The time in which the first iteration of a process compiles kernels does
    not count.

    Args:
        minutes: the limit; None for no limit.
        by_processor: whether the limit is one of processor time.

    Attributes:
        ready: the value of `spent` at the end of the first iteration; None until then.  Schedules such as the
            curriculum begin here, because the first iteration also loads libraries and kernels.  The limit includes
            this time.
    """

    def __init__(self, minutes: float | None, *, by_processor: bool = False) -> None:
        self.by_processor = by_processor
        self._is_first_iteration = True  # of this process; only this iteration compiles kernels
        self.limit = math.inf if minutes is None else 60 * minutes
        self.ready: float | None = None  # `spent`, in seconds, at the end of the run's first iteration
        self.go_on_from(0.0)

    def go_on_from(self, seconds: float, processor: float = 0.0) -> None:
        """Set the training time and the processor time so far, in seconds; the clock goes on from there."""
        self._began = time.monotonic() - seconds
        self._processor_began = time.process_time() - processor
        self._compiling_began = compiling_time.spent  # a pair, with the indices TIME and PROCESSOR

    def state(self) -> dict[str, Any]:
        """Return the times so far, which `restore` needs, as plain data."""
        return {"seconds": self.seconds, "processor": self.processor, "ready": self.ready}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the times that the method `state` returned."""
        self.go_on_from(state["seconds"], state["processor"])
        if state["ready"] is not None:
            # `ready` is the time spent until the end of the run's first iteration: training time or processor time,
            # whichever had a limit then.  If the other one has a limit now, the saved value may be more than `spent`.
            self.ready = min(state["ready"], self.spent)

    def end_iteration(self) -> None:
        """Note the end of an iteration: from now on, compiling counts as other work.

        At the end of the run's first iteration, put the time spent so far into `ready`.
        """
        if self._is_first_iteration:
            # `seconds` and `processor` exclude compiling only within the first iteration.  Without this call they would
            # now jump by the time of compiling.
            self.go_on_from(self.seconds, self.processor)
            self._is_first_iteration = False
        if self.ready is None:
            self.ready = self.spent

    def _compiled(self, kind: int) -> float:
        """Return for how many seconds the first iteration has compiled kernels since `go_on_from`; 0 after it.

        kind: TIME or PROCESSOR, for the processor time.
        """
        return compiling_time.spent[kind] - self._compiling_began[kind] if self._is_first_iteration else 0.0

    @property
    def seconds(self) -> float:
        """The training time so far, in seconds."""
        return time.monotonic() - self._began - self._compiled(TIME)

    @property
    def processor(self) -> float:
        """Processor time of all threads of this process during training time, in seconds.

        Unlike `seconds`, it does not include time in which other programs used the processor.
        """
        return time.process_time() - self._processor_began - self._compiled(PROCESSOR)

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
        # While a resumed run compiles kernels, `spent` may be less than `ready` for a moment.
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
        """The earliest value of time.monotonic() at which the limit can be reached.

        A limit of time is reached then, or later if kernels are compiled before, since that time does not count.  A
        limit of processor time is reached then if all cores work until then, otherwise later.
        """
        return time.monotonic() + (self.limit - self.spent) / (available_cores() if self.by_processor else 1)

    @contextmanager
    def not_counting(self) -> Iterator[None]:
        """Leave the time of the `with` block out: the clock goes on in the block, and is put back at its end."""
        before = self.seconds, self.processor
        try:
            yield
        finally:
            self.go_on_from(*before)


class SavingTimes:
    """The times at which to save checkpoints: every SAVE_EVERY seconds, or less often if saving takes long.

    Attributes:
        next: the value of time.monotonic() from which the next checkpoint is due.
    """

    def __init__(self) -> None:
        self.next = time.monotonic() + SAVE_EVERY

    def schedule_next(self, began: float) -> None:
        """Schedule the next checkpoint after a checkpoint has been written.

        Args:
            began: the value of time.monotonic() at which writing began.
        """
        now = time.monotonic()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)
