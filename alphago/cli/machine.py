"""`alphago bench` and `alphago info`."""

import argparse
import json

import alphago
from alphago.arena.standings import table
from alphago.cli.options import number
from alphago.cli.rates import measure_rates
from alphago.cli.signature import search_runs, signature
from alphago.nn.machine import describe_machine


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
    parser.description = "Tells versions and devices, and measures how fast this machine is, in about five seconds."
    parser.add_argument("--seconds", type=number, default=5.0, metavar="S", help="time to measure; 0: do not (5)")
    parser.add_argument("--json", action="store_true", help="as JSON, rates unrounded")
    parser.set_defaults(run=run_info)


def run_info(options: argparse.Namespace) -> int:
    if not options.seconds >= 0:
        raise ValueError(f"--seconds is 0 or more, came {options.seconds:g}")
    machine = describe_machine()
    machine["versions"] = {"alphago": alphago.__version__, **machine["versions"]}
    rates = measure_rates(options.seconds) if options.seconds else {}
    if options.json:
        print(json.dumps({**machine, "rates": rates}, indent=2))
        return 0
    for title, facts in machine.items():
        print(title)
        for name, fact in facts.items():
            print(f"  {name:<42} {told(fact)}")
    if rates:
        print("rates, per second")
        for name, rate in rates.items():
            print(f"  {name:<42} {rate:12,.0f}")
    return 0


def told(fact: object) -> str:
    """A fact as people write it."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, list):
        return ", ".join(map(str, fact)) or "none"
    return "not installed" if fact is None else str(fact)
