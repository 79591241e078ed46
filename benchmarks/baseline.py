"""Rows of the baseline (docs/baseline.md): what a method learns for a fixed price, by several seeds and outside judges.

    export ALPHAGO_KATAGO=b10c384h6nbttflrs.bin.gz                  # the judge of the matches at one visit
    python benchmarks/baseline.py 7x7:10 gumbel                     # ten minutes of one core, five seeds
    python benchmarks/baseline.py 9x9:gpu5 gumbel --seeds 3         # five minutes of a GPU
    python benchmarks/baseline.py 7x7:10 mine -- --search mine.py:Mine --readouts 12    # a method of your own
    python benchmarks/baseline.py 9x9 b6c96 --network katago:FILE   # a published network, by the same judges
    python docs/make_tables.py                                      # the table, from docs/results/baseline.json

A seed is a run folder, `runs/baseline/7x7-10/NAME/SEED/run`, and each judgement a file or a folder beside it: the same
command goes on where it was stopped, and what is there is not measured again.  So a run that was made otherwise, by a
program of your own, is judged where it lies there.  More `--seeds` are added to a row.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from figures import stamp, write_rows
from measure import played, run

from alphago.nn.model_files import LATEST
from alphago.nn.net import load_model
from alphago.training.call.summary import run_summary
from alphago.training.history import read_history
from alphago.training.runs.config import holds_run

ROWS = Path(__file__).parents[1] / "docs" / "results" / "baseline.json"
RULES = Path("examples/rules")
PLAYER = "@64,gumbel"  # how networks play the matches
METHODS = {  # the settings of the methods that have a name here: searches of self-play
    "gumbel": (),
    "puct": ("--search", f"{RULES}/paper_puct.py:PaperPuct"),
    "tree-free": ("--search", f"{RULES}/tree_free.py:TreeFree", "--leaves", "8", "--readouts", "12"),
    "breadth-first": ("--search", f"{RULES}/breadth_first.py:BreadthFirst", "--leaves", "16"),
}


class Price(NamedTuple):
    """What a run may cost: minutes of one core, or of a GPU; no minutes for networks that are there already."""

    board: int
    on_gpu: bool
    minutes: str

    @property
    def training(self) -> str:
        """The options of `alphago train`."""
        time = f"--minutes {self.minutes} --device cuda" if self.on_gpu else f"--processor-minutes {self.minutes}"
        return f"--board-size {self.board} {time if self.on_gpu else f'{time} --groups 1 --device cpu'}"


def price_of(text: str) -> Price:
    """The price in a text such as "7x7:10", "9x9:gpu5" or "9x9"."""
    found = re.fullmatch(r"(\d+)x\1(?::(gpu)?([\d.]+))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be a board and minutes such as 7x7:10 or 9x9:gpu5, got {text}")
    return Price(int(found[1]), bool(found[2]), found[3] or "")


def judged(network: str, folder: Path, board: int, games: int) -> dict[str, Any]:
    """The judgements of a network: points lost on the exam with 95 % intervals, and win rates."""
    exam = folder / "exam.jsonl"
    if not exam.exists():
        run(f"alphago exam {shlex.quote(network)} --readouts 0,64 --file {board}x{board}", "--json", str(exam))
    grades = map(json.loads, exam.read_text("utf-8").splitlines())
    points = {grade["player"]: grade for grade in grades if not {"minus", "phase", "kind"} & grade.keys()}
    found: dict[str, Any] = {
        f"points_{name.rpartition('@')[2]}": [round(grade[key], 3) for key in ("points", "points_low", "points_high")]
        for name, grade in points.items()
    }
    katago = os.environ.get("ALPHAGO_KATAGO")
    opponents = {"gnugo": "gnugo:10", **({"katago": f"katago:{katago}@0"} if katago else {})}
    for name, opponent in opponents.items() if games else ():
        players = shlex.join([f"{network}{PLAYER}", opponent])
        env = load_model(network).env  # both players' komi is this network's, on the board of the price
        komi = (env if board == env.N else env.resized(board)).komi
        match = f"{players} --games {games} --board-size {board} --komi {komi:g}"
        run(f"alphago evaluate {match}", "--folder", str(folder / name))
        counts = played(folder / name)
        found[name] = {**counts, "rate": (counts["wins"] + counts["draws"] / 2) / counts["games"]}
    if katago and games:
        found["katago"]["digest"] = digest(Path(katago))
    return found


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def measured(seed: int, price: Price, settings: str, folder: Path, games: int) -> dict[str, Any]:
    """What the run of a seed reached: it is trained, or goes on, and is judged."""
    path = folder / "run"
    if not holds_run(path) or run_summary(path)["over"] == "no":
        run(f"alphago train {price.training} {settings} --seed {seed}", "--folder", str(path))
    last = read_history(path).metrics[-1]
    spent = {key: round(last[key], 1) for key in ("seconds", "processor_seconds", "games", "positions", "steps")}
    grades = judged(str(path), folder, price.board, games)
    return {"seed": seed, **grades, **spent, "digest": digest(path / LATEST), **stamp()}


def row_there(rows: list[dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    """The row with the same price and name, or one without entries; exits if it has another method."""
    key = {name: row[name] for name in ("price", "name")}
    before = next((old for old in rows if key.items() <= old.items()), {**row, "entries": []})
    for name in ("settings", "network"):
        if before[name] != row[name]:
            sys.exit(f"{row['name']} has the {name} {before[name]!r} there, got {row[name]!r}: give it another name")
    return before


def read_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return rows


def add_entry(path: Path, row: dict[str, Any], entry: dict[str, Any]) -> None:
    """Write an entry of a row, in place of that of the same seed; rows are told apart by price and name."""
    rows = read_rows(path)
    before = row_there(rows, row)
    entries = [old for old in before["entries"] if old["seed"] != entry["seed"]]
    entries = sorted([*entries, entry], key=lambda one: one["seed"] or 0)
    rows = [old for old in rows if old is not before] + [{**row, "entries": entries}]
    write_rows(path, sorted(rows, key=lambda one: (one["price"], one["name"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("price", type=price_of, help="7x7:10, 9x9:60, 9x9:gpu5, 9x9:gpu15; with --network a board, 9x9")
    parser.add_argument("name", help=f"of the method: {', '.join(METHODS)}, or one with settings of its own")
    parser.add_argument("--network", help="a published network, judged in place of trained ones")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 1 to this (5)")
    parser.add_argument("--games", type=int, default=50, help="of each match; 0: the exam alone (50)")
    parser.add_argument("--folder", type=Path, default=Path("runs/baseline"), help="of runs and judgements")
    parser.add_argument("--rows", type=Path, default=ROWS, help="where the rows are (docs/results/baseline.json)")
    parser.usage = f"{parser.format_usage().removeprefix('usage: ').rstrip()} [-- OPTIONS OF `alphago train`]"
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:cut])
    price, name = options.price, options.name
    text = f"{price.board}x{price.board}" + f":{'gpu' * price.on_gpu}{price.minutes}" * bool(price.minutes)
    if bool(price.minutes) == bool(options.network):
        parser.error("the price must have minutes, or --network must name a network that is there")
    settings = shlex.join(sys.argv[cut + 1 :] or METHODS.get(name, ()))
    row = {"price": text, "name": name, "settings": settings, "network": options.network and Path(options.network).name}
    row_there(read_rows(options.rows), row)  # before the hours, not after
    for seed in (None,) if options.network else range(1, options.seeds + 1):
        folder = options.folder / text.replace(":", "-") / name / f"{'' if seed is None else seed}"
        folder.mkdir(parents=True, exist_ok=True)
        if seed is None:
            grades = judged(options.network, folder, price.board, options.games)
            file = Path(options.network.removeprefix("katago:"))
            known = {"digest": digest(file)} if file.is_file() else {}
            add_entry(options.rows, row, {"seed": None, **grades, **known, **stamp()})
        else:
            add_entry(options.rows, row, measured(seed, price, settings, folder, options.games))


if __name__ == "__main__":
    main()
