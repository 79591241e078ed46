"""The folder of a run: what is in it, and how a run finds itself again."""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import torch

from alphago.nn.model_files import ModelError, read_weights
from alphago.nn.net import NeuralNet
from alphago.nn.saved import LATEST
from alphago.system.files import LOCK, lock
from alphago.training.history import EVALUATIONS, METRICS, append_row, cut_off
from alphago.training.runs.config import holds_run, mend_config, read_config, write_config
from alphago.training.runs.shards import Shards
from alphago.training.runs.state import State, StateFiles, set_aside

STATE, GAMES, WEIGHTS = "state", "games", "weights"
LOGS = (METRICS, EVALUATIONS)


class RunFolder:
    """What training leaves on disk.

    config.json               game, network and settings, and which settings were changed when; config.copy.json: a copy
    weights.safetensors       the latest network; `load_model` reads it
    weights/games-N.safetensors   the network after N games
    games/games-M-N.npz       the records of games M to N - 1, all of one board (`load_records` reads them)
    metrics.jsonl             one line per iteration
    evaluations.jsonl         one line per examination or candidate; proof.json: the last examination, if passed
    state/N.safetensors       where the run goes on: the newest state and the one before, large ones in pieces
    lock                      held by the process that trains

    Every file appears whole, under its final name, or not at all; logs are appended line by line.  A state names the
    files of games and the lengths of the logs that belong to it: what was written later is cut off when a
    run goes on, and comes again.
    """

    def __init__(self, path: Path) -> None:
        """Makes the folder, or opens that of a run, and locks it until `close`.

        Raises FileExistsError if it holds something else than a run, BlockingIOError if somebody else trains in it,
        ValueError if its config cannot be read.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise FileExistsError(f"the run folder {path} cannot be made: a file is there") from None
        except OSError as error:
            raise type(error)(error.errno, f"the run folder cannot be made: {error.strerror}", str(path)) from error
        if not holds_run(path) and not is_free(path):
            raise FileExistsError(f"the run folder {path} is not empty: choose another folder for a new run")
        self._lock = lock(path)
        self.shards = Shards(path / GAMES)
        self.states = StateFiles(path / STATE)
        try:
            self.config = read_config(path) if holds_run(path) else None
            with told_as(f"the run folder {path} cannot be written"):
                for part in path.rglob(".*.part"):  # of a process that was killed while it wrote
                    part.unlink()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets others have the folder."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def write_config(self, config: dict[str, Any]) -> None:
        """Keeps the config, which makes the folder a run's: write a state first."""
        with told_as(f"the config could not be written to {self.path}"):
            write_config(self.path, config)
            self._make_folders()
        self.config = config

    def _make_folders(self) -> None:
        for name in (GAMES, WEIGHTS):
            (self.path / name).mkdir(exist_ok=True)

    def add_metrics(self, metrics: dict[str, Any]) -> None:
        """Appends one line to metrics.jsonl."""
        with told_as(f"metrics could not be written to {self.path}"):
            append_row(self.path / METRICS, metrics)

    def checkpoint(self, net: NeuralNet, games: int, state: State, keep: bool = False, **notes: str) -> Path:
        """Saves the games since the last checkpoint, the network after `games` games, and at last the state.

        keep: whether the network is kept under its number of games too.  notes: what else is kept with the weights.
        Returns the latest weights' path.  Raises OSError with a sentence; then the last checkpoint is the last.
        """
        latest = self.path / LATEST
        extra = {"games": str(games), **notes}
        with told_as(f"the checkpoint could not be written to {self.path}"):
            self.shards.write()
            if keep:
                net.save(self.path / WEIGHTS / f"games-{games:07d}.safetensors", extra)
            net.save(latest, extra)
            self.write_state(state)
        return latest

    def write_state(self, state: State) -> None:
        """Makes this the newest state, with the files of games that there are and the lengths of the logs."""
        lengths = {name: size(self.path / name) for name in LOGS}
        self.states.write(State(state.tensors, {**state.data, "shards": self.shards.state(), "logs": lengths}))

    def restore(self) -> State:
        """The newest sound state, with all else in the folder as it was then; ValueError if none is sound."""
        state = self.states.read()
        assert self.config is not None
        with told_as(f"the run folder {self.path} cannot be written"):
            state.notes += mend_config(self.path, self.config)
            self._make_folders()  # a kill right after the config was written
            self.shards.restore(state.data["shards"])
            for path in (self.path / WEIGHTS).glob("games-*.safetensors"):
                games = path.stem.removeprefix("games-")
                if games.isdecimal() and int(games) > state.data["games"]:
                    path.unlink()
            for name, length in state.data["logs"].items():
                cut_off(self.path / name, length)
        return state

    def check_weights(self, net: NeuralNet | None) -> list[str]:
        """Sets the latest weights aside if they cannot be read or are not this network's; returns it as sentences.

        None for the network where weights may be later ones than the state's.
        """
        latest = self.path / LATEST
        if not latest.exists():
            return [f"{latest} is gone; it is written anew from the state"]
        try:
            tensors, _ = read_weights(latest)
        except ModelError as error:
            why = str(error).removeprefix(f"{latest} ")
        else:
            if net is None or same_weights(tensors, net.state_dict()):
                return []
            why = "is damaged (it holds other weights than the state)"
        return [f"{set_aside(latest, why)}, and is written anew from the state"]


def same_weights(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    """Whether tensors have the same names and numbers, wherever they are."""
    return one.keys() == other.keys() and all(torch.equal(one[name].cpu(), other[name].cpu()) for name in one)


def is_free(path: Path) -> bool:
    """Whether there is nothing in a folder but what a run leaves that was killed before it had a config."""
    names = {entry.name for entry in path.iterdir() if not re.fullmatch(r"\..*\.part", entry.name)}
    return not names or (LOCK in names and names <= {LOCK, STATE, LATEST})


def size(path: Path) -> int:
    """Bytes of a file; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


@contextlib.contextmanager
def told_as(sentence: str) -> Iterator[None]:
    """Makes an OSError of the block say what it means for the run."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno is not None else str(error)
        told = type(error)(f"{sentence}: {reason}")
        told.errno = error.errno
        raise told from error


def default_folder(name: str) -> Path:
    """runs/<name>-<date>-<time>, made unique by a number if it exists."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, number = Path("runs") / stem, 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def new_folder(name: str) -> Path:
    """Makes the default folder of that name, which no other process has then."""
    while True:
        path = default_folder(name)
        with contextlib.suppress(FileExistsError):  # of another process, since the look at it
            path.mkdir(parents=True)
            return path
