"""One evaluator for many searches, which computes the positions of several searches in common batches."""

import threading
from collections import deque
from collections.abc import Sequence

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator

MOST_ROWS = 64  # most positions of a common batch: larger ones are hardly faster, and the cores should share the work


Forecasts = tuple[np.ndarray, np.ndarray]  # scores float32 [n], ownership float32 [n, points], the mover's view


class Turns:
    """A context that at most `most` threads enter at once; the others enter in the order in which they came."""

    def __init__(self, most: int) -> None:
        self.free = most
        self.lock = threading.Lock()
        self.waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self.lock:
            if self.free:
                self.free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self.waiting.append(turn)
        turn.acquire()  # waits until a thread that leaves releases it in `__exit__`

    def __exit__(self, *_: object) -> None:
        with self.lock:
            if self.waiting:
                self.waiting.popleft().release()
            else:
                self.free += 1


class EvaluationRequest:
    """The positions that a search wants evaluated, and the arrays for the results.

    batch, slots, priors, values: as of `Evaluator.evaluate`. forecasts: the arrays for them; None if none are wanted.
    """

    def __init__(
        self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray, forecasts: Forecasts | None
    ) -> None:
        self.batch, self.slots = batch, slots
        self.outputs = (priors, values, *(forecasts or ()))
        self.turn = threading.Lock()  # released when `done` is set, or when its own thread is to compute the next batch
        self.turn.acquire()
        self.done = False  # whether it was computed, or has failed with `error`
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
    lanes: most batches that are computed side by side.
    resign_threshold, measured_in: as of a NeuralNet; -1 for never.
    """

    device = "cpu"

    def __init__(
        self,
        env: GameEnv,
        inner: Evaluator,
        lanes: int,
        *,
        resign_threshold: float = -1.0,
        measured_in: GameEnv | None = None,
    ) -> None:
        self.env, self.inner, self.resign_threshold = env, inner, resign_threshold
        self.measured_in = measured_in or env
        self.makes_forecasts = bool(getattr(inner, "makes_forecasts", False))
        self.lanes = lanes
        self.busy = 0  # lanes in use
        self.waiting: list[EvaluationRequest] = []
        self.stages: list[GameBatch] = []  # boards for common batches, each used by one thread at a time
        self.lock = threading.Lock()
        self.positions = self.batches = 0  # computed so far

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self._ask(EvaluationRequest(batch, slots, priors, values, None))

    def evaluate_forecasts(
        self,
        batch: GameBatch,
        slots: np.ndarray,
        priors: np.ndarray,
        values: np.ndarray,
        forecasts: Forecasts | None,
        symmetries: Sequence[int] = (0,),
    ) -> None:
        """Write priors, values and forecasts; see `Forecaster`.

        Raises ValueError for symmetries other than (0,).
        """
        if tuple(symmetries) != (0,):
            raise ValueError(f"symmetries must be (0,) in common batches, got {tuple(symmetries)}")
        self._ask(EvaluationRequest(batch, slots, priors, values, forecasts))

    def _ask(self, request: EvaluationRequest) -> None:
        """Wait until this thread or another has computed the request; raise the error if the computation failed."""
        if not len(request.slots):
            return
        with self.lock:
            free = self.busy < self.lanes
            if free:
                self.busy += 1
            else:
                self.waiting.append(request)
        if not free:
            request.turn.acquire()  # waits until `_compute` of another thread releases it
        if not request.done:  # this thread has a lane, its own or that of the other thread
            with self.lock:
                requests = self._take(request)
            self._compute(requests)
        if request.error is not None:
            raise request.error

    def _take(self, first: EvaluationRequest) -> list[EvaluationRequest]:
        """Return `first` and the waiting requests of its kind that fit into its batch; they wait no longer.

        The caller holds `lock`.
        """
        taken, left = [first], []
        rows = len(first.slots)
        for request in self.waiting:
            if request.kind == first.kind and rows + len(request.slots) <= MOST_ROWS:
                taken.append(request)
                rows += len(request.slots)
            else:
                left.append(request)
        self.waiting = left
        self.positions += rows
        self.batches += 1
        return taken

    def _compute(self, requests: Sequence[EvaluationRequest]) -> None:
        """Compute the requests, wake their threads, and let a waiting thread compute the next batch.

        If the computation fails, the error is stored in each of the requests.
        """
        error: Exception | None = None
        try:
            if len(requests) == 1:
                self._run(requests[0].batch, requests[0].slots, requests[0].outputs)
            else:
                self._compute_together(requests)
        except Exception as caught:  # of the network: each search tells its own user
            error = caught
        with self.lock:
            heir = self.waiting.pop(0) if self.waiting else None
            if heir is None:  # otherwise the heir takes this thread's place
                self.busy -= 1
        if heir is not None:
            heir.turn.release()
        for request in requests:
            request.error, request.done = error, True
            request.turn.release()

    def _compute_together(self, requests: Sequence[EvaluationRequest]) -> None:
        """Copy the positions of several requests to boards in `stages`, and compute them as one batch."""
        with self.lock:
            stage = self.stages.pop() if self.stages else None
        if stage is None:
            stage = self.env.new_batch(MOST_ROWS)
        try:
            ends = np.cumsum([len(request.slots) for request in requests])
            rows = np.arange(ends[-1])
            rows_of_requests = np.split(rows, ends[:-1])
            for request, own_rows in zip(requests, rows_of_requests, strict=True):
                stage.copy(request.slots, own_rows, of=request.batch)
            outputs = [np.empty((len(rows), *out.shape[1:]), np.float32) for out in requests[0].outputs]
            self._run(stage, rows, outputs)
            for request, own_rows in zip(requests, rows_of_requests, strict=True):
                for own, common in zip(request.outputs, outputs, strict=True):
                    own[:] = common[own_rows]
        finally:
            with self.lock:
                self.stages.append(stage)

    def _run(self, batch: GameBatch, slots: np.ndarray, outputs: Sequence[np.ndarray]) -> None:
        priors, values, *forecasts = outputs
        if forecasts:
            self.inner.evaluate_forecasts(batch, slots, priors, values, tuple(forecasts))  # type: ignore[attr-defined]
        else:
            self.inner.evaluate(batch, slots, priors, values)

    def __repr__(self) -> str:
        return f"CommonEvaluator({self.inner!r})"
