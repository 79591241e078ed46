"""Figures as data: what a script measured, for the rows of docs/results/speed.json that it names.

A script makes `Figures(options.json)`, gives it each figure by the id of its row, and saves them at its end; without a
path nothing is written.  `python docs/make_tables.py` makes the table.
"""

import argparse
import datetime
import json
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alphago.nn.inference.hardware import describe_machine

ROOT = Path(__file__).parents[1]


def stamp() -> dict[str, Any]:
    """Where and when something is measured: machine with fast dtypes, and AMX, of its processor; commit; date."""
    machine = describe_machine()["machine"]
    fast = [name for name in ("bfloat16", "int8", "AMX") if machine[f"{name} on the CPU"]] or ["float32"]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    names = f"{machine['processor']} ({', '.join(fast)}), {machine['cores']} cores"
    return {"machine": names, "commit": commit.strip() or None, "date": f"{datetime.date.today()}"}


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as JSON, one to a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", "utf-8")


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="rows to write the figures to, docs/results/speed.json"
    )


def rate(work: Callable[[], int], seconds: float) -> float:
    """Return the count per second of `work`, which returns what it did, repeated for about `seconds`."""
    done, start = 0, time.perf_counter()
    while done == 0 or time.perf_counter() < start + seconds:
        done += work()
    return done / (time.perf_counter() - start)


class Counted:
    """An evaluator that counts what it is asked, by several threads too; else it is as the one in it."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.positions, self.batches, self.lock = inner, 0, 0, threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def evaluate(self, batch: Any, slots: np.ndarray, *others: Any, **options: Any) -> None:
        self.inner.evaluate(batch, slots, *others, **options)
        with self.lock:
            self.positions += len(slots)
            self.batches += 1


class Figures:
    """Figures by the id of their row."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.values: dict[str, dict[str, float | None]] = {}

    def add(self, row: str, value: float, low: float | None = None, high: float | None = None) -> None:
        """Keep a figure, rounded to three digits, with the least and the greatest of its turns."""
        rounded = (None if figure is None else float(f"{figure:.3g}") for figure in (value, low, high))
        self.values[row] = dict(zip(("value", "low", "high"), rounded, strict=True))

    def save(self) -> None:
        """Update the rows that there are; ids without a row are figures that the table leaves out."""
        if self.path is None:
            return
        where = {**stamp(), "status": "measured"}
        rows = json.loads(self.path.read_text("utf-8"))
        write_rows(
            self.path, [row | self.values[row["id"]] | where if row["id"] in self.values else row for row in rows]
        )
