"""Folders of compiled code, which runs as the user who loads it: nobody else may have written there."""

import errno
import os
import stat
import sys
from pathlib import Path

ROOT = 0  # the user id


def make_private(folder: Path) -> None:
    """Make a folder, closed to other users, and the folders above it.

    Raises PermissionError, with what is wrong as its `strerror`, unless the folder belongs to this user or to root, is
    no link, and only its owner may write to it; other OSErrors if it cannot be made.  On Windows a user's folders are
    closed by their place.
    """
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return
    status = os.lstat(folder)
    faults = {
        "is a link": stat.S_ISLNK(status.st_mode),
        "belongs to another user": status.st_uid not in (os.geteuid(), ROOT),
        "may be written by other users": status.st_mode & (stat.S_IWGRP | stat.S_IWOTH),
    }
    for fault in filter(faults.get, faults):
        raise PermissionError(errno.EPERM, f"{folder} {fault}, who could put code there", str(folder))
