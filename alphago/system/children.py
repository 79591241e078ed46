"""Start Python again: in a child process, which finds the modules of this process and no others.

`python -m` and `python -c` look for every module in the current folder first, so that a file numpy.py there, which may
have come with somebody's games or networks, would run.
"""

import os
import subprocess
import sys
import threading
from typing import Any


def python_command(*arguments: str) -> list[str]:
    """Return the command that starts Python with these arguments; -P: do not look for modules in the current folder."""
    return [sys.executable, "-P", *arguments]


def child_environment() -> dict[str, str]:
    """Return the environment of a child process that imports modules from where this process does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def start_child(*arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """Start Python with these arguments, in a session of its own, which Ctrl-C does not reach.

    Args:
        streams: stdin, stdout and stderr as in `subprocess.Popen`.  By default stdin is a pipe, which ends when this
            process ends (see `exit_when_input_ends`), and what the child writes to stdout is dropped.
    """
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, **streams}
    return subprocess.Popen(python_command(*arguments), env=child_environment(), start_new_session=True, **streams)


def exit_when_input_ends() -> None:
    """End this process as soon as its standard input ends, as it does when the parent of `start_child` has ended."""

    def wait_for_end() -> None:
        os.read(0, 1)  # `read` of sys.stdin takes a lock, for which a forked child would wait for ever
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()
