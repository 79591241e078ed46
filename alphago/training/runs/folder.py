"""The folder of a run: its files, and how they are saved and restored."""

import contextlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import torch

from alphago.arena.match_result import MatchResult
from alphago.env.game import GameEnv
from alphago.mcts.player import record_of
from alphago.nn.model_files import LATEST, ModelError, read_weights
from alphago.nn.net import NeuralNet
from alphago.records.record import records_to_bytes
from alphago.system.files import LOCK, explain_os_error, lock, set_aside, write_atomic
from alphago.training.history import EVALUATIONS, METRICS, append_row, truncate
from alphago.training.runs.config import holds_run, how_to_go_on, read_config, repair_config, write_config
from alphago.training.runs.shards import Shards
from alphago.training.runs.state import State, StateFiles

STATE, GAMES, WEIGHTS, MATCHES = "state", "games", "weights", "matches"
LOGS = (METRICS, EVALUATIONS)


class RunFolder:
    """The files that training writes into a run's folder.

    config.json               game, network, settings, and the history of changed settings; config.copy.json: a copy
    weights.safetensors       the latest network; `load_model` reads it
    weights/games-N.safetensors   the network after N games
    games/games-M-N.npz       the records of games M to N - 1, all of one board (`load_records` reads them)
    metrics.jsonl             one line per iteration
    matches/gate-N-9x9.npz    a judge's match after N games; the candidate has Black in games 0, 2, …
    evaluations.jsonl         one line per match of a judge, and per test on watched or held-out records
    proof.json                the match, if any, that proved the network stronger than the opponent to beat
    state/N.safetensors       the newest two states to resume from
    lock                      held by the process that trains

    Each file is written atomically; logs are appended line by line.  A state lists the files of games and the lengths
    of the logs when it was saved, so resuming from it first removes everything that was written later.

    path: the folder.  The constructor makes or opens it, and locks it until `close`.
    Raises FileExistsError if the folder holds other files than a run's, BlockingIOError if another process trains in
    it, ValueError if its config cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with explain_os_error(f"the run folder {path} cannot be made"):
                path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise FileExistsError(f"the run folder {path} cannot be made: a file is there") from None
        if not holds_run(path) and not is_free(path):
            raise FileExistsError(f"the run folder {path} is not empty: choose another folder for a new run")
        self._lock = lock(path)
        self.shards = Shards(path / GAMES)
        self.states = StateFiles(path / STATE)
        try:
            self.config = read_config(path) if holds_run(path) else None
            with explain_os_error(f"the run folder {path} cannot be written"):
                for part in path.rglob(".*.part"):  # left by a process that was killed while it wrote
                    part.unlink()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_config(self, config: dict[str, Any]) -> None:
        """Write the config.  A folder with a config counts as a run, so save a new run's state first."""
        with explain_os_error(f"the config could not be written to {self.path}"):
            write_config(self.path, config)
            self._make_folders()
        self.config = config

    def _make_folders(self) -> None:
        """Make the folders of games and networks."""
        for name in (GAMES, WEIGHTS):
            (self.path / name).mkdir(exist_ok=True)

    def add_metrics(self, metrics: dict[str, Any]) -> None:
        """Append one line, the metrics of an iteration, to metrics.jsonl."""
        with explain_os_error(f"metrics could not be written to {self.path}"):
            append_row(self.path / METRICS, metrics)

    def add_match(self, row: Mapping[str, Any]) -> None:
        """Append one line, a judge's measurement, to evaluations.jsonl."""
        with explain_os_error(f"a match could not be written to {self.path}"):
            append_row(self.path / EVALUATIONS, row)

    def checkpoint(
        self, net: NeuralNet, games: int, state: State, *, keep: bool = False, notes: Mapping[str, str] | None = None
    ) -> Path:
        """Save the games since the last checkpoint, then the network, then the state.

        games: the run's number of games.  keep: whether to save the network also as weights/games-N.safetensors.
        notes: texts to save in the network's file, by name.
        Returns the path of the latest weights.
        Raises OSError if a file cannot be written; the previous checkpoint then remains valid.
        """
        latest = self.path / LATEST
        extra = {"games": str(games), **(notes or {})}
        with explain_os_error(f"the checkpoint could not be written to {self.path}"):
            self.shards.write()
            if keep:
                net.save(self.path / WEIGHTS / f"games-{games:07d}.safetensors", extra)
            net.save(latest, extra)
            self.write_state(state)
        return latest

    def keep_match(self, judge: str, games: int, env: GameEnv, results: Iterable[MatchResult]) -> None:
        """Write the games of a judge's match as records.

        judge: the judge's name.  games: the run's number of games at the match.
        env: the game.  results: the results of the match's parts.
        """
        name = f"{judge}-{games:07d}-{env.N}x{env.N}.npz"
        games_of_match = (moves for result in results for moves in result.games)
        records = [record_of(env, env.position().after(moves), {}) for moves in games_of_match]
        with explain_os_error(f"a match could not be written to {self.path}"):
            (self.path / MATCHES).mkdir(exist_ok=True)
            write_atomic(self.path / MATCHES / name, records_to_bytes(records))

    def write_state(self, state: State) -> None:
        """Write `state` as the newest state, together with the list of games' files and the lengths of the logs."""
        lengths = {name: file_size(self.path / name) for name in LOGS}
        self.states.write(State(state.tensors, {**state.data, "shards": self.shards.state(), "logs": lengths}))

    def restore(self) -> State:
        """Return the newest undamaged state, after removing all data that was written later than this state.

        Raises ValueError if all states are damaged, or the newest is of another version; the message says what to do.
        """
        try:
            state = self.states.read()
        except ValueError as error:
            raise ValueError(f"{error}: {how_to_go_on(self.path)}") from error
        assert self.config is not None
        with explain_os_error(f"the run folder {self.path} cannot be written"):
            state.notes += repair_config(self.path, self.config)
            self._make_folders()  # a process may have been killed after it wrote the config, and before it made them
            self.shards.restore(state.data["shards"])
            networks = (self.path / WEIGHTS).glob("games-*.safetensors")
            matches = (self.path / MATCHES).glob("*-*.npz")
            for path in [*networks, *matches]:
                games = path.stem.split("-")[1]  # N of games-N.safetensors or gate-N-9x9.npz
                if games.isdecimal() and int(games) > state.data["counts"]["games"]:
                    path.unlink()
            for name, length in state.data["logs"].items():
                if loss := truncate(self.path / name, length):
                    state.notes.append(loss)
        return state

    def check_weights(self, net: NeuralNet | None) -> list[str]:
        """Set weights.safetensors aside if it is damaged or differs from `net`; return sentences about it for a report.

        net: the network of the run's state; None for no comparison, because the file may be newer than the state.
        """
        latest = self.path / LATEST
        if not os.path.lexists(latest):
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


def same_weights(a: Mapping[str, torch.Tensor], b: Mapping[str, torch.Tensor]) -> bool:
    """Return whether two state dicts have the same names and bit-identical tensors, on any devices."""
    return a.keys() == b.keys() and all(torch.equal(a[name].cpu(), b[name].cpu()) for name in a)


def is_free(path: Path) -> bool:
    """Return whether a folder is empty except for the files of a run that was killed before it wrote its config."""
    names = {entry.name for entry in path.iterdir() if not re.fullmatch(r"\..*\.part", entry.name)}
    return not names or (LOCK in names and names <= {LOCK, STATE, LATEST})


def file_size(path: Path) -> int:
    """Return a file's size in bytes; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def default_folder(name: str) -> Path:
    """Return the path runs/<name>-<date>-<time>, with a number appended if there is such a folder."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, number = Path("runs") / stem, 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def new_folder(name: str) -> Path:
    """Make and return the folder `default_folder(name)`; concurrent processes get different folders."""
    while True:
        path = default_folder(name)
        with contextlib.suppress(FileExistsError), explain_os_error(f"the folder {path} cannot be made"):
            path.mkdir(parents=True)  # FileExistsError: another process has just made this folder
            return path
