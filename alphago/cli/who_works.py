"""The flag --workers of the commands whose work can be done elsewhere."""

import argparse

from alphago.cli.options import option
from alphago.system.cores import available_cores

MOST_PROCESSES = 8  # that read files of games, unless --workers asks for more
WHO = (
    "who does the work, instead of this process: a number of processes; auto for the Ray cluster that runs here; its "
    "address, as 10.0.0.1:6379; or folder:PATH for those of alphago worker --folder PATH"
)


def add_workers(parser: argparse.ArgumentParser) -> None:
    option(parser, "--workers WHO", WHO)


def add_files_workers(parser: argparse.ArgumentParser) -> None:
    """Add --workers for reading files of games."""
    who = f"processes (one per core, at most {MOST_PROCESSES}); or HOST:PORT, folder:PATH"
    option(parser, "--workers WHO", who, files_workers)


def files_workers(text: str) -> int | str:
    """Convert the value of --workers: an int for a number of processes, which need no cluster; else the text."""
    is_number = text.lstrip("-").isdecimal()  # also a negative one, which `chosen_processes` refuses
    return int(text) if is_number else text


def chosen_processes(workers: int | str | None) -> int | str:
    """Return who reads files of games: `workers`, the value of --workers, or if it is None a number of processes.

    Raises ValueError for a number below 1.
    """
    if workers is None:
        return min(MOST_PROCESSES, available_cores())
    if isinstance(workers, int) and workers < 1:
        raise ValueError(f"--workers must be at least 1, got {workers}")
    return workers
