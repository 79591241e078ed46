"""The clock of a run: training time, processor time, and when to save and to stop."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Checkpoint every 60 s, or less often if saving would take over 2 % of the time.
SAVE_EVERY = 60.0
SAVING_SHARE = 0.02
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C; docker stop, Slurm, timeout; a terminal that is closed

Seconds = Callable[[], float]


class RunClock:
    """Training time, which is stopped during examinations and may have a limit.

    `ready` is the training time at the end of the first iteration, in which kernels are compiled; None until then.  It
    counts towards the limit, but schedules begin there, since compiling may take longer than a curriculum's first
    board.

    now, work: return the time and the processor time of this process, in seconds.
    """

    def __init__(
        self, minutes: float | None, *, now: Seconds = time.monotonic, work: Seconds = time.process_time
    ) -> None:
        self._now, self._work = now, work
        self.limit = math.inf if minutes is None else 60 * minutes
        self.ready: float | None = None
        self.set(0.0)

    def set(self, seconds: float, processor: float = 0.0) -> None:
        """Continue from these seconds of training time and processor time."""
        self._began = self._now() - seconds
        self._processor_began = self._work() - processor

    def state(self) -> dict[str, Any]:
        """Return what the clock needs to continue, as plain data."""
        return {"seconds": self.seconds, "processor": self.processor, "ready": self.ready}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.set(state["seconds"], state["processor"])
        self.ready = state["ready"]

    def mark_ready(self) -> None:
        """Let schedules begin now, unless they have already begun."""
        if self.ready is None:
            self.ready = self.seconds

    @property
    def seconds(self) -> float:
        """The training time so far, in seconds."""
        return self._now() - self._began

    @property
    def processor(self) -> float:
        """Processor time of all threads of this process within training time, in seconds.

        Unlike `seconds` it does not grow because other programs, or machines on the same host, are busy.
        """
        return self._work() - self._processor_began

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds >= self.limit

    @property
    def progress(self) -> float:
        """The share of the time from `ready` to the limit that is over, 0 .. 1; 0 without a limit."""
        if self.is_over:
            return 1.0
        return 0.0 if self.ready is None else max(0.0, self.seconds - self.ready) / (self.limit - self.ready)

    @property
    def deadline(self) -> float:
        """The time (of time.monotonic()) at which the limit is reached."""
        return self._began + self.limit

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock within the block."""
        before = self.seconds, self.processor
        try:
            yield
        finally:
            self.set(*before)


class SavingTimes:
    """When to save the next checkpoint; `next` is a time of `now`."""

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        self.next = now() + SAVE_EVERY

    @property
    def due(self) -> bool:
        return self._now() >= self.next

    def saved(self, began: float) -> None:
        """Note that a checkpoint has been written that was begun at the time `began` (of `now`)."""
        now = self._now()
        self.next = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)


@contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Have the first Ctrl-C in the block set `stop`, so that a run ends between two moves; the second interrupts.

    SIGTERM and SIGHUP do the same, and end the process after the block: SystemExit with 128 and the signal's number.
    """
    received: list[int] = []  # `stop` may be set for another reason

    def handle(number: int, frame: Any) -> None:
        received.append(number)
        stop.set()
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
    for number in handled:  # signals that nohup ignores, or that a program handles itself, stay so
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
    if received and received[-1] != signal.SIGINT:
        end()


@contextmanager
def stopped_at(deadline: float | None, stop: threading.Event) -> Iterator[None]:
    """Set `stop` at the time `deadline` (of time.monotonic()) if that is within the block; None: never."""
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
