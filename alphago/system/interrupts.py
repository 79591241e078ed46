"""Handle Ctrl-C where Python or a library would lose it or print a traceback, and the end of a parent process."""

import _thread
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import wait

INTERRUPTED = 130  # exit code of a process ended by Ctrl-C
LATER = 0.05  # seconds after which a lost Ctrl-C is repeated


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
    is_main = threading.current_thread() is threading.main_thread()  # only this thread may set a handler
    if before is not signal.default_int_handler or not is_main:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def repeated_interrupts() -> Iterator[None]:
    """Repeat a Ctrl-C that is lost within the `with` block, without a message.

    In a destructor, or in a callback that an import or a garbage collection calls, Python prints a KeyboardInterrupt
    and goes on.
    """
    before = sys.unraisablehook

    def hook(lost: "sys.UnraisableHookArgs", /) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            timer = threading.Timer(LATER, interrupt_again)
            timer.daemon = True
            timer.start()
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def interrupt_again() -> None:
    """Send Ctrl-C to the main thread, which ends its waiting where the system can do that."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


NEEDS_GUARD = (
    'a script that starts processes must make the call below if __name__ == "__main__":, since each process imports it'
)


def leave_if_imported_again() -> None:
    """End a worker process that runs its parent's script, because that has no guard, before it starts workers too.

    The parent then says NEEDS_GUARD; an exception here would print a traceback for each worker.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(1)


def end_with_parent() -> None:
    """Let this process, which multiprocessing began, get SIGTERM when its parent ends, even by SIGKILL.

    Otherwise a worker waits for ever for its next task, since it holds the other end of the pipe open itself.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch(sentinel: int) -> None:
        wait([sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()
