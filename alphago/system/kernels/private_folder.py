"""Folders of compiled code, which runs as the user who loads it: nobody else may have written there."""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path

ROOT = 0  # the user id


def make_private(folder: Path) -> None:
    """Make a folder, and the folders above it, where they are missing; check that other users cannot write there.

    New folders are closed to other users.  A folder that exists must belong to this user or to root, be no link, and be
    writable for its owner only.  Nobody else may be able to put another folder in its place: all folders above it must
    belong to this user or to root.  One that everybody may write to must be sticky, as /tmp is: there users can remove
    their own files only.

    Raises:
        OSError: if the folder cannot be made.
        PermissionError: if a folder is not as it must be; its `strerror` says what is wrong.
    """
    if sys.platform == "win32":  # where a user's folders are closed by their place
        folder.mkdir(parents=True, exist_ok=True)
    else:
        _make_and_check(folder.absolute(), is_parent=False)


def _make_and_check(folder: Path, *, is_parent: bool) -> None:
    """Make and check a folder and those above it; is_parent: whether it is above the one that `make_private` gets."""
    if folder.parent != folder:
        _make_and_check(folder.parent, is_parent=True)
    if not os.path.lexists(folder):
        with contextlib.suppress(FileExistsError):  # another process has just made it
            folder.mkdir(0o700)
    status = os.lstat(folder)
    is_link = stat.S_ISLNK(status.st_mode)
    # The group may write to a folder above, as to /usr/local on Debian, whose group only root chooses.
    forbidden_bits = stat.S_IWOTH if is_parent else stat.S_IWGRP | stat.S_IWOTH
    is_sticky = is_parent and bool(status.st_mode & stat.S_ISVTX)  # users remove only what is their own, as in /tmp
    others_may_write = bool(status.st_mode & forbidden_bits) and not is_sticky
    if status.st_uid not in (os.geteuid(), ROOT):
        fault = "belongs to another user"
    elif is_link and not is_parent:
        fault = "is a link"
    elif others_may_write and not is_link:  # a link has all bits set
        fault = "may be written by other users"
    else:
        if is_link:  # the folder to which it leads must be safe too
            _make_and_check(Path(os.path.realpath(folder)), is_parent=True)
        return
    raise PermissionError(errno.EPERM, f"{folder} {fault}, who could put code there", str(folder))
