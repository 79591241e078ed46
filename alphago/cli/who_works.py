"""The flag --workers of the commands whose work can be done elsewhere."""

import argparse

from alphago.cli.options import option

WHO = (
    "who does the work, instead of this process: a number of processes; auto for the Ray cluster that runs here; its "
    "address, as 10.0.0.1:6379; or folder:PATH for those of alphago worker --folder PATH"
)


def add_workers(parser: argparse.ArgumentParser) -> None:
    option(parser, "--workers WHO", WHO)


def files_workers(text: str) -> int | str:
    """Convert the value of --workers: an int for a number of processes, which need no cluster; else the text."""
    return int(text) if text.lstrip("-").isdecimal() else text
