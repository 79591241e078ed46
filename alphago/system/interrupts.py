"""Handle Ctrl-C where Python or a library would lose it or print a traceback, and the end of a parent process."""

import _thread
import contextlib
import multiprocessing
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker

INTERRUPTED = 130  # exit code of a process ended by Ctrl-C
DELAY = 0.05  # seconds after which a lost Ctrl-C is repeated
# Sent by Ctrl-C; by docker stop, Slurm, timeout; by a closed terminal, but not on Windows.
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


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
            threading.Timer(DELAY, interrupt_again).start()
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


@contextlib.contextmanager
def only_parent_is_interrupted() -> Iterator[None]:
    """Let no Ctrl-C reach processes of multiprocessing that start within the `with` block; this process must end them.

    A terminal sends Ctrl-C to all processes, and a process that is still starting would print a traceback of its
    imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # its start would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a new process inherits the mask
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


NEEDS_GUARD = (
    'a script that starts processes must make the call below if __name__ == "__main__":, since each process imports it'
)


NEEDS_FILE = "a program from standard input cannot start processes, since each would import it: write it into a file"


def comes_from_standard_input() -> bool:
    """Return whether Python reads the program from standard input; no worker process, which imports it, can start."""
    return getattr(sys.modules["__main__"], "__file__", None) == "<stdin>"


def has_importable_program() -> bool:
    """Return whether other processes can import the program; they cannot import what was typed, as in a notebook."""
    main = sys.modules["__main__"]
    # A module that `python -m` runs has a spec, a script has a file.
    return main.__spec__ is not None or os.path.isfile(getattr(main, "__file__", None) or "")


def leave_if_imported_again() -> None:
    """End this process if it is a worker of multiprocessing that is importing its parent's script.

    Call this before workers are started.  A worker gets here if the script starts workers without a guard
    (`if __name__ == "__main__":`), and would start workers of its own.  The parent reports NEEDS_GUARD; an exception
    here would print a traceback for each worker.
    """
    # Python sets the attribute in a worker while it imports the parent's script.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(1)


def end_with_parent() -> None:
    """Send SIGTERM to this worker process of multiprocessing when its parent ends, even if the parent is killed.

    Otherwise the worker would wait for its next task for ever: it keeps the other end of the tasks' pipe open itself.
    """

    def watch() -> None:
        multiprocessing.parent_process().join()  # type: ignore[union-attr]  # it has a parent
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


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
        raise KeyboardInterrupt if received[-1] == signal.SIGINT else SystemExit(128 + received[-1])

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    handled = [number for number in ENDING if number == signal.SIGINT or before[number] == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
    if received and received[-1] != signal.SIGINT:
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
    timer = threading.Timer(max(0.0, deadline - time.monotonic()), stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
