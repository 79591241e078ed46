"""One evaluator for many searches, which computes the positions of several searches in common batches."""

import threading
from collections.abc import Sequence

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores

MOST_ROWS = 64  # most positions of a common batch: larger ones are hardly faster, and the cores should share the work


Forecasts = tuple[np.ndarray, np.ndarray]  # scores float32 [n], ownership float32 [n, points], the mover's view


class Request:
    """The positions that a search wants evaluated, and the arrays for the results."""

    def __init__(
        self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray, forecasts: Forecasts | None
    ) -> None:
        self.batch, self.slots = batch, slots
        self.outputs = (priors, values, *(forecasts or ()))
        self.taken = False
        self.done = threading.Event()
        self.error: Exception | None = None

    @property
    def kind(self) -> int:
        """The number of outputs; only requests with the same number are computed together."""
        return len(self.outputs)


class CommonEvaluator(Evaluator):
    """An evaluator that many threads may call at once; it computes their positions in common batches.

    A thread waits while `lanes` batches are being computed. Then it computes one batch of its own positions and those
    of other waiting threads; if no other thread waits, its positions are not copied.  The evaluator forecasts score and
    ownership if `inner` does.

    env: the game; the searches' games may differ from it where `GameEnv.accepts` allows that, such as in komi.
    inner: the evaluator that computes the batches, for boards in the CPU's memory.
    lanes: most batches that are computed side by side; None for one per core.
    """

    device = "cpu"

    def __init__(self, env: GameEnv, inner: Evaluator, lanes: int | None = None) -> None:
        self.env, self.inner = env, inner
        self.makes_forecasts = bool(getattr(inner, "makes_forecasts", False))
        self.lanes = available_cores() if lanes is None else lanes
        self.busy = 0
        self.waiting: list[Request] = []
        self.stages: list[GameBatch] = []  # boards for common batches, each used by one thread at a time
        self.changed = threading.Condition()
        self.positions = self.batches = 0  # computed so far

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self._ask(Request(batch, slots, priors, values, None))

    def evaluate_forecasts(
        self,
        batch: GameBatch,
        slots: np.ndarray,
        priors: np.ndarray,
        values: np.ndarray,
        forecasts: Forecasts | None,
        symmetries: Sequence[int] = (0,),
    ) -> None:
        """Write priors, values and forecasts; see `ForecastEvaluator`.

        Raises ValueError for symmetries other than (0,).
        """
        if tuple(symmetries) != (0,):
            raise ValueError(f"symmetries must be (0,) in common batches, got {tuple(symmetries)}")
        self._ask(Request(batch, slots, priors, values, forecasts))

    def _ask(self, request: Request) -> None:
        """Wait until this thread or another has computed the request; raise the error if the computation failed."""
        if not len(request.slots):
            return
        with self.changed:
            self.waiting.append(request)
        while not request.done.is_set():
            with self.changed:
                while not request.done.is_set() and (request.taken or self.busy >= self.lanes):
                    self.changed.wait()
                if request.done.is_set():
                    break
                requests = self._take(request)
                self.busy += 1
            self._compute(requests)
        if request.error is not None:
            raise request.error

    def _take(self, first: Request) -> list[Request]:
        """Remove `first`, and all other requests of its kind that fit into its batch, from `waiting`; return them."""
        taken, rows = [first], len(first.slots)
        for request in self.waiting:
            if request is not first and request.kind == first.kind and rows + len(request.slots) <= MOST_ROWS:
                taken.append(request)
                rows += len(request.slots)
        for request in taken:
            request.taken = True
            self.waiting.remove(request)
        self.positions += rows
        self.batches += 1
        return taken

    def _compute(self, requests: Sequence[Request]) -> None:
        """Compute the requests and wake the waiting threads; if that fails, store the error in each of the requests."""
        error: Exception | None = None
        try:
            if len(requests) == 1:
                self._run(requests[0].batch, requests[0].slots, requests[0].outputs)
            else:
                self._compute_together(requests)
        except Exception as caught:  # of the network: each search tells its own user
            error = caught
        with self.changed:
            self.busy -= 1
            for request in requests:
                request.error = error
                request.done.set()
            self.changed.notify_all()

    def _compute_together(self, requests: Sequence[Request]) -> None:
        """Copy the positions of several requests to boards in `stages`, and compute them as one batch."""
        with self.changed:
            stage = self.stages.pop() if self.stages else None
        stage = stage or self.env.new_batch(MOST_ROWS)
        try:
            ends = np.cumsum([len(request.slots) for request in requests])
            parts = [slice(int(end) - len(one.slots), int(end)) for one, end in zip(requests, ends, strict=True)]
            rows = np.arange(ends[-1])
            for request, part in zip(requests, parts, strict=True):
                stage.copy(request.slots, rows[part], of=request.batch)
            outputs = [np.empty((len(rows), *out.shape[1:]), np.float32) for out in requests[0].outputs]
            self._run(stage, rows, outputs)
            for request, part in zip(requests, parts, strict=True):
                for own, common in zip(request.outputs, outputs, strict=True):
                    own[:] = common[part]
        finally:
            with self.changed:
                self.stages.append(stage)

    def _run(self, batch: GameBatch, slots: np.ndarray, outputs: Sequence[np.ndarray]) -> None:
        priors, values, *forecasts = outputs
        if forecasts:
            self.inner.evaluate_forecasts(batch, slots, priors, values, tuple(forecasts))  # type: ignore[attr-defined]
        else:
            self.inner.evaluate(batch, slots, priors, values)

    def __repr__(self) -> str:
        return f"CommonEvaluator({self.inner!r})"
