"""`alphago plot`."""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = "Draws losses, games, speed and matches of one or several runs, side by side, in one picture."
    parser.usage = f"{parser.prog} RUN... [OPTIONS]"
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run, finished or not")
    parser.add_argument("--out", default="curves.png", metavar="FILE", help=".png, .svg or .pdf (curves.png, here)")
    parser.add_argument(
        "--x", default="minutes", choices=("minutes", "processor", "games", "positions"), help="x axis (minutes)"
    )


def run(options: argparse.Namespace) -> int:
    from alphago.training.watch.plots import plot  # only now: it needs matplotlib

    plot(options.runs, options.out, options.x)
    print(options.out)
    return 0
