"""Measures rows of docs/results/strength.json: runs the training and the match that a row names, and writes the result.

    python benchmarks/measure.py 7x7-10-minutes-64 7x7-10-minutes-0
    python docs/make_tables.py

A run folder that is there is gone on with, so that several rows share one training. Without arguments: all rows that
are missing or stale.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from figures import stamp, write_rows

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "docs" / "results" / "strength.json"


def run(command: str, *more: str) -> None:
    """Run an `alphago` command line as it stands in a row; SystemExit where it fails."""
    words = shlex.split(command)
    start = words.index("alphago")
    arguments = [*words[:start], sys.executable, "-m", "alphago", *words[start + 1 :], *more]
    print(" ".join(arguments), flush=True)
    if subprocess.run(arguments, check=False).returncode:
        raise SystemExit(f"measure: failed: {command}")


def trained(command: str) -> dict[str, Any]:
    """What the run of a training command took, from its metrics."""
    folder = Path(shlex.split(command)[shlex.split(command).index("--folder") + 1])
    last = json.loads((folder / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
    minutes = round(last["seconds"] / 60, 1)
    return {"minutes": minutes, "games": last["games"], "processor_seconds": round(last["processor_seconds"])}


def played(folder: Path) -> dict[str, int]:
    """Wins, draws and losses of the first player."""
    outcomes = [json.loads(line)["outcome"] for line in (folder / "games.jsonl").read_text("utf-8").splitlines()]
    counts = {name: sum(map(test, outcomes)) for name, test in TESTS.items()}
    return {"games": len(outcomes), **counts}


TESTS = {"wins": lambda x: x > 0, "draws": lambda x: x == 0, "losses": lambda x: x < 0}


def measure(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its result, where and when it was measured."""
    if row["train"]:
        run(row["train"])
        row = {**row, "training": trained(row["train"])}
    folder = Path("runs") / f"match-{row['id']}"
    run(row["match"], "--folder", str(folder))
    return {**row, **played(folder), **stamp(), "distinct": None, "status": "measured", "note": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="rows to measure (all that are missing or stale)")
    parser.add_argument("--rows", type=Path, default=ROWS, help="where the rows are (docs/results/strength.json)")
    options = parser.parse_args()
    rows = json.loads(options.rows.read_text("utf-8"))
    if unknown := set(options.ids) - {row["id"] for row in rows}:
        raise SystemExit(f"measure: no row {', '.join(sorted(unknown))}; there are {', '.join(r['id'] for r in rows)}")
    for i, row in enumerate(rows):
        if row["id"] in options.ids or (not options.ids and row["status"] != "measured"):
            rows[i] = measure(row)
            write_rows(options.rows, rows)


if __name__ == "__main__":
    main()
