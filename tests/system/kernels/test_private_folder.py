"""Code is loaded from folders in which nobody but their user can have put it."""

import os
import re
import sys
import tempfile
from pathlib import Path

import numba
import pytest

from alphago.system.kernels import jit
from alphago.system.kernels.private_folder import make_private

pwd = pytest.importorskip("pwd")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners are of POSIX")

OTHER = 12_345  # a user id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in one that is nobody's to write to."""
    (tmp_path / "caches" / "kernels").mkdir(parents=True, mode=0o755)
    return tmp_path / "caches" / "kernels"


def refuses(folder: Path, fault: str) -> None:
    with pytest.raises(PermissionError, match=re.escape(fault)):
        make_private(folder)


def test_a_new_one_is_closed_with_its_parents(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    make_private(tmp_path / "a" / "b")


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_one_that_others_may_write_to(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    refuses(folder, f"{folder} may be written by other users, who could put code there")


def test_a_parent_from_which_others_may_remove_it(folder: Path) -> None:
    folder.parent.chmod(0o777)
    refuses(folder, f"{folder.parent} may be written by other users")
    folder.parent.chmod(0o1777)  # sticky, as /tmp
    make_private(folder)


@pytest.mark.parametrize("target", ["kernels", "nowhere"])
def test_a_link(folder: Path, target: str) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder.with_name(target))
    refuses(link, f"{link} is a link")


def test_links_above_it_lead_to_what_is_checked_too(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder.parent)
    make_private(link / "kernels")
    folder.parent.chmod(0o777)
    refuses(link / "kernels", f"{folder.parent} may be written by other users")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() != 0, reason="only root gives folders away")
def test_one_of_another_user(folder: Path) -> None:
    for place in (folder, folder.parent):
        os.chown(place, OTHER, OTHER)
        refuses(folder, f"{place} belongs to another user")
        os.chown(place, 0, 0)
    folder.parent.chmod(0o1777)
    os.chown(folder.parent, OTHER, OTHER)  # who may remove what is in it, sticky or not
    refuses(folder, f"{folder.parent} belongs to another user")
    os.chown(folder.parent, 0, 0)
    link = folder.parent / "link"
    link.symlink_to(folder.parent)
    os.chown(link, OTHER, OTHER, follow_symlinks=False)
    refuses(link / "kernels", f"{link} belongs to another user")


def test_without_a_home_folder_a_name_that_was_made_first_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user without an entry in passwd, as in a container: anybody may guess the folder's name."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    folder.chmod(0o1777)
    caches = Path(jit.cache_folder(Path(jit.__file__).parents[2]))
    assert caches.parent == folder
    caches.mkdir(mode=0o777)
    caches.chmod(0o777)
    refuses(caches, f"{caches} may be written by other users")
