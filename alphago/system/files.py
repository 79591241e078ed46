"""One process per folder."""

import sys
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

LOCK = "lock"


def lock(folder: Path) -> IO[str]:
    """Locks a folder for as long as the returned file is open, at most until the process ends, however it ends.

    Raises BlockingIOError with a sentence if another process (or another call) holds it, OSError if the folder
    cannot be written.  Does nothing on Windows,
    and on file systems that know no locks.
    """
    try:
        file = open(folder / LOCK, "a")  # noqa: SIM115 - open for as long as the lock is wanted
    except OSError as error:
        raise type(error)(f"the folder {folder} cannot be written: {error.strerror}") from error
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(f"somebody else writes to {folder} right now: choose another folder") from None
        except OSError:
            pass  # no locks here
    return file
