"""Handle Ctrl-C where Python or a library would lose it or print a traceback."""

import _thread
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

INTERRUPTED = 130  # exit code of a process ended by Ctrl-C
DELAY = 0.05  # seconds after which a lost Ctrl-C is repeated


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


@contextlib.contextmanager
def repeated_interrupts() -> Iterator[None]:
    """Within the `with` block, send Ctrl-C again whenever Python has ignored it.

    A KeyboardInterrupt in a destructor, or in a callback of an import or a garbage collection, does not end the
    program: Python prints the error and goes on.  Here the error is not printed, and Ctrl-C is sent again after DELAY.
    """
    before = sys.unraisablehook

    def hook(lost: "sys.UnraisableHookArgs", /) -> None:
        """Repeat a KeyboardInterrupt that Python has ignored; print any other error as before."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            timer = threading.Timer(DELAY, interrupt_again)
            timer.daemon = True  # it does not delay the end of the program
            timer.start()
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def interrupt_again() -> None:
    """Send Ctrl-C to the main thread; on systems with `pthread_kill` this also ends a call that waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # `or 0` for the type checker only
    else:
        _thread.interrupt_main()
