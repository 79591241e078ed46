"""Functions that other processes import: the calls of sweeps."""

import os
import signal
from pathlib import Path
from typing import Any

OFFSET = 0.0


def score(folder: Path, seed: int, gain: float = 0.0, spread: float = 1.0, change: Any = None) -> dict[str, float]:
    """A number that depends on the seed, so that pairs differ by `gain` alone."""
    return {"score": 10 * seed * spread + gain + OFFSET}


def fail(folder: Path, seed: int, how: str = "") -> dict[str, float]:
    """Fail with seed 1, as `how` says, or tell of the cores."""
    if seed == 1 and how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if seed == 1 and how == "raised":
        raise ValueError("too much of it")
    if how == "busy":
        raise BlockingIOError
    return {"result": float("nan")} if how == "nan" else {"cores": float(len(os.sched_getaffinity(0)))}


def twice(factor: float, value: float = 1.0) -> float:
    return 2 * factor * value


class Scale:
    """An object without a repr of its own."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, value: float) -> float:
        return self.factor * value
