"""Read games as records from SGF files, files of records, archives, folders of all these, or a dataset."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.records.dataset import Dataset, is_dataset
from alphago.records.dataset_writer import LeftOut
from alphago.records.game_conversion import CUT, NO_RESULT
from alphago.records.record import GameRecord, load_records
from alphago.records.sgf.faults import FATAL
from alphago.records.sources import list_files, may_hold_sgf, pieces
from alphago.system.files import user_path
from alphago.system.validation import shown

# Reasons to leave a game out, beside the faults of SGF files.
OTHER_BOARD, ILLEGAL = "of another board", "not legal under the rules of this game"
WITHOUT_MOVES, UNREADABLE = "without moves", "unreadable file"
LINES = "as lines of text, which `alphago sgf` imports"
Item = TypeVar("Item")


def read_collection(path: str | Path, env: GameEnv, positions: int) -> list[GameRecord]:
    """Return games of `env`, with about `positions` positions in all, from a file, a folder or a dataset.

    A folder is read with its subfolders.  If the files hold more positions, the games are a random sample over all
    files, the same on every call.  Games on other boards, illegal games and games without moves or result are left
    out.  From a dataset only the validation games are read, if it has any.

    Raises:
        FileNotFoundError: if `path` does not exist.
        ValueError: if it holds no game of `env`.
    """
    path = user_path(path)
    left_out = LeftOut()
    files = [path] if is_dataset(path) else permute(files_with_games(path))
    records: list[GameRecord] = []
    missing = positions
    for number, file in enumerate(files):
        if missing <= 0:
            break
        left_to_others = missing - math.ceil(missing / (len(files) - number))  # positions to take from later files
        for record in sound_games(random_games(file, env, left_out, explicit=file == path), env, left_out):
            records.append(record)
            missing -= len(record)
            if missing <= left_to_others:
                break
    if not records:
        raise ValueError(f"{path} holds no game of {env!r}{reason_of(left_out)}")
    return records


def sound_games(records: Iterable[GameRecord], env: GameEnv, left_out: LeftOut) -> Iterator[GameRecord]:
    """Yield the games that have moves, all of them legal in `env`; count the others in `left_out`."""
    for record in records:
        if not len(record):
            left_out.add(WITHOUT_MOVES, "a game must have moves, got one without any")
            continue
        try:
            record.position(env)  # raises for an illegal move, such as a repetition that the rules forbid
        except ValueError as error:
            left_out.add(ILLEGAL, str(error))
        else:
            yield record


def permute(items: Sequence[Item]) -> list[Item]:
    """Return the items in a random order, the same on every call."""
    return [items[index] for index in np.random.default_rng(0).permutation(len(items))]


def random_games(path: Path, env: GameEnv, left_out: LeftOut, explicit: bool) -> Iterable[GameRecord]:
    """Return the games of a file, or of a dataset's folder, in a random order.

    Args:
        left_out, explicit: as in `file_records`.
    """
    if not is_dataset(path):
        return permute(file_records(path, env, left_out, explicit))
    go = require_go(env, "datasets")
    dataset = Dataset(path)
    numbers = dataset.select("validation", env.N, results_only=True)
    if not len(numbers):  # the dataset has no validation games of this size: all its games are taken
        numbers = dataset.select(None, env.N, results_only=True)
    return (dataset.game(number).to_record(go) for number in permute(numbers.tolist()))


def files_with_games(path: Path) -> list[Path]:
    """Return the files at a path that may hold games: a folder's files with a suitable name, or the file itself.

    The name of a file that is itself the path does not matter.

    Raises:
        FileNotFoundError: if the path does not exist.
    """
    if not path.exists():
        raise FileNotFoundError(f"games must be in a dataset, a run, or a file or folder of games, got {path}")
    return [
        file for file in list_files(path) if file == path or file.suffix.lower() == ".npz" or may_hold_sgf(file.name)
    ]


def file_records(file: Path, env: GameEnv, left_out: LeftOut, explicit: bool) -> list[GameRecord]:
    """Return the games of `env` in a file: a file of records, an SGF file, or an archive of SGF files.

    Args:
        left_out: counts the games that are left out, by reason.
        explicit: whether the caller gave the path of the file itself, not of its folder.  Only then an error is
            raised; other files with an error are counted in `left_out`.

    Raises:
        OSError: if a file of records cannot be read.
        ValueError: if a file of records is damaged, or if `env` is another game than Go and the file is SGF.
    """
    try:
        if file.suffix.lower() != ".npz":
            return sgf_records(file, require_go(env, f"SGF files, such as {file}"), left_out)
        all_records = load_records(file)
    except (OSError, ValueError) as error:
        if explicit:
            raise
        left_out.add(UNREADABLE, str(error))
        return []
    records = []
    for record in all_records:
        if (actions := record.policies.shape[1]) == env.action_space:
            records.append(record)
        else:
            left_out.add(OTHER_BOARD, f"{file}: a game must have {env.action_space} actions, got {actions}")
    return records


def sgf_records(file: Path, go: GoEnv, left_out: LeftOut) -> list[GameRecord]:
    """Return the games in an SGF file, or in an archive of such files, that can be played in `go`.

    Args:
        go: the board and the rules.
        left_out: counts the games that are left out, by reason.
    """
    records = []
    for piece in pieces([file]):
        if piece.is_lines:
            sentence = f"{piece.name} must be SGF, got a text with a game on each line"
            left_out.add(LINES, sentence, count=len(piece.data.splitlines()))
            continue
        for game in piece.games():
            # A fault with which the game cannot be read at all, or not to its end.
            fault = next((fault for fault in game.faults if fault.kind in (*FATAL, *CUT)), None)
            name, size = piece.name, game.board_size
            if fault is not None:
                left_out.add(fault.kind, fault.of(name))
            elif size != go.N:
                left_out.add(OTHER_BOARD, f"{name}: the board must be {go.N}x{go.N}, got {size}x{size}")
            elif game.outcome is None:
                left_out.add(NO_RESULT, f"{name}: the result must name the winner or a draw, got {shown(game.result)}")
            else:
                try:
                    records.append(game.to_record(go))
                except ValueError as error:
                    left_out.add(ILLEGAL, f"{name}: {error}")
    return records


def sentence_of(left_out: Mapping[str, int]) -> str:
    """Return a sentence such as "3 games are left out: 2 no result, 1 truncated"; "" if no game is left out.

    Args:
        left_out: how many games are left out, by reason.
    """
    total = sum(left_out.values())
    if not total:
        return ""
    counts = +Counter(left_out)  # the + drops reasons whose count is 0
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    return f"{total} {'game is' if total == 1 else 'games are'} left out: {reasons}"


def reason_of(left_out: Mapping[str, int]) -> str:
    """Return the end of an error's message: ": ", the sentence about games left out, and one example in brackets.

    Without games left out it is "".  There is no example if `left_out` is a plain mapping.
    """
    examples = left_out.examples if isinstance(left_out, LeftOut) else {}
    example = next((f" ({texts[0]})" for texts in examples.values() if texts), "")
    sentence = sentence_of(left_out)
    return f": {sentence}{example}" if sentence else ""
