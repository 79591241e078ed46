"""`alphago plot`: draw runs, games of a run, or a network."""

import argparse
from pathlib import Path

from alphago.cli.options import option

OUT = {"curves": "curves.png", "games": "games.svg", "network": "network.svg"}


def add_options(parser: argparse.ArgumentParser) -> None:
    option(parser, "runs RUN", "the folder of a run, finished or not", nargs="+")
    kinds = parser.add_mutually_exclusive_group()
    kind = {"dest": "kind", "action": "store_const", "default": "curves"}
    option(kinds, "--games", "draw games of self-play of one RUN, from its first to now", const="games", **kind)
    text = "draw a network; RUN is a run's folder, a network's file or name (9x9)"
    option(kinds, "--network", text, const="network", **kind)
    text = ".png, .svg or .pdf (curves.png); .svg for --games (games.svg) and --network (network.svg)"
    option(parser, "--out FILE", text)
    option(parser, "--x", "x axis (minutes)", default="minutes", choices=("minutes", "processor", "games", "positions"))


def run(options: argparse.Namespace) -> int:
    """Draw the curves of one or several runs in one picture: losses, games, speed and matches.  Or draw games of a run
    from its beginning to now (--games), or a network (--network).
    """
    kind, runs, out = options.kind, options.runs, Path(options.out or OUT[options.kind])
    if kind != "curves" and len(runs) > 1:
        raise ValueError(f"--{kind} must have one run, got {len(runs)}")
    if kind != "curves" and out.suffix.lower() != ".svg":
        raise ValueError(f"--out must end in .svg for --{kind}, got {out}")
    # Each kind imports what only it needs, such as torch for a network.
    if kind == "curves":
        from alphago.training.watch.plots import plot

        plot(runs, out, options.x)
    elif kind == "games":
        from alphago.training.watch.game_sheet import game_sheet

        game_sheet(runs[0]).save(out)
    else:
        from alphago.nn.net import load_model

        load_model(runs[0]).svg().save(out)
    print(out)
    return 0
