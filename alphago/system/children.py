"""Start Python again: in a child process, which finds the modules of this process and no others.

`python -m` and `python -c` look for every module in the current folder first, so that a file numpy.py there, which may
have come with somebody's games or networks, would run.
"""

import os
import sys


def python_command(*words: str) -> list[str]:
    """Return the command that starts Python with these words, without a search of the current folder (-P)."""
    return [sys.executable, "-P", *words]


def child_environment() -> dict[str, str]:
    """Return the environment of a child process that imports modules from where this process does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
