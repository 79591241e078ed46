"""`alphago info`: describe a run, a network or this machine."""

import argparse
import json
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import alphago
from alphago.cli.options import number, option
from alphago.cli.rates import measure_rates
from alphago.nn.inference.hardware import describe_machine
from alphago.nn.model_files import LATEST, model_file, read_weights
from alphago.system.validation import check_float, printable
from alphago.training.call.summary import network_facts, next_steps, run_summary
from alphago.training.history import METRICS, read_history, read_rows
from alphago.training.metrics import mean_shares
from alphago.training.runs.config import holds_run, read_config
from alphago.training.watch.diagnosis import RECENT_ROWS, numbers
from alphago.training.watch.game_log import worker_facts


def add_options(parser: argparse.ArgumentParser) -> None:
    text = "the folder of a run, finished or not; or a network's file or name (9x9)"
    option(parser, "what RUN|MODEL", text, nargs="?")
    option(parser, "--seconds S", "time for measuring speed; 0: none (5, or 0 with RUN|MODEL)", number)
    option(parser, "--json", "print JSON, with rates not rounded", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Print versions and devices, and measure this machine's speed for about five seconds.  With RUN, print the run's
    game, network, progress and results, the command that continues it, the shares of its time, its resignation
    threshold, and what to do next.  With MODEL, describe the network.
    """
    usual_seconds = 5.0 if options.what is None else 0.0
    seconds = usual_seconds if options.seconds is None else options.seconds
    check_float("--seconds", seconds, 0)
    sections = describe_machine()
    sections["versions"] = {"alphago": alphago.__version__, **sections["versions"]}
    if options.what is not None:
        sections_above, sections_below = describe_target(options.what)
        sections = {**sections_above, **sections, **sections_below}
    rates = measure_rates(seconds) if seconds else {}
    if options.json:
        print(json.dumps({**sections, "rates": rates}, indent=2))
        return 0
    if rates:
        sections["rates, per second"] = {name: f"{rate:12,.0f}" for name, rate in rates.items()}
    for title, facts in sections.items():
        print(title if facts else f"{title}\n  not known yet")
        for name, fact in facts.items():
            print(f"  {name:<42} {readable(fact)}")
    if options.what is None:
        print(f"to cite (CITATION.cff)\n  {bibtex()}")
    return 0


def bibtex() -> str:
    """Return this version as an entry for BibTeX; with the commit if the package is in a clone of its repository."""
    root, commit = Path(alphago.__file__).parents[1], ""
    with suppress(OSError):
        if (root / ".git").exists():
            command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
            commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    title = "{alphago: train, study and play {AlphaZero} on one machine}"
    note = f", note = {{commit {commit}}}" if commit else ""
    version = f"version = {{{alphago.__version__}}}, year = {{2026}}{note}"
    return f"@software{{alphago, author = {{{{alphago contributors}}}}, title = {title}, {version}}}"


def describe_target(what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return sections about a run or a network.

    Args:
        what: a run's folder, or a network's file or name.

    Returns:
        The sections to print before the machine's sections, and those to print after them: the facts of each section,
        by the section's title.
    """
    if Path(what).is_dir():
        return describe_folder(what)
    path = model_file(what)
    return {"network": {"file": str(path), **network_facts(path)}}, {"resignation": resignation_notes(path)}


def describe_folder(folder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return sections about the folder of a run, or about a folder that holds only the metrics of a run.

    Returns:
        The sections to print before the machine's sections, and those to print after them, as in `describe_target`.

    Raises:
        ValueError, FileNotFoundError: for any other folder.
    """
    path = Path(folder)
    is_run = holds_run(path)
    try:
        shares = time_shares(folder)
    except (ValueError, FileNotFoundError):
        if not is_run:
            raise
        shares = {}  # a run without two iterations yet
    rows = read_rows(path / METRICS, required_key="seconds")
    workers = worker_facts(rows[-1]) if rows else {}  # of the latest iteration
    sections_below: dict[str, Any] = {"time": shares, "workers": workers} if workers else {"time": shares}
    sections_below["resignation"] = resignation_notes(path / LATEST)
    if not is_run:
        return {}, sections_below
    sections_below["next"] = next_steps(path, read_config(path))
    return {"run": {"folder": folder, **run_summary(path)}}, sections_below


def time_shares(folder: str) -> dict[str, float]:
    """Return how a run spent the time of its latest iterations, as shares by name.

    First come the kinds of work, the largest share first, without kinds that took no time.  Then come the shares of the
    time in which threads ran on the processor, and in which the GPU was busy.
    """
    rows = read_history(folder).metrics[-RECENT_ROWS:]
    largest_first = sorted(mean_shares(rows).items(), key=lambda pair: -pair[1])
    shares = {work: share for work, share in largest_first if share}
    for name, key in (("threads on the processor", "processor_share"), ("GPU busy", "gpu_busy")):
        if measured := numbers(rows, key):
            shares[name] = sum(measured) / len(measured)
    return shares


def resignation_notes(path: Path) -> dict[str, Any]:
    """Return what a network's file says about resignation, by name; {} if there is no file.

    The facts are the threshold, the number of resignations that the threshold was judged on, and the share of wrong
    resignations, those in games that were not lost.
    """
    _, description = read_weights(path) if path.exists() else ({}, {"extra": {}})
    notes = description["extra"]
    facts = {  # by name: the note in the file, and the type in which `readable` prints it
        "mover's value below": ("resign_threshold", str),
        "resignations judged": ("resignations_judged", int),
        "of them not lost": ("resignations_wrong", float),
    }
    return {name: kind(notes[note]) for name, (note, kind) in facts.items() if note in notes}


def readable(fact: object) -> str:
    """Return a fact as text: a bool as yes or no, 12000 as 12,000, a float as a percentage, None as "not installed"."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, float):
        return f"{fact:.1%}"
    if isinstance(fact, int):
        return f"{fact:,}"
    if isinstance(fact, list):
        return ", ".join(map(str, fact)) or "none"
    return "not installed" if fact is None else printable(str(fact))
