"""Start Python again: in a child process, which finds the modules of this process and no others.

`python -m` and `python -c` look for every module in the current folder first, so that a file numpy.py there, which may
have come with somebody's games or networks, would run.
"""

import os
import subprocess
import sys
import threading
from typing import Any


def python_command(*words: str) -> list[str]:
    """Return the command that starts Python with these words, without a search of the current folder (-P)."""
    return [sys.executable, "-P", *words]


def child_environment() -> dict[str, str]:
    """Return the environment of a child process that imports modules from where this process does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def start_child(*words: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """Start Python with these words, in a session of its own, which Ctrl-C does not reach.

    Args:
        streams: as in `subprocess.Popen`; by default a pipe to it, which tells it when this process has ended (see
            `end_with_parent`), and no output.
    """
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, **streams}
    return subprocess.Popen(python_command(*words), env=child_environment(), start_new_session=True, **streams)


def end_with_parent() -> None:
    """End this process, which `start_child` has started, as soon as its standard input ends."""

    def wait_for_end() -> None:
        os.read(0, 1)  # `read` of sys.stdin takes a lock, for which a forked child would wait for ever
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()
