"""Write files atomically, read them, and lock folders.

Only regular files are read and written: opening a pipe may never end, and a device or socket is no place for a file.
Every OSError names the file.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from alphago.system.validation import shown

if sys.platform != "win32":
    import fcntl

LOCK = "lock"
MOST_BYTES = 2**32  # largest file that is read as a whole; the package's own files are far smaller


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a user gave, with a leading ~ replaced by the home folder, as a shell replaces it.

    Raises:
        ValueError: for an empty path, which would be the current folder, for names that no file can have, and for links
            in a loop.
        TypeError: for anything but a path.
    """
    if path == "":
        raise ValueError("a file or folder must have a name, got ''")
    expanded = Path(os.path.expanduser(path))  # unlike Path.expanduser, it leaves the ~ if there is no such user
    try:
        os.stat(expanded)
    except (OSError, ValueError) as error:
        # Any other OSError, as for a file that does not exist yet, says nothing against the name.
        if isinstance(error, ValueError) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            reason = error.strerror if isinstance(error, OSError) else error
            raise ValueError(f"{shown(os.fspath(path))} cannot be the name of a file ({reason})") from error
    return expanded


def typed_path(path: str | os.PathLike[str]) -> str:
    """Return a path as it is typed in a shell: quoted where needed; "-x" becomes "./-x", which is no option."""
    text = os.fspath(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def write_atomic(path: Path, data: bytes | memoryview) -> None:
    """Write `data` to `path` atomically: readers see the old file or the complete new one, even after a power cut.

    If `path` is a link, the link stays, and the file to which it leads is replaced.

    Raises:
        OSError: which names `path`, if the file cannot be written, or if `path` is a folder, a pipe or a device.  An
            existing file is then unchanged.
    """
    with name_in_errors(path):
        target = Path(os.path.realpath(path))
        check_regular(target)
        # A name of its own, since several processes may write; cut, since file systems limit the length of names.
        part = target.with_name(f".{target.name[:64]}.{secrets.token_hex(8)}.part")
        try:
            with open(part, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        finally:
            with contextlib.suppress(OSError):  # it would hide the error of the block
                part.unlink(missing_ok=True)
        flush_folder(target.parent)


def write_named(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file to a path that a user gave, atomically, and return the path as `user_path` does.

    Raises:
        OSError: whose message is a sentence with the path, if the file cannot be written.
    """
    path = user_path(path)
    with explain_os_error(f"{path} cannot be written"):
        write_atomic(path, data)
    return path


def append(path: Path, data: bytes) -> None:
    """Append `data` to a file in one write.

    If the write fails, the file is left unchanged, and OSError, which names the file, is raised.
    """
    check_regular(path)
    with name_in_errors(path), open(path, "ab", buffering=0) as file:
        old_size = file.tell()
        try:
            if file.write(data) < len(data):  # the disk became full
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            file.truncate(old_size)
            raise


def check_regular(path: Path) -> None:
    """Raise OSError if `path` is a folder, a pipe, a socket or a device."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "there is a folder of that name", str(path))
    if not stat.S_ISREG(mode):
        kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise OSError(errno.EINVAL, f"{path.name} is a {kind}, no regular file", str(path))


@contextlib.contextmanager
def name_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let every OSError of the `with` block name `path` as its file; that of a full disk, for example, names none."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        del error.filename2  # the new name in a failed rename; None would be a part of the message
        raise


def os_error_text(error: OSError) -> str:
    """Return an OSError's message as one sentence, with the file's name and without the error's number."""
    if error.filename and error.strerror:
        return f"{error.filename} cannot be used: {error.strerror}"
    return error.strerror or str(error)


def is_new_or_empty(folder: Path) -> bool:
    """Return whether a path does not exist or is an empty folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def flush_folder(folder: Path) -> None:
    """Flush a folder to disk, so that a rename in it survives a power cut; do nothing where the system cannot."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a file's bytes.

    Args:
        most: the largest number of bytes that is read.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: if it can be opened but not be read: it is no regular file, is too large, or its disk is broken; or
            if `path` is a link to itself.  The message, such as "is no file", is the rest of a sentence that begins
            with the file's name.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is no file")
        if status.st_size > most:
            raise ValueError(f"is too large ({status.st_size:,} bytes, at most {most:,} are read)")
        with open(path, "rb") as file:
            return file.read()
    except MemoryError:
        raise ValueError(f"does not fit into the memory ({status.st_size:,} bytes)") from None
    except OSError as error:
        reasons = {errno.ELOOP: "it is a link to itself", errno.EIO: os.strerror(errno.EIO)}
        if error.errno not in reasons:
            raise
        raise ValueError(f"cannot be read ({reasons[error.errno]})") from error


def read_named(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a file's bytes as `read_file` does, but with the file's name in the message of a ValueError."""
    try:
        return read_file(path, most)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from error


def parse_json(data: bytes) -> Any:
    """Return the value in a JSON text.

    Raises:
        ValueError: for any other data.  Its message, "is damaged (JSONDecodeError)", is the rest of a sentence that
            begins with the file's name.  The text of Python's error is left out, since it may advise to change Python's
            settings: "use sys.set_int_max_str_digits()" for an integer of too many digits.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is damaged ({type(error).__name__})") from error


def bytes_digest(data: bytes) -> str:
    """Return a hash of 32 hexadecimal digits, which shows later whether saved data was damaged."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def lock(folder: Path) -> BinaryIO:
    """Lock a folder until the returned file is closed or the process ends.

    On Windows and on file systems without locks, nothing is locked.

    Raises:
        BlockingIOError: if the folder is already locked by another process or call.
        OSError: if the folder cannot be written.
    """
    with explain_os_error(f"the folder {folder} cannot be written"):
        check_regular(folder / LOCK)
        file = open(folder / LOCK, "ab")  # noqa: SIM115  # it stays open
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
        explained = type(error)(f"{sentence}: {error.strerror or error}")
        explained.errno = error.errno  # not as an argument, with which the message would be "[Errno 28] …"
        raise explained from error
