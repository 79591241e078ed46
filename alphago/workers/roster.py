"""Roster: which workers are there, which are left out, and sentences to report about them."""

import time
from collections.abc import Callable

SILENCE = 10.0  # seconds without a worker after which the run says so
REPEATED = 6  # after so many times SILENCE the run says so again


class Roster:
    """Workers that come, go and are left out.

    live: by worker that is there, the number of tasks that it does at the same time.
    out: workers that are left out: they get no more tasks.
    proven: workers that have answered.
    sentences: sentences to report.
    """

    def __init__(self) -> None:
        self.live: dict[str, int] = {}
        self.out: set[str] = set()
        self.proven: set[str] = set()
        self.sentences: list[str] = []
        self.empty_since = time.monotonic()
        self.told_at = float("-inf")

    def notice(self, there: dict[str, int], why_gone: Callable[[str], str]) -> set[str]:
        """Set which workers are there; return the workers that have gone.

        there: the workers and the numbers of their tasks at the same time.  why_gone: as in Transport.
        """
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
        """Return for how many seconds there has been no worker, if that is to be reported now; otherwise None.

        wanted: whether there are jobs to do.
        """
        now = time.monotonic()
        if self.live or not wanted:
            self.empty_since, self.told_at = now, float("-inf")
        elif now - self.empty_since >= SILENCE and now - self.told_at >= REPEATED * SILENCE:
            self.told_at = now
            return now - self.empty_since
        return None

    def leave_out(self, worker: str, why: str) -> bool:
        """Leave a worker out, so that it gets no more tasks; return False if it already was left out."""
        if worker in self.out:
            return False
        self.out.add(worker)
        self.sentences.append(f"worker {worker} is left out: {why}")
        return True

    def take_sentences(self) -> list[str]:
        """Return the sentences to report since the last call."""
        sentences, self.sentences = self.sentences, []
        return sentences
