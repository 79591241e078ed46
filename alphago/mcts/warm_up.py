"""Compiling the tree's kernels in a process beside, while this one compiles the game's.

Kernels are compiled when they are first called, one after the other, since numba's compiler lets one thread in; once
compiled they are on disk.  So where the tree's are not, whoever is about to search has another process compile them
(alphago.mcts.compile), and finds them when it comes to them.
"""

import atexit
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numba

from alphago.mcts.kernels import waves


@cache
def compile_ahead() -> subprocess.Popen[bytes] | None:
    """Begins to compile the tree's kernels, once; None where they are compiled, or no core is free for it.

    The process ends with this one at the latest.
    """
    if numba.config.DISABLE_JIT or is_compiled(waves.select):
        return None
    from alphago.system.cores import available_cores

    if available_cores() < 2:
        return None
    package = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "alphago.mcts.compile"], env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:  # no process to be had: this one compiles them itself
        return None
    atexit.register(end, process)
    return process


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends it if it still runs.  What it has compiled is on disk, each kernel as a whole or not at all."""
    if process.poll() is None:
        process.kill()
        process.wait()


def is_compiled(kernel: Any) -> bool:
    """Whether numba has the kernel on disk."""
    return any(Path(kernel.stats.cache_path).glob(f"*.{kernel.py_func.__name__}-*.nbi"))
