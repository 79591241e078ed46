"""The clock of a run: training time, processor time, and the times at which to save and to stop."""

import math
import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from alphago.system.kernels.cache import compiling_time

# Checkpoint every 60 s, or less often if saving would take over 2 % of the time.
SAVE_EVERY = 60.0
SAVING_SHARE = 0.02
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # sent by Ctrl-C; by docker stop, Slurm, timeout; by a closed terminal

Seconds = Callable[[], float]


class RunClock:
    """A clock of training time, which judges can stop, with an optional limit.

    minutes: the limit of training time; None for no limit.
    now, work, compiling: functions that return the time, this process's processor time, and the time that it has spent
        on compiling kernels, in seconds.

    Compiling, which the first iteration of a process may have to do, is no training time.

    `ready`: seconds of training time at the end of the first iteration; None until then.  Schedules such as the
    curriculum begin at `ready`, because the first iteration also loads libraries and kernels.  The limit includes the
    time before `ready`.
    """

    def __init__(
        self,
        minutes: float | None,
        *,
        now: Seconds = time.monotonic,
        work: Seconds = time.process_time,
        compiling: Seconds = lambda: compiling_time.seconds,
    ) -> None:
        self._now, self._work, self._compiling = now, work, compiling
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
        self.ready = state["ready"]

    def mark_ready(self) -> None:
        """Set `ready` to the present training time, unless it is already set; nothing is compiled any more."""
        if self._may_compile:
            self.set(self.seconds, self.processor)
            self._may_compile = False
        if self.ready is None:
            self.ready = self.seconds

    @property
    def _compiled(self) -> float:
        """Seconds since `_began` in which kernels were compiled."""
        return self._compiling() - self._compiling_began if self._may_compile else 0.0

    @property
    def seconds(self) -> float:
        """The training time so far, in seconds."""
        return self._now() - self._began - self._compiled

    @property
    def processor(self) -> float:
        """Processor time of all threads of this process during training time, in seconds.

        Unlike `seconds`, it does not include time in which other programs used the processor.
        """
        return self._work() - self._processor_began

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds >= self.limit

    @property
    def progress(self) -> float:
        """The share of the time between `ready` and the limit that has passed, 0 .. 1; 0 without a limit."""
        if self.is_over:
            return 1.0
        if self.ready is None:
            return 0.0
        return max(0.0, self.seconds - self.ready) / (self.limit - self.ready)

    @property
    def deadline(self) -> float:
        """The value of time.monotonic() at which the limit is reached if no more is compiled."""
        return self._began + self._compiled + self.limit

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

        began: the time at which writing began, as `now` measures it.
        """
        now = self._now()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)


@contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on the first Ctrl-C in the `with` block; raise KeyboardInterrupt on the second.

    SIGTERM and SIGHUP set `stop` too.  After the block, or on a second signal, they raise SystemExit with 128 + the
    signal's number.  A SIGTERM or SIGHUP that is ignored or already has a handler is left as it is.  After SIGHUP
    nothing is written to the closed terminal.  Outside the main thread this context does nothing.
    """
    received: list[int] = []  # the signals received; `stop` may also be set for another reason

    def handle(number: int, frame: object) -> None:
        received.append(number)
        stop.set()
        if signal.Signals(number).name == "SIGHUP":
            drop_terminal_output()
        if len(received) > 1:
            end()

    def end() -> None:
        raise KeyboardInterrupt if received[-1] == signal.SIGINT else SystemExit(128 + received[-1])

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in signals}
    handled = [number for number in signals if number == signal.SIGINT or before[number] == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
    if received and received[-1] != signal.SIGINT:
        end()


def drop_terminal_output() -> None:
    """Write to nowhere from now on, instead of to a terminal that is closed, where every write fails."""
    for descriptor in (1, 2):  # standard output and error
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextmanager
def stopped_at(deadline: float | None, stop: threading.Event) -> Iterator[None]:
    """Set `stop` when time.monotonic() reaches `deadline` within the `with` block; never if `deadline` is None."""
    if deadline is None:
        yield
        return
    timer = threading.Timer(max(0.0, deadline - time.monotonic()), stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
