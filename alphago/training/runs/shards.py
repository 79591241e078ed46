"""The games of a run on disk: files that are written once and never changed."""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.records.record import GameRecord, read_arrays, save_records
from alphago.system.files import read_file, set_aside, write_atomic


class Shard(NamedTuple):
    """One file: games `first` to `end` - 1 of the run, in the order in which they came."""

    first: int
    end: int
    digest: str  # of the file's bytes
    board: int  # the size of the board that they were played on

    @property
    def name(self) -> str:
        return f"games-{self.first:07d}-{self.end:07d}.npz"


class Shards:
    """games/games-M-N.npz, and the games that wait for the next files, one for each board."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Shard] = []
        self.written = 0  # games in files, those among them whose file was lost
        self.waiting: dict[int, list[GameRecord]] = {}  # by the size of their board

    def add(self, records: list[GameRecord], board: int) -> None:
        """Lets games of a board wait for the next file."""
        if records:
            self.waiting.setdefault(board, []).extend(records)

    def write(self) -> None:
        """Makes files of the games that wait; OSError, and they go on waiting, if that fails."""
        for board, records in sorted(self.waiting.items()):
            file = io.BytesIO()
            save_records(file, records)
            data = file.getvalue()
            shard = Shard(self.written, self.written + len(records), digest_of(data), board)
            write_atomic(self.folder / shard.name, data)
            self.files.append(shard)
            self.written = shard.end
            del self.waiting[board]

    def state(self) -> dict[str, Any]:
        """The files, as plain data."""
        return {"written": self.written, "files": [list(shard) for shard in self.files]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Knows these files again, and removes those of later games, which will be played again."""
        self.files, self.written = [Shard(*fields) for fields in state["files"]], state["written"]
        self.waiting.clear()
        for path in self.folder.glob("games-*.npz"):
            numbers = path.stem.split("-")[1:]
            if all(map(str.isdecimal, numbers)) and int(numbers[0]) >= self.written:
                path.unlink()

    def latest(self, count: int, board: int) -> tuple[list[GameRecord], list[str]]:
        """The last `count` games of a board in files, oldest first, without those of damaged files.

        Damaged files are set aside and not known any more; the sentences tell which.
        """
        parts: list[list[GameRecord]] = []
        notes: list[str] = []
        for shard in [shard for shard in self.files[::-1] if shard.board == board]:
            if count <= 0:
                break
            wanted, count = min(count, shard.end - shard.first), count - (shard.end - shard.first)
            path = self.folder / shard.name
            try:
                parts.append(read_shard(path, shard.digest)[-wanted:])
            except FileNotFoundError:
                self.files.remove(shard)
                notes.append(f"{path} is gone, and with it {wanted} games of the memory")
            except ValueError as error:
                self.files.remove(shard)
                notes.append(f"{set_aside(path, str(error))}; {wanted} games of the memory were in it")
        return [record for part in reversed(parts) for record in part], notes


def read_shard(path: Path, digest: str) -> list[GameRecord]:
    """The games of a file; ValueError that says what is wrong with it."""
    data = read_file(path)
    if digest_of(data) != digest:
        raise ValueError("is damaged (its digest is another one)")
    try:
        return read_arrays(np.load(io.BytesIO(data), allow_pickle=False))
    except KeyError as error:
        raise ValueError(f"is of another version ({error})") from error


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
