"""The logs of a run as JSON lines: one row per iteration, and one per measurement of a judge."""

import errno
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"
EVALUATIONS = "evaluations.jsonl"
HELD_OUT = "held-out"  # the value of "judge" in rows of supervised learning's tests

Row = Mapping[str, Any]


@dataclass(frozen=True)
class History:
    """The logs of one run, oldest rows first."""

    folder: Path
    metrics: list[Row]  # one row per iteration
    evaluations: list[Row]  # one row per measurement of a judge

    @property
    def is_supervised(self) -> bool:
        """Whether the run learns from given games, as the rows of its tests on held-out games show."""
        return any(row.get("judge") == HELD_OUT for row in self.evaluations)


def read_history(folder: str | Path) -> History:
    """Return the logs of the run in `folder`.

    Raises FileNotFoundError if there is no run, ValueError if its log has no valid row or no iteration is over yet.
    """
    folder = Path(folder)
    if not (folder / METRICS).is_file():
        raise FileNotFoundError(f"a run must be a folder with {METRICS}, got {folder}")
    metrics = read_rows(folder / METRICS, "seconds")
    if not metrics:
        raise ValueError(f"{folder / METRICS} has no complete line: no iteration of training is over yet")
    return History(folder, metrics, read_rows(folder / EVALUATIONS, "opponent"))


def read_rows(path: Path, key: str) -> list[Row]:
    """Return those rows of a file of JSON lines that have `key`; [] if there is no such file.

    Invalid lines are left out: a killed run may leave an incomplete line, and the next line is appended to it.
    Raises ValueError if the file has complete lines but none with `key`.
    """
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    rows: list[Row] = [row for row in map(parse_object, lines) if key in row]
    if not rows and any(line.strip() for line in lines[:-1]):  # the last line may be incomplete
        raise ValueError(f"{path} is not what a run writes: no line of it is a JSON object with {key!r}")
    return rows


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a file of JSON lines; if that fails, raise OSError and leave the file unchanged."""
    data = (json.dumps(row) + "\n").encode()
    with open(path, "ab", buffering=0) as file:
        before = file.tell()
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            file.truncate(before)
            raise


def truncate(path: Path, length: int) -> str:
    """Shorten a log to `length` bytes and return "".

    If the log is already shorter, remove an incomplete last line and return a sentence about the loss.
    """
    data = path.read_bytes() if path.is_file() else b""
    whole = data[:length] if len(data) >= length else data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    if len(data) >= length:
        return ""
    lines = whole.count(b"\n")
    return f"{path} has lost its end: {len(whole)} of {length} bytes are left, {lines} lines; it goes on after them"


def unreadable_lines(path: Path) -> str:
    """Return a sentence that lists the damaged lines of a log, which readers skip; "" if it has none."""
    lines = path.read_bytes().splitlines() if path.is_file() else []
    damaged = [number for number, line in enumerate(lines, 1) if not parse_object(line)]
    return f"{path} has damaged lines, which are left out: {abridged(damaged)} of {len(lines)}" if damaged else ""


def abridged(numbers: Sequence[int], most: int = 5) -> str:
    """Return numbers as a text such as "2, 5, 8, …", with at most `most` of them."""
    return ", ".join(map(str, numbers[:most])) + (", …" if len(numbers) > most else "")


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line; {} if the line is not a JSON object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def number(row: Row, key: str) -> float | None:
    """Return the row's value of `key` as a float; None if it is missing, not a number, or not finite."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def opponent_name(row: Row) -> str:
    """Return a row's opponent and, if the row has them, the readouts of the run's network, such as "gnugo:10@64".

    row: a row of evaluations.jsonl.
    """
    readouts = number(row, "readouts")
    return str(row["opponent"]) + ("" if readouts is None else f"@{readouts:.0f}")
