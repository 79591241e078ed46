"""Files: what is written and read, and what is refused at once: pipes, devices, sockets, links to themselves."""

import errno
import os
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from alphago.system.files import append, lock, parse_json, read_file, read_named, typed_path, user_path, write_atomic

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files on Windows")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def socket_file(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def self_link(path: Path) -> None:
    path.symlink_to(path)


IRREGULAR: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (pipe, "x is a pipe, no regular file"),
    "socket": (socket_file, "x is a socket, no regular file"),
    "folder": (Path.mkdir, "there is a folder of that name"),
    "link to itself": (self_link, "Too many levels of symbolic links"),
    "link to a device": (lambda path: path.symlink_to("/dev/null"), "null is a device, no regular file"),
}


@pytest.mark.parametrize("kind", IRREGULAR)
class TestIrregular:
    """What is no regular file is neither replaced nor opened, and stays what it is."""

    @pytest.fixture
    def place(self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)  # a socket's name must be short
        IRREGULAR[kind][0](Path("x"))
        return tmp_path / "x"

    def test_write(self, place: Path, kind: str) -> None:
        before = os.lstat(place)
        with pytest.raises(OSError, match=IRREGULAR[kind][1]) as caught:
            write_atomic(place, b"new")
        assert caught.value.filename == str(place)
        assert (os.lstat(place).st_mode, os.lstat(place).st_ino) == (before.st_mode, before.st_ino)
        assert os.listdir(place.parent) == ["x"]

    def test_append(self, place: Path, kind: str) -> None:
        with pytest.raises(OSError, match=IRREGULAR[kind][1].replace("null", "x")) as caught:
            append(place, b"row\n")
        assert caught.value.filename == str(place)

    def test_read(self, place: Path, kind: str) -> None:
        sentence = "cannot be read .it is a link to itself." if kind == "link to itself" else "is no file"
        with pytest.raises(ValueError, match=rf"^{sentence}$"):
            read_file(place)
        with pytest.raises(ValueError, match=rf"^{place} {sentence}$"):
            read_named(place)


@pytest.mark.parametrize("kind", [kind for kind in IRREGULAR if kind != "socket"])
def test_lock(tmp_path: Path, kind: str) -> None:
    """A lock file that is no file: a sentence, at once."""
    IRREGULAR[kind][0](tmp_path / "lock")
    with pytest.raises(OSError, match=rf"^the folder {tmp_path} cannot be written: "):
        lock(tmp_path)


def test_the_file_behind_a_link_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    for text in (b"first", b"second"):  # the file need not exist
        write_atomic(tmp_path / "link", text)
        assert (tmp_path / "there" / "file").read_bytes() == read_file(tmp_path / "link") == text
    assert (tmp_path / "link").is_symlink()


def test_a_file_that_claims_to_be_huge(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(20 * 10**9)
    with pytest.raises(ValueError, match=r"^is too large \(20,000,000,000 bytes, at most 4,294,967,296 are read\)$"):
        read_file(path)
    with pytest.raises(ValueError, match="at most 1,000 are read"):
        read_file(path, 1000)


class TestFullDisk:
    """The system does not say which file did not fit; the error does, and the old file is whole."""

    def test_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"old")

        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=rf"No space left on device: '{path}'$"):
            write_atomic(path, b"new")
        assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])

    def test_append(self, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        path = tmp_path / "rows"
        append(path, b"first\n")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            with pytest.raises(OSError, match=str(path)):
                append(path, b"second\n")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        append(path, b"third\n")
        assert path.read_bytes() == b"first\nthird\n"


@pytest.mark.parametrize("text", ["9" * 6000, "[" * 100_000, "{", "\x00", '{"a": NaN'])
def test_damaged_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is damaged \((JSONDecode|Value|Recursion)Error\)$"):
        parse_json(text.encode())


class TestHomeFolder:
    def test_tilde(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert user_path("~no_such_user_here/a") == Path("~no_such_user_here/a")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert user_path("~/a.sgf") == tmp_path / "a.sgf"
        assert user_path("a/~b") == Path("a/~b")
        with pytest.raises(ValueError, match="must have a name, got ''"):
            user_path("")
        with pytest.raises(TypeError, match="bytes"):
            user_path(b"a.sgf")  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["b" * 300, "a\0b", "\ud800", "a/" * 3000])
    def test_names_that_no_file_can_have(self, name: str) -> None:
        with pytest.raises(ValueError, match=r"'.*' cannot be the name of a file \(.+\)$"):
            user_path(name)

    def test_links_in_a_loop(self, tmp_path: Path) -> None:
        self_link(tmp_path / "a")
        for path in (tmp_path / "a", tmp_path / "a" / "b"):
            with pytest.raises(ValueError, match=r"cannot be the name of a file \(Too many levels"):
                user_path(path)

    @pytest.mark.parametrize("name", ["run", "my run", "-a b", "--games", "$x", "it's", "ä"])
    def test_as_it_is_typed(self, name: str) -> None:
        (word,) = shlex.split(typed_path(Path(name)))
        assert (Path(word), word[0] == "-") == (Path(name), False)
