"""The games of a run on disk, in files that are written once and never changed."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from alphago.records.record import GameRecord, read_arrays, records_to_bytes
from alphago.system.files import read_file, set_aside, write_atomic
from alphago.system.npz import read_npz


class Shard(NamedTuple):
    """A file with the run's games `first` to `end` - 1, numbered in the order in which they finished."""

    first: int
    end: int
    digest: str  # digest of the file's bytes
    board: int  # board size of the games

    @property
    def games(self) -> int:
        """The number of games."""
        return self.end - self.first

    @property
    def name(self) -> str:
        return f"games-{self.first:07d}-{self.end:07d}.npz"


class Shards:
    """The files games/games-M-N.npz, each with games of one board size, and the games queued for the next files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Shard] = []
        self.written = 0  # number of games ever written, including those in lost files
        self.waiting: dict[int, list[GameRecord]] = {}  # queued games, by board size

    def add(self, records: list[GameRecord], board: int) -> None:
        """Queue games, which `write` will write to files; board: their board size."""
        if records:
            self.waiting.setdefault(board, []).extend(records)

    def write(self) -> None:
        """Write the queued games; if that fails, raise OSError and keep them queued."""
        for board, records in sorted(self.waiting.items()):
            data = records_to_bytes(records)
            end = self.written + len(records)
            shard = Shard(first=self.written, end=end, digest=digest_of(data), board=board)
            write_atomic(self.folder / shard.name, data)
            self.files.append(shard)
            self.written = shard.end
            del self.waiting[board]

    def state(self) -> dict[str, Any]:
        """Return the list of files as plain data."""
        return {"written": self.written, "files": [list(shard) for shard in self.files]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the data that `state` returned; remove files of later games, which will be played again."""
        self.files = [Shard(*fields) for fields in state["files"]]
        self.written = state["written"]
        self.waiting.clear()
        for path in self.folder.glob("games-*.npz"):
            numbers = path.stem.split("-")[1:]  # M and N of games-M-N.npz
            if all(map(str.isdecimal, numbers)) and int(numbers[0]) >= self.written:
                path.unlink()

    def latest(self, count: int, board: int) -> tuple[list[GameRecord], list[str]]:
        """Read the last `count` saved games of a board size.

        Damaged files are set aside, and their games are left out: older games do not take their place.
        Returns the games, oldest first, and sentences about damaged or missing files, for a report.
        """
        parts: list[list[GameRecord]] = []  # the newest games first
        notes: list[str] = []
        newest_first = [shard for shard in reversed(self.files) if shard.board == board]
        for shard in newest_first:
            if count <= 0:
                break
            taken = min(count, shard.games)
            count -= taken
            path = self.folder / shard.name
            try:
                parts.append(read_shard(path, shard.digest)[-taken:])
            except FileNotFoundError:
                self.files.remove(shard)
                notes.append(f"{path} is gone, and with it {taken} games of the memory")
            except ValueError as error:
                self.files.remove(shard)
                notes.append(f"{set_aside(path, str(error))}; {taken} games of the memory were in it")
        return [record for part in reversed(parts) for record in part], notes


def read_shard(path: Path, digest: str) -> list[GameRecord]:
    """Return the games in the file `path`.

    Raises FileNotFoundError, or ValueError if the file is damaged (its digest is not `digest`) or of another version;
    the message, such as "is damaged", continues a sentence that begins with the file's name.
    """
    data = read_file(path)
    if digest_of(data) != digest:
        raise ValueError("is damaged (its digest differs)")
    try:
        return read_arrays(read_npz(data))
    except KeyError as error:
        raise ValueError(f"is of another version ({error})") from error


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
