"""The folder of a run: its files, and how they are saved and restored.

A state is a safetensors file: its header has the plain data as JSON, and a digest of everything.  Games are in files
that are written once and never changed.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from alphago.nn.model_files import LATEST, ModelError, content_digest, read_sealed, read_weights, sealed_bytes
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord, read_arrays, records_to_bytes
from alphago.system.files import LOCK, bytes_digest, explain_os_error, lock, read_file, write_atomic
from alphago.system.npz import read_npz
from alphago.training.history import EVALUATIONS, METRICS, append_row, truncate
from alphago.training.runs.config import (
    COPY,
    holds_run,
    how_to_go_on,
    read_config,
    repair_config,
    set_aside,
    write_config,
)

STATE, GAMES, WEIGHTS = "state", "games", "weights"
LOGS = (METRICS, EVALUATIONS)
STATES_KEPT = 2  # on disk, since the newest may be damaged
MOST_BYTES = 2**33  # largest state that is read


class Shard(NamedTuple):
    """A file with the run's games `first` to `end` - 1, numbered from 0 in the order in which they finished."""

    first: int
    end: int
    digest: str  # digest of the file's bytes
    board: int  # board size of the games

    @property
    def name(self) -> str:
        return f"games-{self.first:07d}-{self.end:07d}.npz"


class Shards:
    """The files games/games-M-N.npz, each with games of one board size, and the games queued for the next file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Shard] = []  # oldest first
        self.written = 0  # number of games ever written, including those in lost files
        self.waiting: list[GameRecord] = []  # queued games
        self.board = 0  # their board size; a run writes before it enters a larger board

    def add(self, records: list[GameRecord], board: int) -> None:
        """Queue games, which `write` will write to a file.

        Args:
            board: the games' board size.
        """
        self.waiting += records
        self.board = board

    def write(self) -> None:
        """Write the queued games to one file, if there are any; if that fails, raise OSError and keep them queued."""
        if self.waiting:
            data = records_to_bytes(self.waiting)
            shard = Shard(self.written, self.written + len(self.waiting), bytes_digest(data), self.board)
            self.folder.mkdir(exist_ok=True)
            write_atomic(self.folder / shard.name, data)
            self.files.append(shard)
            self.written, self.waiting = shard.end, []

    def state(self) -> dict[str, Any]:
        """Return the list of files as plain data."""
        return {"written": self.written, "files": [list(shard) for shard in self.files]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the data that `state` returned; remove files of later games, which will be played again."""
        self.files = [Shard(*fields) for fields in state["files"]]
        self.written, self.waiting = state["written"], []
        for path in self.folder.glob("games-*.npz"):
            numbers = path.stem.split("-")[1:]  # M and N of games-M-N.npz
            if all(map(str.isdecimal, numbers)) and int(numbers[0]) >= self.written:
                path.unlink()

    def latest(self, count: int, board: int) -> tuple[list[GameRecord], list[str]]:
        """Read the last `count` saved games of a board size.

        Damaged files are set aside (renamed), and these and missing ones are no longer listed in `files`.  Their games
        are left out, and older games do not take their place.

        Returns:
            The games, oldest first, and sentences about damaged or missing files, for a report.
        """
        parts: list[list[GameRecord]] = []  # the games of each file, the newest file first
        notes: list[str] = []
        newest_first = [shard for shard in reversed(self.files) if shard.board == board]
        for shard in newest_first:
            if count <= 0:
                break
            needed = min(count, shard.end - shard.first)  # number of games needed from this file
            count -= needed
            path = self.folder / shard.name
            try:
                parts.append(read_shard(path, shard.digest)[-needed:])
            except FileNotFoundError:
                self.files.remove(shard)
                notes.append(f"{path} is gone, and with it {needed} games of the memory")
            except ValueError as error:
                self.files.remove(shard)
                notes.append(f"{set_aside(path, str(error))}; {needed} games of the memory were in it")
        return [record for part in reversed(parts) for record in part], notes


def read_shard(path: Path, digest: str) -> list[GameRecord]:
    """Return the games in the file `path`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is damaged (its digest is not `digest`) or of another version; the message, such as "is
            damaged", continues a sentence that begins with the file's name.
    """
    data = read_file(path)
    if bytes_digest(data) != digest:
        raise ValueError("is damaged (its digest differs)")
    try:
        return read_arrays(read_npz(data))
    except KeyError as error:
        raise ValueError(f"is of another version ({error})") from error


@dataclass
class State:
    """The complete state of a run between two moves or two gradient steps.

    Attributes:
        tensors: tensors by name.
        data: everything else, as plain data for JSON.
        notes: sentences about damaged files that were found when the state was read, for a report.
    """

    tensors: dict[str, torch.Tensor]
    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)


class RunFolder(contextlib.ExitStack):
    """The files that training writes into a run's folder.

    config.json               game, network, settings, and the history of changed settings; config.copy.json: a copy
    weights.safetensors       the latest network; `load_model` reads it
    weights/games-N.safetensors   the network after N games
    games/games-M-N.npz       the records of games M to N - 1, all of one board (`load_records` reads them)
    metrics.jsonl             one line per iteration
    evaluations.jsonl         one line per match of a judge, and per test on watched or held-out records
    proof.json                the match, if any, that proved the network stronger than the opponent to beat
    state/N.safetensors       the newest two states to resume from
    lock                      held by the process that trains

    Each file is written atomically; logs are appended line by line.  A state lists the files of games and the lengths
    of the logs when it was saved, so resuming from it first removes everything that was written later.

    Args:
        path: the folder.  The constructor makes or opens it, and locks it until `close`.

    Raises:
        FileExistsError: if the folder holds other files than a run's.
        BlockingIOError: if another process trains in it.
        ValueError: if its config cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        try:
            with explain_os_error(f"the run folder {path} cannot be made"):
                path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise FileExistsError(f"the run folder {path} cannot be made: a file is there") from None
        if not holds_run(path) and not is_free(path):
            raise FileExistsError(f"the run folder {path} is not empty: choose another folder for a new run")
        self.enter_context(lock(path))  # until `close`
        self.shards = Shards(path / GAMES)
        try:
            self.config = read_config(path) if holds_run(path) else None
            with explain_os_error(f"the run folder {path} cannot be written"):
                for part in path.rglob(".*.part"):  # left by a process that was killed while it wrote
                    part.unlink()
        except BaseException:
            self.close()
            raise

    def write_config(self, config: dict[str, Any]) -> None:
        """Write the config.  A folder with a config counts as a run, so save a new run's state first."""
        with explain_os_error(f"the config could not be written to {self.path}"):
            write_config(self.path, config)
        self.config = config

    def add_row(self, log: str, row: Mapping[str, Any]) -> None:
        """Append one line to a log: to METRICS the metrics of an iteration, to EVALUATIONS a judge's measurement."""
        with explain_os_error(f"{log} could not be written to {self.path}"):
            append_row(self.path / log, row)

    def checkpoint(
        self, net: NeuralNet, games: int, state: State, *, keep: bool = False, notes: Mapping[str, str] | None = None
    ) -> Path:
        """Save the games since the last checkpoint, then the network, then the state.

        Args:
            games: the run's number of games.
            keep: whether to save the network also as weights/games-N.safetensors.
            notes: texts to save in the network's file, by name.

        Returns:
            The path of the latest weights.

        Raises:
            OSError: if a file cannot be written; the previous checkpoint then remains valid.
        """
        latest = self.path / LATEST
        extra = {"games": str(games), **(notes or {})}
        with explain_os_error(f"the checkpoint could not be written to {self.path}"):
            self.shards.write()
            if keep:
                (self.path / WEIGHTS).mkdir(exist_ok=True)
                net.save(self.path / WEIGHTS / f"games-{games:07d}.safetensors", extra)
            net.save(latest, extra)
            self.write_state(state)
        return latest

    def write_state(self, state: State) -> None:
        """Write `state` as the newest state, together with the list of games' files and the lengths of the logs.

        The oldest state is removed only after that, so a complete state always exists.
        """
        lengths = {name: file_size(self.path / name) for name in LOGS}
        data = json.dumps({**state.data, "shards": self.shards.state(), "logs": lengths})
        (self.path / STATE).mkdir(exist_ok=True)
        before = self.states()
        number = int(before[-1].stem) + 1 if before else 1
        write_atomic(self.path / STATE / f"{number:06d}.safetensors", sealed_bytes(state.tensors, {"data": data}))
        # STATES_KEPT states remain: the new one, and the newest STATES_KEPT - 1 of those before.  A folder with such a
        # name is not the run's, and stays.
        for path in filter(Path.is_file, before[: -(STATES_KEPT - 1)]):
            path.unlink()

    def states(self) -> list[Path]:
        """Return the files of states, such as state/000012.safetensors, the newest last."""
        paths = (path for path in (self.path / STATE).glob("*.safetensors") if path.stem.isdecimal())
        return sorted(paths, key=lambda path: int(path.stem))

    def newest_state(self) -> State:
        """Return the newest undamaged state.  Damaged states are set aside, and the result's `notes` name them.

        Raises:
            ValueError: if no state is undamaged; the message says what to do.
        """
        notes: list[str] = []
        for path in reversed(self.states()):
            try:
                return replace(state_from_bytes(read_file(path, MOST_BYTES)), notes=notes)
            except ValueError as error:
                notes.append(set_aside(path, str(error)))
        why = "; ".join([*notes, f"{self.path / STATE} holds no state to go on from"])
        raise ValueError(f"{why}: {how_to_go_on(self.path)}")

    def restore(self) -> State:
        """Return the `newest_state`, after removing all data that was written later than this state.

        The config and its copy are written anew, damaged files are set aside, and `notes` of the result tell of that.
        """
        state = self.newest_state()
        assert self.config is not None
        with explain_os_error(f"the run folder {self.path} cannot be written"):
            state.notes += self._set_aside_damaged()
            state.notes += repair_config(self.path, self.config)
            state.notes += self._remove_newer(state.data)
        return state

    def _set_aside_damaged(self) -> list[str]:
        """Set aside a damaged file of the network.

        Also set aside what is no file, such as a folder, at the path of the network or of the config's copy: both are
        written anew.  `repair_config` does the same for the config itself.

        Returns:
            Sentences for a report.
        """
        notes = []
        latest = self.path / LATEST
        for path in (self.path / COPY, latest):
            if os.path.lexists(path) and not path.is_file():
                notes.append(set_aside(path, "is no file"))
        if latest.exists():
            try:
                read_weights(latest)
            except ModelError as error:  # its text begins with the path, as does the sentence of `set_aside`
                notes.append(set_aside(latest, str(error).removeprefix(f"{latest} ")))
        return notes

    def _remove_newer(self, data: Mapping[str, Any]) -> list[str]:
        """Remove games, networks and lines of logs that are newer than a state, given by its `data`.

        Returns:
            A sentence for a report about each log that has lost lines which the state counts.
        """
        self.shards.restore(data["shards"])
        for path in (self.path / WEIGHTS).glob("games-*.safetensors"):
            games = path.stem.split("-")[1]  # N of games-N.safetensors
            if games.isdecimal() and int(games) > data["counts"]["games"]:
                path.unlink()
        return [note for name, length in data["logs"].items() if (note := truncate(self.path / name, length))]

    def has_weights(self, net: NeuralNet) -> bool:
        """Return whether weights.safetensors is sound and holds the weights of `net`."""
        with contextlib.suppress(ModelError, OSError):
            tensors, _ = read_weights(self.path / LATEST)
            return content_digest(tensors, {}) == content_digest(net.state_dict(), {})  # without the files' texts
        return False  # the file is missing or damaged


def state_from_bytes(data: bytes) -> State:
    """Return the state in a file's contents.

    Raises:
        ValueError: if the contents are damaged; the message continues a sentence that begins with the file's name.
    """
    try:
        tensors, texts = read_sealed(data)
        is_sound = texts["digest"] == content_digest(tensors, texts)
        state = State(tensors, json.loads(texts["data"]))
    except Exception as error:  # damaged bytes can fail in any way
        raise ValueError(f"is damaged ({type(error).__name__})") from error
    if not is_sound:
        raise ValueError("is damaged (its digest differs)")
    return state


def is_free(path: Path) -> bool:
    """Return whether a folder is empty except for the files of a run that was killed before it wrote its config."""
    names = {entry.name for entry in path.iterdir() if not re.fullmatch(r"\..*\.part", entry.name)}
    return not names or (LOCK in names and names <= {LOCK, STATE, LATEST})


def file_size(path: Path) -> int:
    """Return a file's size in bytes; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def new_folder(name: str) -> Path:
    """Make and return the folder runs/<name>-<date>-<time>, with a number appended if there is such a folder."""
    path = first_choice = Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    number = 1
    while True:
        # `explain_os_error` changes an error's text, not its class.
        with contextlib.suppress(FileExistsError), explain_os_error(f"the folder {path} cannot be made"):
            path.mkdir(parents=True)
            return path
        number += 1
        path = Path(f"{first_choice}-{number}")
