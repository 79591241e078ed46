"""Taking turns at compiling: processes that start together compile each function once, and load it from disk else."""

import contextlib
import os
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PATIENCE = 20.0  # seconds that a process waits for another one's compiler, which somebody may have stopped
GLANCE = 0.02  # seconds between two looks


class Turn:
    """The right to compile what will be the file `path`, which one process has at a time.

    It is a hint only: who does not get it (after PATIENCE, on Windows, or where no lock can be made) compiles all the
    same. The lock is a file beside `path`, removed by `end`; a process that is killed loses it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path.with_name(f"{path.name}.lock")
        self.handle: int | None = None

    def take(self) -> bool:
        """Wait for the turn; return False if meanwhile another process has compiled the file."""
        if sys.platform == "win32":
            return True
        until = time.monotonic() + PATIENCE
        with contextlib.suppress(OSError):
            os.makedirs(self.path.parent, exist_ok=True)
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
        return True

    def end(self) -> None:
        """Let the others go on."""
        if self.handle is not None:
            with contextlib.suppress(OSError):
                self.lock.unlink(missing_ok=True)
            os.close(self.handle)
            self.handle = None
