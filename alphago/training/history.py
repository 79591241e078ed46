"""The logs of a run as JSON lines: one row per iteration, and one per measurement of a judge."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from alphago.system.files import append, read_named, user_path

METRICS = "metrics.jsonl"
EVALUATIONS = "evaluations.jsonl"
HELD_OUT = "held-out"  # the value of "judge" in rows of supervised learning's tests
MOST_LOG_BYTES = 2**30  # largest log that is read: about a million iterations

Row = Mapping[str, Any]

# Entries of a row that readers compute with or print; a row with a value of another type there is damaged.
TOTALS = ("iteration", "seconds", "processor_seconds", "games", "positions", "steps")
NUMBERS = (*TOTALS, "played", "readouts", "win_rate", "low", "high")
TEXTS = ("judge", "opponent", "sprt")


# Settings that limit a run, by name: the entry of metrics.jsonl that the setting limits, and the setting's unit in
# units of the entry, such as 60 for a minute in seconds.
LIMITS = {"num_games": ("games", 1), "max_minutes": ("seconds", 60), "max_processor_minutes": ("processor_seconds", 60)}


@dataclass(frozen=True)
class History:
    """The logs of one run, oldest rows first."""

    folder: Path
    metrics: list[Row]  # one row per iteration
    evaluations: list[Row]  # one row per measurement of a judge


def read_history(folder: str | Path) -> History:
    """Return the logs of the run in `folder`.

    Raises:
        FileNotFoundError: if there is no run.
        ValueError: if its log has no valid row or no iteration is over yet.
    """
    folder = user_path(folder)
    if not (folder / METRICS).is_file():
        # A folder of several runs, such as a sweep's, has them one or two levels below; the hint names the last three.
        logs = sorted(folder.glob(f"*/{METRICS}")) or sorted(folder.glob(f"*/*/{METRICS}"))
        hint = f": did you mean {' or '.join(str(log.parent) for log in logs[-3:])}?" if logs else ""
        raise FileNotFoundError(f"a run must be a folder with {METRICS}, got {folder}{hint}")
    metrics = read_rows(folder / METRICS, required_key="seconds")
    if not metrics:
        raise ValueError(f"{folder / METRICS} has no complete line: no iteration of training is over yet")
    return History(folder, metrics, read_rows(folder / EVALUATIONS, required_key="opponent"))


def read_rows(path: Path, required_key: str) -> list[Row]:
    """Return the rows of a file of JSON lines that have `required_key`; [] if there is no such file.

    Invalid lines are left out.  A killed run may leave an incomplete line, to which the next row is then appended.

    Raises:
        ValueError: if the file is no regular file or too large, or has complete lines but none with `required_key`.
    """
    lines = log_bytes(path).split(b"\n")
    rows: list[Row] = [row for row in map(parse_row, lines) if required_key in row]
    if not rows and any(line.strip() for line in lines[:-1]):  # the last line may be incomplete
        raise ValueError(f"{path} is not what a run writes: no line of it is a JSON object with {required_key!r}")
    return rows


def log_bytes(path: Path) -> bytes:
    """Return a log's bytes, b"" if there is none; raise ValueError if it is no regular file or too large for a log."""
    try:
        return read_named(path, MOST_LOG_BYTES)
    except FileNotFoundError:
        return b""


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a file of JSON lines; if that fails, raise OSError and leave the file unchanged."""
    append(path, (json.dumps(row) + "\n").encode())


def truncate(path: Path, length: int) -> str:
    """Shorten a log to `length` bytes and return "".

    If the log is already shorter, remove an incomplete last line and return a sentence about the loss.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size >= length:
        if size > length:
            os.truncate(path, length)
        return ""
    data = log_bytes(path)
    left = data.rfind(b"\n") + 1  # the bytes of complete lines
    if left < len(data):
        os.truncate(path, left)
    lines = data.count(b"\n")
    return f"{path} has lost its end: {left} of {length} bytes are left, {lines} lines; it goes on after them"


def parse_row(line: bytes) -> dict[str, Any]:
    """Return the row in a line; {} if the line is not a JSON object, or has a value of a wrong type."""
    try:
        row = json.loads(line)
        return row if isinstance(row, dict) and has_right_types(row) else {}
    except (ValueError, TypeError, RecursionError):
        return {}


def has_right_types(row: Row) -> bool:
    """Return whether the entries of a row that readers use have the right types."""
    numbers = [row[key] for key in NUMBERS if row.get(key) is not None]
    texts = [row[key] for key in TEXTS if key in row]
    # In a match's row, "moves" is a list of games (see `is_game`); in other rows, an iteration's number of moves.
    is_match = "opponent" in row
    games = (row.get("moves") or ()) if is_match else ()
    return (
        all(map(is_number, numbers))
        and all(isinstance(text, str) for text in texts)
        and all(map(is_game, games))
        and isinstance(row.get("accepted", False), bool)
    )


def is_number(value: object) -> bool:
    """Return whether a value is a number, which may be infinite, and no bool."""
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**63)  # larger integers may fit no float


def is_game(value: object) -> bool:
    """Return whether a value is a game in a match's `moves`: its moves as text, and its outcome."""
    return isinstance(value, dict) and isinstance(value.get("moves"), str) and is_number(value.get("outcome"))


def number(row: Row, key: str) -> float | None:
    """Return the row's value of `key` as a float; None if it is missing, not a number, or not finite."""
    value = row.get(key)
    return float(value) if value is not None and is_number(value) and math.isfinite(value) else None


def mean_over_time(rows: Sequence[Row], key: str) -> float | None:
    """Return the mean of a metric, each value weighted by the seconds since the row before; None if unknown.

    Args:
        rows: consecutive rows of metrics.jsonl, oldest first.
    """
    pairs = []  # (value, seconds)
    for before, row in pairwise(rows):
        value, began, ended = number(row, key), number(before, "seconds"), number(row, "seconds")
        if value is not None and began is not None and ended is not None:
            pairs.append((value, ended - began))
    total = sum(seconds for _, seconds in pairs)
    return sum(value * seconds for value, seconds in pairs) / total if total > 0 else None


def limits(settings: Mapping[str, Any], row: Row) -> dict[str, tuple[float, float]]:
    """Return for each limit of a run (see LIMITS), by the setting's name, what was spent of it and the limit itself.

    Both are in the setting's unit, such as (12.5, 30.0) for "max_minutes".

    Args:
        settings: the run's settings by name, see `flat_settings`.
        row: a row of metrics.jsonl, with what was spent until then.
    """
    spent_and_limit = {}
    for name, (key, unit) in LIMITS.items():
        if limit := number(settings, name):  # otherwise the run does not have this limit
            spent_and_limit[name] = (number(row, key) or 0.0) / unit, limit
    return spent_and_limit


def opponent_name(row: Row) -> str:
    """Return a row's opponent and, if the row has them, the readouts of the run's network, such as "gnugo:10@64".

    Args:
        row: a row of evaluations.jsonl.
    """
    readouts = number(row, "readouts")
    return row["opponent"] + ("" if readouts is None else f"@{readouts:.0f}")
