"""`alphago plot`: draw runs, games of a run, or a network."""

import argparse
from pathlib import Path

from alphago.cli.options import option

OUT = {"curves": "curves.png", "games": "games.svg", "network": "network.svg"}


def add_options(parser: argparse.ArgumentParser) -> None:
    option(parser, "runs RUN", "the folder of a run, finished or not", nargs="+")
    kinds = parser.add_mutually_exclusive_group()
    for flag, text in (
        ("--games", "draw games of self-play of one RUN, from its first to now"),
        ("--network", "draw a network; RUN is a run's folder, a network's file or name (9x9)"),
    ):
        option(kinds, flag, text, dest="kind", action="store_const", const=flag[2:], default="curves")
    text = ".png, .svg or .pdf (curves.png); .svg for --games (games.svg) and --network (network.svg)"
    option(parser, "--out FILE", text)
    option(parser, "--x", "x axis (minutes)", default="minutes", choices=("minutes", "processor", "games", "positions"))


def run(options: argparse.Namespace) -> int:
    """Draw the curves of one or several runs in one picture: losses, games, speed and matches.  Or draw games of a run
    from its beginning to now (--games), or a network (--network).
    """
    out = options.out or OUT[options.kind]
    if options.kind == "curves":
        from alphago.training.watch.plots import plot  # imported late, since other pictures do not need it

        plot(options.runs, out, options.x)
    else:
        draw(options.kind, options.runs, Path(out))
    print(out)
    return 0


def draw(kind: str, runs: list[str], out: Path) -> None:
    """Write a picture of one run's games or network.

    Args:
        kind: "games" or "network".
        runs: a list with one run's folder, or with the file or name of one network.
        out: the file to write.

    Raises:
        ValueError: if there are several runs, or if the file's suffix is not .svg.
    """
    if len(runs) > 1:
        raise ValueError(f"--{kind} must have one run, got {len(runs)}")
    if out.suffix.lower() != ".svg":
        raise ValueError(f"--out must end in .svg for --{kind}, got {out}")
    if kind == "games":
        from alphago.training.watch.game_sheet import game_sheet

        game_sheet(runs[0]).save(out)
    else:
        from alphago.nn.net import load_model  # imported late, since curves do not need torch

        load_model(runs[0]).svg().save(out)
