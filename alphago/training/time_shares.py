"""What bounds a run: the shares of its time that each part of the work takes."""

from collections.abc import Mapping
from typing import Any

from alphago.stopwatch import BOARDS, NET, OPTIMIZER, PUBLISHING, SAMPLING, SAVING, TRANSFER, TREE, Part
from alphago.training.history import Row, number

PLAYING = Part("playing")  # the run's own thread, while those of self-play work
MATCHES = Part("matches")  # of a gate
EXAMINATION = Part("examination")  # is not training time
GAMES = "games"  # what self-play's threads do around their searches: drawing moves, keeping records
WAITING = "waiting"  # self-play's threads, for the last of them
OTHER = "other"
PARTS = (
    *(part.name for part in (NET, TREE, BOARDS, TRANSFER, OPTIMIZER, SAMPLING, PUBLISHING, SAVING, MATCHES)),
    GAMES, WAITING, OTHER,
)  # fmt: skip
NECESSARY = (NET.name, OPTIMIZER.name)  # what a run is for; all else only serves them


def time_shares(run: Mapping[str, float], threads: Mapping[str, float], count: int) -> dict[str, float]:
    """The share of a run's time that each of PARTS took, as `net_share`; 1 in all.

    run: seconds of the run's own thread, by part; examinations do not count.
    threads: seconds of all `count` threads of self-play together, which work while the run's own is PLAYING: a part's
        seconds are their mean over the threads.
    """
    seconds = {part: run.get(part, 0.0) + threads.get(part, 0.0) / count for part in PARTS}
    seconds[WAITING] += max(0.0, run.get(PLAYING.name, 0.0) - sum(threads.values()) / count)
    whole = max(sum(seconds.values()), 1e-9)
    return {f"{part}_share": spent / whole for part, spent in seconds.items()}


def bound(row: Row) -> tuple[str, float] | None:
    """The part that took most of an iteration's time, with its share; None where a row of metrics tells none."""
    shares = {part: share for part in PARTS if (share := number(row, f"{part}_share")) is not None}
    return max(shares.items(), key=lambda pair: pair[1]) if shares else None


def overhead(rows: list[Row]) -> float:
    """The share of the time of these iterations, a run's first ones, that is neither inference nor gradient steps.

    ValueError where they tell no shares.
    """
    before, spent, necessary = 0.0, 0.0, 0.0
    for row in rows:
        shares = [number(row, f"{part}_share") for part in NECESSARY]
        seconds = (number(row, "seconds") or before) - before
        before += seconds
        known = [share for share in shares if share is not None]
        spent += seconds if known else 0.0
        necessary += seconds * sum(known)
    if not spent:
        raise ValueError("no iteration tells how its time was spent")
    return 1.0 - necessary / spent


def told(row: Mapping[str, Any]) -> dict[str, str]:
    """What bounds the run now, and how busy the GPU was, as a progress bar shows it."""
    shown = {}
    if found := bound(row):
        shown["bound"] = f"{found[0]} {found[1]:.0%}"
    if (busy := number(row, "gpu_busy")) is not None:
        shown["gpu"] = f"{busy:.0%}"
    return shown
