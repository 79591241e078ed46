"""The tables of README.md, docs/results.md and other pages, made from docs/results/*.json.

    python docs/make_tables.py          # write them anew
    python docs/make_tables.py --todo   # which rows are missing or stale, and the commands that measure them

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. Rows of strength.json are written by
benchmarks/measure.py, those of baseline.json by benchmarks/baseline.py, rows of speed.json by the other benchmarks
(`--json`).
"""

import argparse
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from alphago.arena.match_result import wilson
from alphago.exams.statistics import Estimate, mean_of_few
from alphago.mcts.levels import FULL_STRENGTH
from alphago.mcts.levels import all_tables as level_tables

Row = dict[str, Any]
ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("results", "baseline", "web", "analysis", "datasets", "levels", "games/index")
    ),
)
STRENGTH, SPEED, BASELINE = (ROOT / "docs" / "results" / f"{name}.json" for name in ("strength", "speed", "baseline"))
TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
README = ("7x7-6-minutes-64", "7x7-packaged-64", "9x9-packaged-64", "13x13-packaged-64")  # four rows, by id


def rows_of(path: Path) -> list[Row]:
    return json.loads(path.read_text("utf-8"))


def measured(*sections: str) -> list[Row]:
    """The rows of these sections that have a figure of the present recipe."""
    return [row for row in rows_of(STRENGTH) if row["section"] in sections and row["status"] == "measured"]


def win_rate(row: Row) -> str:
    rate = (row["wins"] + row["draws"] / 2) / row["games"]
    low, high = wilson(rate, row["games"])
    return f"{rate:.1%} ({low:.1%} to {high:.1%})".replace("%", " %").replace(" % to", " to")


def training(row: Row) -> str:
    spent = row["training"]
    parts = {"minutes": f"{spent['minutes']} min", "games": f"{spent['games']:,} games".replace(",", " ")}
    parts["processor_seconds"] = f"{spent['processor_seconds']} s of one core"
    return ", ".join(text for key, text in parts.items() if spent[key] is not None)


def searched(row: Row) -> str:
    return "policy alone" if row["readouts"] == 0 else f"{row['readouts']}"


def source(row: Row) -> str:
    date = f"[{row['date']}](experiments/{row['page']}.md)" if row["page"] else row["date"]
    return f"{date}, {row['machine']}, {row['commit']}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def matches(*sections: str) -> str:
    rows = []
    for row in measured(*sections):
        against, counts = row["opponent"].partition(" 3.8")[0], f"{row['wins']}, {row['draws']}, {row['losses']}"
        network = (row["board"], row["name"], training(row))
        rows.append((*network, searched(row), against, counts, win_rate(row), source(row)))
    heads = ("board", "network", "training", "readouts", "against", "wins, draws, losses", "win rate", "measured")
    return table(heads, rows)


def anchors() -> str:
    rows = [(row["board"], row["name"], f"{row['games']}", win_rate(row), source(row)) for row in measured("anchor")]
    return table(("board", "player", "games", "win rate", "measured"), rows)


def readme() -> str:
    by_id = {row["id"]: row for row in rows_of(STRENGTH)}
    chosen = [by_id[name] for name in README]
    packaged = {row["id"]: f", {row['name']}" for row in chosen if row["section"] == "packaged"}
    cells = [
        (f"{row['board']}, {training(row)}{packaged.get(row['id'], '')}", f"{win_rate(row)} of {row['games']} games")
        for row in chosen
    ]
    return table(("training on two cores", "against GNU Go 3.8 at level 10, 64 readouts a move"), cells)


def number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.6g}"


def speed() -> str:
    """The rows of the page of results; rows of other pages name theirs."""
    rows = []
    for row in rows_of(SPEED):
        if row.get("page"):
            continue
        spread = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
        figure = f"{number(row['value'])} {row['unit']}".strip() + spread
        rows.append((row["what"], target(row), figure.replace(" /s", "/s"), verdict(row), f"`{row['command']}`"))
    return table(("what", "target", "figure", "", "command"), rows)


def speed_of(page: str) -> str:
    """The rows of another page that are measured."""
    rows = []
    for row in rows_of(SPEED):
        if row.get("page") != page or row["status"] != "measured":
            continue
        spread = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
        where = f"{row['date']}, {row['machine']}, {row['commit']}"
        rows.append((row["what"], target(row), f"{number(row['value'])} {row['unit']}{spread}", verdict(row), where))
    return table(("what", "target", "figure", "", "measured"), rows)


def target(row: Row) -> str:
    bounds = (("at least", row["at_least"]), ("at most", row["at_most"]))
    return ", ".join(f"{words} {number(bound)}" for words, bound in bounds if bound is not None)


def verdict(row: Row) -> str:
    if row["at_least"] is None and row["at_most"] is None:
        return ""
    low, high = row["at_least"] or float("-inf"), row["at_most"] or float("inf")
    return "met" if low <= row["value"] <= high else "missed"


def levels() -> str:
    """The measured levels of Go's boards."""
    boards = level_tables()["games"]["go"]
    rows: list[tuple[str, ...]] = []
    for number in range(FULL_STRENGTH):
        own = {board: one["levels"][number] for board, one in boards.items()}
        lost = [points_lost(own[board], name) for name in ("exam", "judged") for board in boards]
        nine = own["9"]
        aims = [f"{own[board]['target']:g} ({own[board]['readouts']})" for board in ("9", "13")]
        elos = ["{:+} ({:+} to {:+})".format(*row["elo"]) if "elo" in row else "" for row in own.values()]
        gnugo = ""
        if "games" in nine:
            won, drawn, _ = nine["games"]
            gnugo = f"{(won + drawn / 2) / sum(nine['games']):.0%} of {sum(nine['games'])}".replace("%", " %")
        rows.append((f"{number + 1}", *lost, *aims, *elos, gnugo))
    counts = [
        f"{board}x{board} ({one['levels'][0].get(name, [0] * 4)[3]} {kind})"
        for name, kind in (("exam", "positions"), ("judged", "others"))
        for board, one in boards.items()
    ]
    elo_heads = [f"Elo to the level before, {board}x{board}" for board in boards]
    aim_heads = ["aim (readouts), 9x9", "aim (readouts), 13x13"]
    heads = ["level", *counts, *aim_heads, *elo_heads, "against GNU Go 10, 9x9"]
    full = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    return table(tuple(heads[at] for at in full), [tuple(row[at] for at in full) for row in rows])


def points_lost(row: Row, name: str) -> str:
    """A measurement of a level by its name, "" if there is none."""
    if name not in row:
        return ""
    lost, low, high, _ = row[name]
    return f"{lost:.2f} ± {(high - low) / 2:.2f}"


def other_levels() -> str:
    """The win rate that levels of other games lose, in percent."""
    games = {name: boards for name, boards in level_tables()["games"].items() if name not in ("go", "any")}
    tables = [one["levels"] for boards in games.values() for one in boards.values()]
    rows = [
        (f"{number + 1}", *(rate_lost(levels[number]) for levels in tables), f"{100 * tables[0][number]['target']:g} %")
        for number in range(FULL_STRENGTH)
    ]
    return table(("level", *(name.replace("-", " ").title() for name in games), "aim"), rows)


def rate_lost(row: Row) -> str:
    return f"{100 * row['lost']:.1f} ± {50 * (row['high'] - row['low']):.1f} %" if "lost" in row else ""


def baseline() -> str:
    """The methods' means over their seeds; published networks with the exam's own intervals."""
    heads = ("price", "method", "seeds", "points lost @0", "@64", "GNU Go 10", "KataGo @0", "games, steps", "measured")
    rows = []
    for row in rows_of(BASELINE):
        entries, digests = row["entries"], "".join(f", {one['digest']}" for one in row["entries"] if "digest" in one)
        seeds = "" if row["network"] else f"{len(entries)}"
        points = [of_seeds([one[f"points_{readouts}"] for one in entries], row["network"]) for readouts in (0, 64)]
        rates = [[100 * one[name]["rate"] for one in entries if name in one] for name in ("gnugo", "katago")]
        matches = [f"{text(mean_of_few(np.array(rate)), 1)} %" if rate else "" for rate in rates]
        work = ", ".join(f"{np.mean([one[key] for one in entries]):,.0f}" for key in ("games", "steps") if seeds)
        where = dict.fromkeys(f"{one['date']}, {one['machine']}, {one['commit']}" for one in entries)
        method = f"{row['name']} `{row['settings']}`" if row["settings"] else row["name"]
        rows.append((row["price"], method, seeds, *points, *matches, work, "; ".join(where) + digests))
    return table(heads, rows)


def of_seeds(points: list[list[float]], network: str | None) -> str:
    """The mean of the seeds with Student's interval; of a published network its own."""
    return text(Estimate(*points[0]) if network else mean_of_few(np.array([value for value, *_ in points])), 2)


def text(found: Estimate, digits: int) -> str:
    return f"{found.value:.{digits}f}" + ("" if np.isnan(found.margin) else f" ± {found.margin:.{digits}f}")


TABLES: dict[str, Callable[[], str]] = {
    "readme": readme,
    "packaged": lambda: matches("packaged"),
    "recipe": lambda: matches("recipe", "cody2007", "sample"),
    "anchors": anchors,
    "speed": speed,
    "baseline": baseline,
    "levels": levels,
    "other-levels": other_levels,
    **{f"speed-{page}": partial(speed_of, page) for page in ("web", "analysis", "datasets", "games")},
}


def with_tables(text: str) -> str:
    """The page with all of its tables made anew."""
    return TABLE.sub(lambda found: found[1] + TABLES[found[2]]() + found[4], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--todo", action="store_true", help="print what is missing or stale")
    if parser.parse_args().todo:
        for row in (*rows_of(STRENGTH), *rows_of(SPEED)):
            if row["status"] != "measured":
                print(f"{row['status']:<8} {row['id']:<26} {row.get('note', '')}")
                print("".join(f"    {row[key]}\n" for key in ("train", "match", "command") if row.get(key)), end="")
        return
    for page in PAGES:
        page.write_text(with_tables(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
