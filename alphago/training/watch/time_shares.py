"""What bounds a run: the shares of its time that each kind of work takes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from alphago.system.stopwatch import BOARDS, NET, OPTIMIZER, PUBLISHING, SAMPLING, SAVING, TRANSFER, TREE, Work
from alphago.training.history import Row, number

PLAYING = Work("playing")  # the run's own thread, while those of self-play work
MATCHES = Work("matches")  # of a gate
EXAMINATION = Work("examination")  # is not training time
GAMES = "games"  # what self-play's threads do around their searches: drawing moves, keeping records
WAITING = "waiting"  # self-play's threads, for the last of them
OTHER = "other"
KINDS = (
    *(work.name for work in (NET, TREE, BOARDS, TRANSFER, OPTIMIZER, SAMPLING, PUBLISHING, SAVING, MATCHES)),
    GAMES, WAITING, OTHER,
)  # fmt: skip
NECESSARY = (NET.name, OPTIMIZER.name)  # what a run is for; all else only serves them


def time_shares(run: Mapping[str, float], threads: Mapping[str, float], count: int) -> dict[str, float]:
    """The share of a run's time that each of KINDS took, as `net_share`; 1 in all.

    run: seconds of the run's own thread, by kind; examinations do not count.
    threads: seconds of all `count` threads of self-play together, which work while the run's own is PLAYING: a kind's
        seconds are their mean over the threads.
    """
    seconds = {kind: run.get(kind, 0.0) + threads.get(kind, 0.0) / count for kind in KINDS}
    seconds[WAITING] += max(0.0, run.get(PLAYING.name, 0.0) - sum(threads.values()) / count)
    whole = max(sum(seconds.values()), 1e-9)
    return {f"{kind}_share": spent / whole for kind, spent in seconds.items()}


def bound(row: Row) -> tuple[str, float] | None:
    """The kind of work that took most of an iteration's time, with its share; None where its metrics tell none."""
    shares = {kind: share for kind in KINDS if (share := number(row, f"{kind}_share")) is not None}
    return max(shares.items(), key=lambda pair: pair[1]) if shares else None


def mean_shares(rows: Sequence[Row]) -> dict[str, float]:
    """The share of each of KINDS in the time between the first of these iterations and the last; 1 in all.

    ValueError where they are too few, or do not tell.
    """
    spent = dict.fromkeys(KINDS, 0.0)
    for before, row in pairwise(rows):
        seconds = (number(row, "seconds") or 0.0) - (number(before, "seconds") or 0.0)
        for kind in KINDS:
            spent[kind] += seconds * (number(row, f"{kind}_share") or 0.0)
    whole = sum(spent.values())
    if whole <= 0:
        raise ValueError(f"{len(rows)} iterations do not tell how the time was spent: wanted two or more that do")
    return {kind: seconds / whole for kind, seconds in spent.items()}


def overhead(shares: Mapping[str, float]) -> float:
    """The share of the time, given as `mean_shares` gives it, that is neither inference nor gradient steps."""
    return 1.0 - sum(shares[kind] for kind in NECESSARY)


def told(row: Mapping[str, Any]) -> dict[str, str]:
    """What bounds the run now, and how busy the GPU was, as a progress bar shows it."""
    shown = {}
    if found := bound(row):
        shown["bound"] = f"{found[0]} {found[1]:.0%}"
    if (busy := number(row, "gpu_busy")) is not None:
        shown["gpu"] = f"{busy:.0%}"
    return shown
