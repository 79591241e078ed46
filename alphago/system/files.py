"""Files that are written whole, read with care, set aside when damaged; and one process per folder."""

import contextlib
import errno
import os
import secrets
import sys
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

LOCK = "lock"
DAMAGED = ".damaged"  # suffix of files that were set aside


def write_atomic(path: Path, data: bytes | memoryview) -> None:
    """Write `data` to `path`: a reader sees the old file or the new one, also after a power cut.

    Raises OSError, with the old file still there, if it cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "there is a folder of that name")
    part = path.with_name(f".{path.name[:64]}.{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Make a rename durable, where the system can flush folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_file(path: Path) -> bytes:
    """Return a file's bytes; raise ValueError if the disk can no longer read them, OSError for other reasons.

    A folder, a pipe or a device, which may never end, is a ValueError too.
    """
    if path.exists() and not path.is_file():
        raise ValueError("is no file")
    try:
        return path.read_bytes()
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise ValueError(f"cannot be read ({os.strerror(errno.EIO)})") from error


def set_aside(path: Path, reason: str) -> str:
    """Rename a file that cannot be used; return a sentence that says so.

    reason: what is wrong with it, as the rest of a sentence: "is damaged".
    """
    aside = path.with_name(path.name + DAMAGED)
    path.replace(aside)
    return f"{path} {reason}; it was set aside as {aside.name}"


def lock(folder: Path) -> IO[str]:
    """Lock a folder for as long as the returned file is open, at most until the process ends, however it ends.

    Raises BlockingIOError if another process or another call holds the lock, OSError if the folder cannot be written.
    Does nothing on Windows and on file systems without locks.
    """
    try:
        file = open(folder / LOCK, "a")  # noqa: SIM115 - open for as long as the folder is to be locked
    except OSError as error:
        raise type(error)(f"the folder {folder} cannot be written: {error.strerror}") from error
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(f"another process writes to {folder} right now: choose another folder") from None
        except OSError:
            pass  # no locks here
    return file
