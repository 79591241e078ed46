"""`alphago bench` and `alphago info`."""

import argparse
import json
from pathlib import Path
from typing import Any

import alphago
from alphago.arena.standings import table
from alphago.cli.options import number
from alphago.cli.rates import measure_rates
from alphago.cli.signature import search_runs, signature
from alphago.nn.inference.devices import describe_machine
from alphago.nn.model_files import LATEST, read_weights
from alphago.training.history import number as number_of
from alphago.training.history import read_history
from alphago.training.watch.recent import RECENT_ROWS
from alphago.training.watch.time_shares import mean_shares


def add_bench(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Searches fixed positions of every game by both rules, with priors and values that are hashes of positions. "
        "The number at the end is the same on every machine, and changes only when rules or search do something else."
    )
    parser.set_defaults(run=run_bench)


def run_bench(options: argparse.Namespace) -> int:
    runs = list(search_runs())
    rows = [["game", "search", "checksum", "simulations/s"]]
    rows += [[run.game, run.rule, f"{run.checksum}", f"{run.simulations / run.seconds:,.0f}"] for run in runs]
    print(table(rows))
    rate = sum(run.simulations for run in runs) / sum(run.seconds for run in runs)
    print(f"\nsimulations/s  {rate:,.0f}\nsignature      {signature(runs)}")
    return 0


def add_info(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tells versions and devices, and measures how fast this machine is, in about five seconds; or, of a run, where "
        "its time went lately, and from which value on its network may resign."
    )
    parser.usage = f"{parser.prog} [RUN] [OPTIONS]"
    parser.add_argument("folder", nargs="?", metavar="RUN", help="a folder that training has left, or is filling")
    parser.add_argument("--seconds", type=number, metavar="S", help="time to measure; 0: do not (5; 0 with a run)")
    parser.add_argument("--json", action="store_true", help="as JSON, rates unrounded")
    parser.set_defaults(run=run_info)


def run_info(options: argparse.Namespace) -> int:
    seconds = options.seconds if options.seconds is not None else 5.0 if options.folder is None else 0.0
    if not seconds >= 0:
        raise ValueError(f"--seconds is 0 or more, got {seconds:g}")
    machine = describe_machine()
    machine["versions"] = {"alphago": alphago.__version__, **machine["versions"]}
    if options.folder is not None:
        machine["time"] = described_time(options.folder)
        machine["resignation"] = described_resignation(options.folder)
    rates = measure_rates(seconds) if seconds else {}
    if options.json:
        print(json.dumps({**machine, "rates": rates}, indent=2))
        return 0
    for title, facts in machine.items():
        print(title if facts else f"{title}\n  not known yet")
        for name, fact in facts.items():
            print(f"  {name:<42} {told(fact)}")
    if rates:
        print("rates, per second")
        for name, rate in rates.items():
            print(f"  {name:<42} {rate:12,.0f}")
    return 0


def described_time(folder: str) -> dict[str, float]:
    """The shares of a run's latest iterations that each kind of work took, the greatest first, and how busy cores
    and GPU were.
    """
    rows = read_history(folder).metrics[-RECENT_ROWS:]
    shares = {kind: share for kind, share in mean_shares(rows).items() if share}
    told = dict(sorted(shares.items(), key=lambda pair: -pair[1]))
    for name, key in (("threads on the processor", "processor_share"), ("GPU busy", "gpu_busy")):
        if found := [share for row in rows if (share := number_of(row, key)) is not None]:
            told[name] = sum(found) / len(found)
    return told


def described_resignation(folder: str) -> dict[str, Any]:
    """From which value on the mover may resign, from how many resignations that is known, and how many were wrong."""
    path = Path(folder) / LATEST
    notes = read_weights(path)[1]["extra"] if path.exists() else {}
    names = {
        "mover's value below": ("resign_threshold", str), "resignations judged": ("resignations_judged", int),
        "of them not lost": ("resignations_wrong", float),
    }  # fmt: skip
    return {name: read(notes[note]) for name, (note, read) in names.items() if note in notes}


def told(fact: object) -> str:
    """A fact as people write it."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, float):
        return f"{fact:.1%}"
    if isinstance(fact, list):
        return ", ".join(map(str, fact)) or "none"
    return "not installed" if fact is None else str(fact)
