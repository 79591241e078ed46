"""What a campaign counts: what was tried, what survived, and what was lost."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from alphago.cli import main

SCALE = float(os.environ.get("CAMPAIGN_SCALE", "1"))
HANG = 300  # seconds of one attempt, which may have little of a processor
# Seconds after which a loop of attempts ends: with four minutes, two processes take an hour at most for all of them.
SHARE = 60 * float(os.environ.get("CAMPAIGN_MINUTES", 4 * SCALE))

COUNTS: dict[str, list[int]] = {}  # by area: how many were tried, how many lost


class Hang(Exception):
    """An attempt took longer than HANG."""


def times(count: int) -> int:
    """Return how often to do what the whole campaign does `count` times."""
    return max(1, round(count * SCALE))


def rounds(count: int) -> Iterator[int]:
    """Yield the numbers of attempts, as `times` says, until their share of the hour is over."""
    began = time.monotonic()
    for number in range(times(count)):
        if number and time.monotonic() - began > SHARE:
            return
        yield number


class Area:
    """One kind of attack: `tried` counts it, and what is lost is told at the end, all at once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts = COUNTS.setdefault(name, [0, 0])
        self.lost: list[str] = []

    def __enter__(self) -> "Area":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            assert not self.lost, "\n".join([f"{self.name}: {len(self.lost)} lost", *self.lost[:20]])

    def lose(self, what: str) -> None:
        self.counts[1] += 1
        self.lost.append(what)

    def check(self, what: str, sound: bool) -> None:
        """Count an attempt, which is lost unless it is sound."""
        self.counts[0] += 1
        if not sound:
            self.lose(what)

    @contextlib.contextmanager
    def attempt(self, what: str, *expected: type[BaseException], seconds: int = HANG) -> Iterator[None]:
        """Count what is done within the block: it is lost if it hangs, or raises anything but what is expected."""
        self.counts[0] += 1
        try:
            with hang_guard(seconds):
                yield
        except expected:
            pass
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.lose(f"{what}: {type(error).__name__}: {str(error)[:300]}")

    def command(self, what: str, words: list[str]) -> None:
        """Run a command, which must end with a code and no traceback."""
        with self.attempt(f"{what}: alphago {' '.join(words)}", SystemExit):
            assert main(words) in (0, 1, 2)


@contextlib.contextmanager
def hang_guard(seconds: int = HANG) -> Iterator[None]:
    """Raise Hang in the block if it takes longer."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise Hang(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def memory() -> float:
    """Return the megabytes that this process holds; 0 where the system does not tell."""
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20 if path.exists() else 0.0


def slope(measure: Callable[[], float], work: Callable[[], object], count: int) -> float:
    """Return by how much a measure grows over the second half of some rounds of work: the first half warms up."""
    values = []
    for _ in rounds(count):
        work()
        values.append(measure())
    return values[-1] - values[len(values) // 2]
