"""Functions that other processes import: the calls of sweeps."""

import os
import signal
from pathlib import Path
from typing import Any


def score(folder: Path, seed: int, gain: float = 0.0, spread: float = 1.0) -> dict[str, float]:
    """A number that depends on the seed, so that pairs differ by `gain` alone."""
    assert not (folder / "result.json").exists()
    return {"score": 10 * seed * spread + gain}


def fail(folder: Path, seed: int, how: str = "") -> dict[str, float]:
    """Fail with seed 1, as `how` says, or tell of the cores."""
    if seed == 1 and how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if seed == 1 and how == "raised":
        raise ValueError("too much of it")
    if how == "busy":
        raise BlockingIOError
    return {"result": float("nan")} if how == "nan" else {"cores": float(len(os.sched_getaffinity(0)))}


def untouched(**_: Any) -> float:
    raise AssertionError("a call that had ended was made again")
