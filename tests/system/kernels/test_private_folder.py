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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in one that is nobody's to write to."""
    (tmp_path / "caches" / "kernels").mkdir(parents=True, mode=0o755)
    return tmp_path / "caches" / "kernels"


def refuses(folder: Path, fault: str) -> None:
    with pytest.raises(PermissionError, match=re.escape(fault)):
        make_private(folder)


def test_a_new_one_is_closed(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    make_private(tmp_path / "a" / "b")


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_one_that_others_may_write_to(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    refuses(folder, f"{folder} may be written by other users, who could put code there")


def test_a_link(folder: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    refuses(link, f"{link} is a link")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() != 0, reason="only root gives folders away")
def test_one_of_another_user(folder: Path) -> None:
    os.chown(folder, 12_345, 12_345)
    refuses(folder, f"{folder} belongs to another user")


def test_without_a_home_folder_it_is_in_the_folder_of_temporary_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user without an entry in passwd, as in a container."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert Path(jit.cache_folder(Path(jit.__file__).parents[2])).parent == folder
