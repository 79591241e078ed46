"""Stop work before its end: by an event, or where a library would lose Ctrl-C or print a traceback, at once."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

INTERRUPTED = 130  # exit code of a process ended by Ctrl-C


class Stopped(Exception):
    """The exception raised if an event that stops some work is set before the work is done."""


@contextlib.contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """Within the `with` block, let Ctrl-C end the process at once and without a message.

    The block imports libraries, which could ignore or print a KeyboardInterrupt.
    """
    before = signal.getsignal(signal.SIGINT)
    # A program's own handler stays, and only the main thread may set one.
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
