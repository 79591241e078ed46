"""Write files atomically, read them, set damaged ones aside, and lock folders."""

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

LOCK = "lock"
DAMAGED = ".damaged"  # suffix of damaged files that were set aside


def write_atomic(path: Path, data: bytes | memoryview) -> None:
    """Write `data` to `path` atomically: readers see the old file or the complete new one, even after a power cut.

    Raises OSError if the file cannot be written; the old file is then unchanged.
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


def is_new_or_empty(folder: Path) -> bool:
    """Return whether a path is free for a folder: nothing is there, or an empty folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def flush_folder(folder: Path) -> None:
    """Flush a folder to disk, so that a rename in it is durable, on systems that support this."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_file(path: Path) -> bytes:
    """Return a file's bytes.

    Raises OSError if it cannot be opened.  Raises ValueError if the disk fails to read it (EIO), or if it is not a
    regular file, since reading a pipe or device may never end.  The ValueError's message, such as "is no file",
    continues a sentence that begins with the file's name.
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
    """Rename a damaged file, and return a sentence about it for a report.

    reason: the part of the sentence after the file's name, such as "is damaged".
    """
    aside = path.with_name(path.name + DAMAGED)
    path.replace(aside)
    return f"{path} {reason}; it was set aside as {aside.name}"


def lock(folder: Path) -> IO[str]:
    """Lock a folder until the returned file is closed or the process ends.

    On Windows and on file systems without locks, nothing is locked.
    Raises BlockingIOError if the folder is already locked by another process or call, OSError if the folder cannot be
    written.
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
            pass  # the file system has no locks
    return file


@contextlib.contextmanager
def explain_os_error(sentence: str) -> Iterator[None]:
    """Prefix the message of an OSError in the `with` block with `sentence`, which says what failed."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno is not None else str(error)
        explained = type(error)(f"{sentence}: {reason}")
        explained.errno = error.errno
        raise explained from error
