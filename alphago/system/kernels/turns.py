"""Turns at compiling: of processes that start together, one compiles a function and the others load it from disk."""

import contextlib
import os
import sys
import time
from pathlib import Path

from alphago.system.kernels.private_folder import make_private

if sys.platform != "win32":
    import fcntl

PATIENCE = 20.0  # seconds that a process waits for another process's compiler, which may be suspended
GLANCE = 0.02  # seconds between two attempts to lock the file


class Turn:
    """A file lock, held by the one process that compiles a function into the file `path`.

    The lock only saves work: a process that does not get it (after PATIENCE, on Windows, or if no lock can be created)
    compiles too.  The lock is a file beside `path`, which `end` removes; the system releases the lock of a killed
    process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path.with_name(f"{path.name}.lock")
        self.handle: int | None = None

    def take(self) -> bool:
        """Wait for the lock; return whether this process has to compile the function.

        If another process has written the file meanwhile, the lock is released and the result is False.
        """
        if sys.platform == "win32":
            return True
        until = time.monotonic() + PATIENCE
        with contextlib.suppress(OSError):
            make_private(self.path.parent)
            self.handle = os.open(self.lock, os.O_CREAT | os.O_RDWR)
            while time.monotonic() < until:
                try:
                    fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(GLANCE)
        if self.path.exists():
            self.end()
            return False
        return True  # with the lock, or without it

    def end(self) -> None:
        """Release the lock, so that other processes can continue."""
        if self.handle is not None:
            with contextlib.suppress(OSError):
                self.lock.unlink(missing_ok=True)
            os.close(self.handle)
            self.handle = None
