"""What a run wrote down while it trained: the rows of its metrics and of its evaluations."""

import errno
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"
EVALUATIONS = "evaluations.jsonl"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class History:
    """The rows of one run, oldest first.

    metrics: one row per iteration of training.
    evaluations: one row per match against one opponent; empty where the run played none.
    """

    folder: Path
    metrics: list[Row]
    evaluations: list[Row]


def read_history(folder: str | Path) -> History:
    """The history of the run in `folder`.

    ValueError if the folder's metrics are no metrics, or hold no iteration yet; OSError if they cannot
    be read.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no run: wanted a folder with {METRICS}")
    if not (folder / METRICS).is_file():
        raise FileNotFoundError(f"{folder} is no run: it has no {METRICS}")
    metrics = read_rows(folder / METRICS, "seconds")
    if not metrics:
        raise ValueError(f"{folder / METRICS} holds no whole line: no iteration of training is over yet")
    evaluations = folder / EVALUATIONS
    return History(folder, metrics, read_rows(evaluations, "opponent") if evaluations.is_file() else [])


def read_rows(path: Path, key: str) -> list[Row]:
    """The rows of a file of JSON lines that have `key`.

    A line that does not parse is left out: a run that was killed tears its last line, and one that
    goes on afterwards joins its next line to it.  ValueError if there are whole lines but no row.
    """
    lines = path.read_bytes().split(b"\n")
    rows: list[Row] = [row for row in map(parsed, lines) if key in row]
    if not rows and any(line.strip() for line in lines[:-1]):  # the last one has no end: torn
        raise ValueError(f"{path} is not what a run writes: no line of it is a JSON object with {key!r}")
    return rows


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Appends a row to a file of JSON lines, whole or not at all; OSError if it cannot be written."""
    data = (json.dumps(row) + "\n").encode()
    with open(path, "ab", buffering=0) as file:
        before = file.tell()
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            file.truncate(before)
            raise


def cut_off(path: Path, length: int) -> None:
    """Drops what a file holds beyond so many bytes."""
    if path.exists() and path.stat().st_size > length:
        os.truncate(path, length)


def parsed(line: bytes) -> dict[str, Any]:
    """The JSON object in a line; an empty one if there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def number(row: Row, key: str) -> float | None:
    """A finite number of the row; None where it is missing, null or something else."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
