"""Games from files: one SGF file, one file of records, a folder of both, or a dataset."""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.records.dataset import Dataset, is_dataset
from alphago.records.record import GameRecord, load_records
from alphago.records.sgf import read_sgf
from alphago.system.files import user_path

SUFFIXES = (".sgf", ".npz")


def read_collection(path: str | Path, env: GameEnv, positions: int) -> list[GameRecord]:
    """Return games of `env`, with about `positions` positions in all, from a file, a folder or a dataset.

    A folder is read with its subfolders.  If the files hold more positions, the games are a random sample over all
    files, the same on every call.  Games on other boards, illegal games and games without a result are left out.  From
    a dataset only the validation games are read, if it has any.

    Raises FileNotFoundError if `path` does not exist, ValueError if it holds no game of `env`.
    """
    path = user_path(path)
    if is_dataset(path):
        return read_dataset(path, require_go(env, "datasets"), positions)
    if not path.exists():
        raise FileNotFoundError(f"records must be an SGF file, a .npz of records or a folder of them, got {path}")
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"the folder of records must hold {' or '.join(SUFFIXES)} files, got {path} without any")
    records: list[GameRecord] = []
    missing = positions
    first_fault = ""
    for files_read, place in enumerate(np.random.default_rng(0).permutation(len(files))):
        if missing <= 0:
            break
        share = math.ceil(missing / (len(files) - files_read))  # of the missing positions, for each file that is left
        try:
            games = read_games(files[place], env, positions=share)
        except ValueError as error:
            first_fault = first_fault or str(error)
            continue
        records += games
        missing -= sum(map(len, games))
    if not records:
        raise ValueError(f"{path} holds no game of {env}: {first_fault}")
    return records


def read_dataset(path: Path, env: GoEnv, positions: int) -> list[GameRecord]:
    """Return games of a dataset that have a result, with about `positions` positions in all.

    Raises ValueError if no game has a result.
    """
    dataset = Dataset(path)
    numbers = dataset.select("validation", env.N, results_only=True)
    if not len(numbers):
        numbers = dataset.select(None, env.N, results_only=True)
    shuffled = np.random.default_rng(0).permutation(numbers).tolist()
    records, _ = first_games((game.to_record(env) for game in dataset.games(shuffled)), env, positions)
    if not records:
        raise ValueError(f"{path} holds no game of {env!r} with a result")
    return records


def read_games(path: Path, env: GameEnv, positions: int) -> list[GameRecord]:
    """Return randomly chosen games of `env` from a file, until they have `positions` positions in all.

    Raises ValueError if the file holds no game of `env`.
    """
    if path.suffix.lower() == ".sgf":
        go = require_go(env, "SGF files")
        games = [read_sgf(path, go).to_record(go)]
    else:
        games = load_records(path)
    shuffled = np.random.default_rng(0).permutation(len(games)).tolist()
    chosen, fault = first_games((games[place] for place in shuffled), env, positions)
    if not chosen:
        raise ValueError(f"{path}: {fault}")
    return chosen


def first_games(records: Iterable[GameRecord], env: GameEnv, positions: int) -> tuple[list[GameRecord], str]:
    """Return the first records that are games of `env`, until they have `positions` positions in all.

    Returns also what is wrong with the last record that is no game of `env`, for a message if no record is chosen.
    """
    chosen: list[GameRecord] = []
    missing = positions
    fault = "it is empty"
    for record in records:
        try:
            if not len(record) or record.policies.shape[1] != env.action_space:
                got = f"{len(record)} moves with {record.policies.shape[1]} actions"
                raise ValueError(f"a game of {env.action_space} actions must have moves, got one of {got}")
            record.position(env)  # raises for an illegal move
        except ValueError as error:  # for example, a repetition that the rules of `env` forbid
            fault = str(error)
            continue
        chosen.append(record)
        missing -= len(record)
        if missing <= 0:
            break
    return chosen, fault
