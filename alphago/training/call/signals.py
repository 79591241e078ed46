"""Stop a run by a signal or at a deadline, such that it is saved before the process ends."""

import contextlib
import os
import signal
import stat
import threading
import time
from collections.abc import Iterator

# The signals that stop a run.  SIGINT: Ctrl-C.  SIGTERM: docker stop, Slurm, timeout.  SIGHUP: the terminal was closed;
# Windows does not have it.
ENDING_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on the first Ctrl-C in the `with` block; raise KeyboardInterrupt on the second.

    SIGTERM and SIGHUP set `stop` too.  After the block, or on a second signal, they raise SystemExit with 128 + the
    signal's number.  If one of them is ignored, or has a handler already, it is left as it is.

    SIGHUP says that the terminal was closed: nothing is written there any more.  Outside the main thread this context
    does nothing.
    """
    received: list[int] = []  # the signals received; `stop` may also be set for another reason

    def handle(number: int, frame: object) -> None:
        """Set `stop` for the signal `number`; on a second signal raise.  Python also passes the frame."""
        received.append(number)
        stop.set()
        if number == getattr(signal, "SIGHUP", None):  # None on Windows
            drop_terminal_output()
        if len(received) > 1:
            raise_last()

    def raise_last() -> None:
        """Raise the exception for the latest signal received."""
        raise KeyboardInterrupt if received[-1] == signal.SIGINT else SystemExit(128 + received[-1])

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    handled = [number for number in ENDING_SIGNALS if number == signal.SIGINT or before[number] == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
    if received and received[-1] != signal.SIGINT:  # after a single Ctrl-C nothing is raised
        raise_last()


def drop_terminal_output() -> None:
    """Drop from now on what is written to a terminal; it is closed, so every write would fail."""
    for descriptor in (1, 2):  # standard output and error
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):  # a terminal; output to a file or a pipe goes on
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextlib.contextmanager
def stopped_at(deadline: float | None, stop: threading.Event) -> Iterator[None]:
    """Set `stop` when time.monotonic() reaches `deadline` within the `with` block; never if `deadline` is None."""
    if deadline is None:
        yield
        return
    seconds = min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)  # 0 if the deadline is over
    timer = threading.Timer(seconds, stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
