"""One evaluator for many searches: what they ask for at the same time is computed in common batches."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores

MOST_ROWS = 64  # positions of a common batch; larger ones are hardly faster, and the cores should share the work


class Request:
    """The positions that one search waits for."""

    def __init__(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.batch, self.slots, self.priors, self.values = batch, slots, priors, values
        self.taken = self.done = False
        self.error: Exception | None = None


class CommonEvaluator(Evaluator):
    """An evaluator that many threads call at once, and that puts the positions of all into common batches.

    The thread that finds a core free computes what has gathered meanwhile, its own and the others'; a search that is
    alone is computed at once, without a copy.

    env: the game; the searches may differ in what `GameEnv.accepts` leaves open, such as komi.
    inner: the evaluator that computes, for boards in the CPU's memory.
    lanes: batches that are computed side by side; None for one a core.
    """

    device = "cpu"

    def __init__(self, env: GameEnv, inner: Evaluator, lanes: int | None = None) -> None:
        self.env, self.inner = env, inner
        self.lanes = available_cores() if lanes is None else lanes
        self.busy = 0
        self.waiting: list[Request] = []
        self.stages: list[GameBatch] = []  # boards for common batches, each used by one thread at a time
        self.changed = threading.Condition()
        self.positions = self.batches = 0  # computed so far

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        request = Request(batch, slots, priors, values)
        with self.changed:
            self.waiting.append(request)
        while not request.done:
            with self.changed:
                while not request.done and (request.taken or self.busy >= self.lanes):
                    self.changed.wait()
                if request.done:
                    break
                requests = self._take(request)
                self.busy += 1
            self._compute(requests)
        if request.error is not None:
            raise request.error

    def _take(self, first: Request) -> list[Request]:
        """Return `first` and as many others as fit a batch, which nobody else takes from now on."""
        taken, rows = [first], len(first.slots)
        for request in self.waiting:
            if request is not first and rows + len(request.slots) <= MOST_ROWS:
                taken.append(request)
                rows += len(request.slots)
        for request in taken:
            request.taken = True
            self.waiting.remove(request)
        self.positions += rows
        self.batches += 1
        return taken

    def _compute(self, requests: Sequence[Request]) -> None:
        """Compute the requests, and wake the threads that wait; an error is that of each of these requests."""
        error: Exception | None = None
        try:
            if len(requests) == 1:
                one = requests[0]
                self.inner.evaluate(one.batch, one.slots, one.priors, one.values)
            else:
                self._compute_together(requests)
        except Exception as caught:  # of the network: each search says so to its own user
            error = caught
        with self.changed:
            self.busy -= 1
            for request in requests:
                request.error, request.done = error, True
            self.changed.notify_all()

    def _compute_together(self, requests: Sequence[Request]) -> None:
        with self.changed:
            stage = self.stages.pop() if self.stages else None
        stage = stage or self.env.new_batch(MOST_ROWS)
        try:
            ends = np.cumsum([len(request.slots) for request in requests])
            rows = np.arange(ends[-1])
            for request, end in zip(requests, ends, strict=True):
                stage.copy(request.slots, rows[end - len(request.slots) : end], of=request.batch)
            priors = np.empty((len(rows), self.env.action_space), np.float32)
            values = np.empty(len(rows), np.float32)
            self.inner.evaluate(stage, rows, priors, values)
            for request, end in zip(requests, ends, strict=True):
                part = slice(end - len(request.slots), end)
                request.priors[:], request.values[:] = priors[part], values[part]
        finally:
            with self.changed:
                self.stages.append(stage)

    def __repr__(self) -> str:
        return f"CommonEvaluator({self.inner!r})"


def in_common(env: GameEnv, evaluator: Any) -> Any:
    """Return an evaluator that computes in common batches, or `evaluator` itself where its boards are on a device."""
    return CommonEvaluator(env, evaluator) if evaluator.device == "cpu" else evaluator
