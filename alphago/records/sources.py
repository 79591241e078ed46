"""Read games from folders, archives, and texts with a game on each line, without loading an archive as a whole.

Games come in pieces (`SourcePart`).  A piece is a file, or some lines of a text, small enough to send to a worker.
"""

import bz2
import codecs
import gzip
import io
import lzma
import math
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from alphago.records.sgf.faults import DAMAGED, Fault
from alphago.records.sgf.reader import LARGEST_FILE, empty_game, salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.values import read_komi
from alphago.system.files import check_regular

SGF_NAMES = re.compile(r"\.(?:sgf|mgt)(?:\.txt)?$", re.IGNORECASE)
TAR_NAMES = re.compile(r"\.(?:tar|tar\.gz|tgz|tar\.bz2|tbz2?|tar\.xz|txz)$", re.IGNORECASE)
PACKED_NAMES = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
INDEX_NAME = re.compile(r"\.index(?:\.txt|\.zip)?$", re.IGNORECASE)
OTHER_NAMES = re.compile(r"\.(?:py|cpp|c|h|js|md|html?|json|png|jpe?g|pdf|exe|npz|npy|safetensors|csv)$", re.IGNORECASE)
GAME_LINE = re.compile(rb"^\s*[^\t;()\[]{1,64}\t\s*\(?\s*;")  # the beginning of a line with a game: an id, a tab, moves
SGF_BEGIN = re.compile(rb"\(\s*;")
RESULT = re.compile(r"(?:[BW]|Black|White)\+|Draw|Jigo", re.IGNORECASE)
BAD_ARCHIVE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)
KOMI = re.compile(r"-?[0-9]{1,2}\.(?:[05]0?|[27]5)")
HEAD = 4096  # first bytes of a file, from which its kind is recognised
LINES_AT_ONCE = 500  # lines of a piece
LONGEST_LINE = 2**20  # bytes
MOST_LEVELS = 3  # archives inside archives
ID_DIGITS = 18  # largest number of digits of a game's id in an index, so that it fits int64
TYGEM_COLUMNS = 10  # least number of columns in a line of Tygem's index


class SourcePart(NamedTuple):
    """A piece: a file, or some lines of a text that has a game on each line, to be converted by a worker.

    Attributes:
        name: the path of the file; for a file in an archive, the archive's path and the path in it.
        data: the content of the file, or the lines.
        is_lines: whether the piece is lines of a text.
        error: why the file cannot be read; "" if it can.
    """

    name: str
    data: bytes = b""
    is_lines: bool = False
    error: str = ""

    def games(self) -> Iterator[SgfGame]:
        """Return the games of a piece that is a file; an unreadable file gives a game without moves, with a fault."""
        if self.error:
            return iter([empty_game(Fault(DAMAGED, self.error), self.name)])
        return salvage_sgf(self.data, name=self.name)


def pieces(paths: Iterable[str | Path]) -> Iterator[SourcePart]:
    """Yield the pieces of files, folders and archives, in the same order on every call.

    A damaged archive gives a piece with an error.
    """
    for path in map(Path, paths):
        for file in list_files(path):
            yield from pieces_of_file(file, explicit=not path.is_dir())


def list_files(path: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, sorted; for the path of a file, this file."""
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def may_hold_sgf(name: str) -> bool:
    """Return whether a file is an SGF file or an archive, judging by its name."""
    is_packed = Path(name).suffix.lower() in (".zip", *PACKED_NAMES)
    return is_packed or bool(SGF_NAMES.search(name) or TAR_NAMES.search(name))


def pieces_of_file(file: Path, explicit: bool) -> Iterator[SourcePart]:
    """Yield the pieces of one file.

    Args:
        explicit: whether the caller gave the path of the file itself, not of its folder.  Then a suffix of files
            without games, such as .png, is no reason to skip the file.
    """
    name = str(file)
    try:
        if INDEX_NAME.search(name) or (OTHER_NAMES.search(name) and not explicit):
            return
        check_regular(file)  # opening a pipe may never end
        with open(file, "rb") as stream:
            yield from pieces_of_stream(name, stream, explicit, level=0)
    except OSError as error:
        yield SourcePart(name, error=f"cannot be read ({error.strerror or error})")


def pieces_of_stream(name: str, stream: IO[bytes], explicit: bool, level: int) -> Iterator[SourcePart]:
    """Yield the pieces of an open file, whose kind is recognised by its name and first bytes.

    Args:
        explicit: whether to yield a text even if it does not look like SGF.
        level: number of archives that contain the file.
    """
    try:
        if level > MOST_LEVELS:
            yield SourcePart(name, error=f"must be in at most {MOST_LEVELS} nested archives")
        elif SGF_NAMES.search(name):
            yield whole_file(name, stream)
        elif TAR_NAMES.search(name):
            yield from pieces_of_tar(name, stream, level)
        elif name.lower().endswith(".zip"):
            yield from pieces_of_zip(name, stream, level)
        elif (suffix := Path(name).suffix.lower()) in PACKED_NAMES:
            with PACKED_NAMES[suffix](stream, "rb") as inner:  # type: ignore[operator]
                yield from pieces_of_stream(name[: -len(suffix)], inner, explicit, level=level + 1)
        else:
            yield from pieces_of_text(name, stream, explicit)
    except (*BAD_ARCHIVE, OSError) as error:
        yield SourcePart(name, error=f"is damaged ({type(error).__name__}: {str(error)[:100]})")


def whole_file(name: str, stream: IO[bytes]) -> SourcePart:
    """Return an open file as one piece; a file that is too large as a piece with an error."""
    data = stream.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        return SourcePart(name, error=f"must have at most {LARGEST_FILE >> 20} MiB")
    return SourcePart(name, data)


def pieces_of_tar(name: str, stream: IO[bytes], level: int) -> Iterator[SourcePart]:
    """Yield the pieces of a tar archive, read as a stream; level: number of archives that contain it.

    Links are skipped.
    """
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for member in archive:
            inner = archive.extractfile(member) if member.isfile() else None
            if inner is not None and may_hold_games(member.name):
                yield from pieces_of_stream(f"{name}/{member.name}", inner, explicit=False, level=level + 1)
            archive.members = []  # type: ignore[attr-defined] # else tarfile keeps all members, and memory grows


def pieces_of_zip(name: str, stream: IO[bytes], level: int) -> Iterator[SourcePart]:
    """Yield the pieces of a zip archive; level: number of archives that contain it."""
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            if not member.is_dir() and may_hold_games(member.filename):
                with archive.open(member) as inner:
                    yield from pieces_of_stream(f"{name}/{member.filename}", inner, explicit=False, level=level + 1)


def may_hold_games(name: str) -> bool:
    """Return whether a file in an archive may hold games, judging by its name."""
    return not (INDEX_NAME.search(name) or OTHER_NAMES.search(name))


def pieces_of_text(name: str, stream: IO[bytes], explicit: bool) -> Iterator[SourcePart]:
    """Yield the pieces of a text.

    A text with a game on each line comes in groups of lines.  Any other text is one piece, and is left out unless it
    looks like SGF.

    Args:
        explicit: whether to yield any other text even if it does not look like SGF.
    """
    # `peek` looks at bytes without taking them; some streams lack it.
    reader = stream if hasattr(stream, "peek") else io.BufferedReader(stream, HEAD * 16)  # type: ignore[type-var]
    head = reader.peek(HEAD)[:HEAD]  # the first bytes, which are read again below
    first_line = head.lstrip(codecs.BOM_UTF8 + b"\r\n ").split(b"\n", 1)[0]
    if GAME_LINE.match(first_line):
        lines = iter(partial(reader.readline, LONGEST_LINE), b"")  # up to the end of the text, where a line is b""
        while group := b"".join(islice(lines, LINES_AT_ONCE)):
            yield SourcePart(name, group, is_lines=True)
    elif explicit or SGF_BEGIN.search(head):
        yield whole_file(name, reader)


# --- the index of a text with a game on each line ---

ENTRY = np.dtype([("id", "<i8"), ("result", "S64"), ("komi", "<f4")])  # komi: NaN if it is unknown


def find_indexes(sources: Sequence[Path]) -> list[Path]:
    """Return the index files, such as yenw's `kifu.index`, for games at these paths.

    They are looked for in those paths that are folders, with their subfolders, and in the two folders above each path.

    Args:
        sources: the paths.
    """
    folders_above = dict.fromkeys(folder for path in sources for folder in list(path.resolve().parents)[:2])
    # The methods that search: with subfolders (`rglob`), or in the folder alone (`glob`).
    searches = [*(path.rglob for path in sources if path.is_dir()), *(folder.glob for folder in folders_above)]
    files = [file for search in searches for file in sorted([*search("*.index"), *search("*.index.zip")])]
    return list(dict.fromkeys(file.resolve() for file in files if file.is_file()))  # without duplicates


def read_indexes(paths: Iterable[str | Path]) -> np.ndarray:
    """Return the entries of index files, [n] of dtype ENTRY, sorted by id; zip archives of index files are read too.

    A line of an index has columns separated by tabs.  The first column is the id of a game; the result, and perhaps the
    komi, may be in any other column.  Lines whose id is not a number are skipped.
    """
    entries = np.array([entry for line in index_lines(paths) if (entry := read_entry(line)) is not None], ENTRY)
    _, first_rows = np.unique(entries["id"], return_index=True)  # sorted by id; of equal ids, the first entry
    return entries[first_rows]


def index_lines(paths: Iterable[str | Path]) -> Iterator[bytes]:
    """Yield the lines of index files, and of all files in zip archives of such files.

    A line longer than LONGEST_LINE comes in pieces.
    """
    for path in map(Path, paths):
        check_regular(path)
        with zipfile.ZipFile(path) if path.suffix.lower() == ".zip" else open(path, "rb") as file:
            streams = map(file.open, file.namelist()) if isinstance(file, zipfile.ZipFile) else [file]
            for stream in streams:
                yield from iter(partial(stream.readline, LONGEST_LINE), b"")


def read_entry(line: bytes) -> tuple[int, bytes, float] | None:
    """Return id, result and komi from a line of an index, as in ENTRY; None if the line is no entry.

    The index of Tygem, known by its many columns, has no komi, but other numbers that look like one.
    """
    game_id, *columns = line.decode("utf-8", "replace").strip("\ufeff\r\n ").split("\t")
    if not game_id.isdecimal() or len(game_id) > ID_DIGITS:
        return None
    result = next((column for column in columns if RESULT.match(column)), "")
    komi_text = next((column for column in columns if KOMI.fullmatch(column)), "")
    is_tygem = 1 + len(columns) >= TYGEM_COLUMNS  # 1: the id
    komi = None if is_tygem else read_komi(komi_text)
    return int(game_id), result.encode(), math.nan if komi is None else komi
