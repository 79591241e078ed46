"""The processes of a sweep: which programs can start them, and how they end."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

NEEDS_GUARD = (
    'a script that starts processes must make the call below if __name__ == "__main__":, since each process imports it'
)
NEEDS_FILE = "a program from standard input cannot start processes, since each would import it: write it into a file"


@contextlib.contextmanager
def only_parent_is_interrupted() -> Iterator[None]:
    """Let no Ctrl-C reach processes of multiprocessing that start within the `with` block; this process must end them.

    A terminal sends Ctrl-C to all processes, and a process that is still starting would print a traceback of its
    imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # started later, within the block, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a new process inherits the mask
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_importable(value: object) -> None:
    """Raise TypeError, AttributeError or PicklingError unless other processes can import the functions in a value.

    They cannot import what was typed, as in a notebook.
    """
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file == "<stdin>":  # whatever the value is: each new process would import the program's file, which is none
        raise TypeError(NEEDS_FILE)
    # A module that `python -m` runs has a spec, a script has a file.
    is_importable = main.__spec__ is not None or os.path.isfile(file or "")
    if b"__main__" in pickle.dumps(value) and not is_importable:
        raise TypeError("this program is no file")


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
