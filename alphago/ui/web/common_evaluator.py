"""One evaluator for many searches, which computes the positions of several searches in common batches."""

import threading
from collections import deque
from collections.abc import Sequence

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator

MOST_ROWS = 64  # most positions of a batch: larger batches are hardly faster, and leave other cores without work


Forecasts = tuple[np.ndarray, np.ndarray]  # scores float32 [n], ownership float32 [n, points], in the mover's view


class Turns:
    """A context in which at most `most` threads are at once; further threads wait, and enter in the order they came."""

    def __init__(self, most: int) -> None:
        self.free = most  # how many more threads may enter
        self.lock = threading.Lock()
        self.waiting: deque[threading.Lock] = deque()  # a lock for each waiting thread, released when it may enter

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

    batch, slots, priors, values: as in `Evaluator.evaluate`.
    forecasts: the arrays for score and ownership; None if they are not wanted.
    """

    def __init__(
        self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray, forecasts: Forecasts | None
    ) -> None:
        self.batch, self.slots = batch, slots
        self.outputs = (priors, values, *(forecasts or ()))
        # The thread of the request waits for this lock.  It is released when the request is `done`, or when this thread
        # has to compute the next batch.
        self.turn = threading.Lock()
        self.turn.acquire()
        self.done = False  # whether its results are written, or its computation has failed with `error`
        self.error: Exception | None = None

    @property
    def kind(self) -> int:
        """The number of outputs; only requests with the same number are computed together."""
        return len(self.outputs)


class CommonEvaluator(Evaluator):
    """An evaluator that many threads may call at once; it computes their positions in common batches.

    At most `lanes` batches are computed at once, and further threads wait.  When a batch is done, one of the waiting
    threads computes the next batch: its own positions, and those of other waiting threads.  If only one thread has
    positions, they are not copied.  The evaluator forecasts score and ownership if `inner` does.

    env: the game; the searches' games may differ from it where `GameEnv.accepts` allows that, such as in komi.
    inner: the evaluator that computes the batches, for boards in the CPU's memory.
    lanes: most batches that are computed at once.
    resign_threshold, measured_in: as in a NeuralNet; a threshold of -1 for never.
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
        self.digest: str | None = None  # of the network's weights
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
            has_free_lane = self.busy < self.lanes
            if has_free_lane:
                self.busy += 1
            else:
                self.waiting.append(request)
        if not has_free_lane:
            request.turn.acquire()  # waits until another thread, in `_compute`, has done the request or gives its lane
        if not request.done:
            with self.lock:
                requests = self._take(request)
            self._compute(requests)
        if request.error is not None:
            raise request.error

    def _take(self, first: EvaluationRequest) -> list[EvaluationRequest]:
        """Return the requests of the next batch: `first`, and those waiting requests of its kind that fit in.

        They are removed from `waiting`.  The caller holds `lock`.
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
        """Compute the requests, let a waiting thread compute the next batch, and wake the threads of the requests.

        If the computation fails, each request gets the error.
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
            next_request = self.waiting.pop(0) if self.waiting else None
            if next_request is None:  # otherwise its thread goes on with this lane
                self.busy -= 1
        if next_request is not None:
            next_request.turn.release()
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
        """Evaluate positions with `inner`; outputs: as in `EvaluationRequest`."""
        priors, values, *forecasts = outputs
        if forecasts:
            self.inner.evaluate_forecasts(batch, slots, priors, values, tuple(forecasts))  # type: ignore[attr-defined]
        else:
            self.inner.evaluate(batch, slots, priors, values)

    def __repr__(self) -> str:
        return f"CommonEvaluator({self.inner!r})"
