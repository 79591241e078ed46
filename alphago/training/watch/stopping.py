"""What ends a run between two moves: Ctrl-C, and the time of a slice."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Lets the first Ctrl-C set `stop`, so that a run ends between two moves; a second one interrupts at once."""

    interrupted = threading.Event()  # beside `stop`, which may have another reason

    def handle(number: int, frame: Any) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def stopped_at(deadline: float | None, stop: threading.Event) -> Iterator[None]:
    """Sets `stop` at that time (of time.monotonic()), unless the block is over before; None: never."""
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
