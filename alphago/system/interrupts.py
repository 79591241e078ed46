"""Handle Ctrl-C while a command imports its libraries."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

INTERRUPTED = 130  # exit code of a process ended by Ctrl-C


def ignore_interrupts() -> None:
    """Ignore Ctrl-C from here on: the process ends, and an exception in its exit handlers would print a traceback."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """End the process at once and without a message on Ctrl-C within the `with` block, which imports libraries.

    A KeyboardInterrupt during an import could be ignored or printed by a library.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
