"""Ctrl-C while a command loads its libraries."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

INTERRUPTED = 130  # exit code of a process that Ctrl-C has ended


@contextlib.contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C within the block, which imports libraries, end the process at once and in silence.

    A KeyboardInterrupt in the midst of their imports may be swallowed or printed by one of them.
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
