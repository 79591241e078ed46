"""Folders of compiled code, which runs as the user who loads it: nobody else may have written there."""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path

ROOT = 0  # the user id


def make_private(folder: Path) -> None:
    """Make a folder, and the folders above it, closed to other users if they are not there.

    Raises:
        OSError: if the folder cannot be made.
        PermissionError: with what is wrong as its `strerror`, unless the folder belongs to this user or to root, is no
            link, and only its owner may write to it; and unless nobody else can put another folder in its place: all
            folders above belong to this user or to root, and those that anybody may write to let users remove only what
            is their own, as /tmp does.
    """
    if sys.platform == "win32":  # where a user's folders are closed by their place
        folder.mkdir(parents=True, exist_ok=True)
    else:
        _check(folder.absolute(), is_parent=False)


def _check(folder: Path, *, is_parent: bool) -> None:
    """Do what `make_private` says for a folder and those above it; is_parent: whether it is above the private one."""
    if folder.parent != folder:
        _check(folder.parent, is_parent=True)
    if not os.path.lexists(folder):
        with contextlib.suppress(FileExistsError):  # another process has just made it
            folder.mkdir(0o700)
    status = os.lstat(folder)
    is_link = stat.S_ISLNK(status.st_mode)
    others_write = stat.S_IWOTH if is_parent else stat.S_IWGRP | stat.S_IWOTH  # bits that must not be set
    is_sticky = is_parent and bool(status.st_mode & stat.S_ISVTX)  # users remove only what is their own, as in /tmp
    if status.st_uid not in (os.geteuid(), ROOT):
        fault = "belongs to another user"
    elif is_link and not is_parent:
        fault = "is a link"
    elif not is_link and status.st_mode & others_write and not is_sticky:
        fault = "may be written by other users"
    else:
        if is_link:
            _check(Path(os.path.realpath(folder)), is_parent=True)
        return
    raise PermissionError(errno.EPERM, f"{folder} {fault}, who could put code there", str(folder))
