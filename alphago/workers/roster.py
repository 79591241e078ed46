"""Roster: which workers are there and which are left out, and what there is to tell of them."""

import time
from collections.abc import Callable

SILENCE = 10.0  # seconds without a worker after which the run says so, and again after six times as many


class Roster:
    """Workers that come, go and are left out.

    live: tasks that each worker does at the same time.  out: those that get none any more.
    proven: those that have answered.
    sentences: to tell.
    """

    def __init__(self) -> None:
        self.live: dict[str, int] = {}
        self.out: set[str] = set()
        self.proven: set[str] = set()
        self.sentences: list[str] = []
        self.empty_since = time.monotonic()
        self.told_at = float("-inf")

    def notice(self, there: dict[str, int], why_gone: Callable[[str], str]) -> set[str]:
        """Take in which workers are there; return those that have gone.  why_gone: as in Transport."""
        live = {name: cores for name, cores in there.items() if name not in self.out}
        came, gone = live.keys() - self.live.keys(), self.live.keys() - live.keys()
        self.live = live
        self.sentences += [
            f"worker {name} has come ({live[name]} task{'s' * (live[name] != 1)} at a time)" for name in sorted(came)
        ]
        for name in sorted(gone - self.out):
            why = why_gone(name)
            self.sentences.append(f"worker {name} has gone" + (f": {why}" if why else ""))
        return set(gone)

    def silence(self, *, wanted: bool) -> float | None:
        """Return for how many seconds there has been no worker, where that is to be told now.

        wanted: whether there is something to do.
        """
        now = time.monotonic()
        if self.live or not wanted:
            self.empty_since, self.told_at = now, float("-inf")
        elif now - self.empty_since >= SILENCE and now - self.told_at >= 6 * SILENCE:
            self.told_at = now
            return now - self.empty_since
        return None

    def leave_out(self, worker: str, why: str) -> bool:
        """Give a worker no tasks any more; return whether that is new."""
        if worker in self.out:
            return False
        self.out.add(worker)
        self.sentences.append(f"worker {worker} is left out: {why}")
        return True

    def take_sentences(self) -> list[str]:
        """Return what there is to tell since the last call."""
        sentences, self.sentences = self.sentences, []
        return sentences
