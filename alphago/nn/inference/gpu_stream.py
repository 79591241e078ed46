"""The stream, buffers and CUDA graphs with which one thread evaluates positions on a device."""

import contextlib
import math
import weakref
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Self

import torch
from torch import nn

from alphago.cuda.contract import Backend
from alphago.env.game import GameEnv
from alphago.nn.inference.frozen_net import TRACING_LOCK
from alphago.nn.kernels.priors import LEAST

SMALLEST = 8  # smallest padded size
FINE = 64  # largest padded size that must be a power of two, see `padded_size`


def padded_size(count: int) -> int:
    """Return the size to which a batch of `count` positions is padded.

    Up to FINE it is a power of two, at least SMALLEST.  Above FINE there are four equal steps from each power of two to
    the next: 80, 96, 112, 128, then 160, 192 and so on.
    """
    power = max(SMALLEST, 1 << (count - 1).bit_length())  # the least power of two that is at least `count`
    if power <= FINE:
        return power
    step = power // 8  # a quarter of the way from power / 2 to power
    return math.ceil(count / step) * step


class PaddedBatch:
    """The buffers for one padded batch size.

    Attributes:
        planes, mask: the network's input, and the legal actions, as tensors.
        priors: float32 [size, A], all 0 if no action is legal.
        values: float32 [size], in the view of the player about to move; NaN where the network's output is not finite.
    """

    def __init__(self, env: GameEnv, size: int, dtype: torch.dtype, device: torch.device, backend: Backend) -> None:
        self.size = size
        shape = (size, env.planes, *env.plane_shape)
        self.planes = torch.empty(shape, dtype=dtype, device=device, memory_format=torch.channels_last).zero_()
        self.mask = torch.zeros(size, env.action_space, dtype=torch.bool, device=device)
        self.priors = torch.zeros(size, env.action_space, device=device)
        self.values = torch.zeros(size, device=device)
        # For the kernels, in the memory of the tensors.
        self._arrays = as_array(self.mask, backend), as_array(self.planes, backend)
        self._rows: dict[int, tuple[Any, Any]] = {}  # what `rows` has returned, by count

    def rows(self, count: int) -> tuple[Any, Any]:
        """Return legal actions and planes of the first `count` positions as arrays of the backend, for its kernels.

        They are cached, since CuPy takes longer to slice an array than to launch a kernel.
        """
        if count not in self._rows:
            mask, planes = self._arrays
            self._rows[count] = mask[:count], planes[:count]
        return self._rows[count]

    def compute(self, net: nn.Module) -> None:
        """Queue the computation of priors and values from planes and legal actions, without waiting for it."""
        logits, values = net(self.planes)
        illegal = ~self.mask
        logits = logits.masked_fill(illegal, -torch.inf)
        # As in alphago.nn.kernels.priors.masked_softmax_batch, the prior of a legal action is never 0 and that of an
        # illegal action always 0, even in a row without legal actions, where `logits - maximum` is NaN.
        weights = (logits - logits.amax(dim=1, keepdim=True)).exp().clamp_min(float(LEAST)).masked_fill(illegal, 0)
        torch.div(weights, weights.sum(dim=1, keepdim=True).clamp_min(float(LEAST)), out=self.priors)
        finite = logits.masked_fill(illegal, 0).isfinite().all(dim=1) & values.isfinite()
        self.values.copy_(values.clamp(-1, 1).masked_fill(~finite, torch.nan))


class GpuStream:
    """One thread's buffers and CUDA stream; calls of this thread inside `with stream:` use the stream.

    With the backend "host" there is no CUDA stream.
    """

    def __init__(
        self, env: GameEnv, net: nn.Module, dtype: torch.dtype, device: torch.device, backend: Backend
    ) -> None:
        self._env, self._net, self._dtype, self._device, self._backend = env, net, dtype, device, backend
        self._on_gpu = device.type == "cuda"
        self._stream = backend.new_stream()
        # When this object is deleted, the backend keeps the stream for the next call of `new_stream`.
        weakref.finalize(self, backend.keep_stream, self._stream)
        self._padded: dict[int, PaddedBatch] = {}
        self._graphs: dict[Any, Any] = {}  # CUDA graphs of the network alone, by the key of `replay_or_capture`
        self._depth = 0  # number of nested `with` blocks of this stream
        if self._on_gpu:
            self._torch_stream = torch.cuda.ExternalStream(self._stream.ptr, device=device)  # type: ignore[attr-defined]
            self._pool = torch.cuda.graph_pool_handle()  # memory that this stream's CUDA graphs share

    def __enter__(self) -> Self:
        """Let this thread's kernels, copies and torch's operations use the stream, without gradients."""
        if self._depth == 0:
            with contextlib.ExitStack() as entered:
                entered.enter_context(torch.no_grad())
                if self._on_gpu:
                    # Wait for what was queued on the default stream, such as moves.
                    self._torch_stream.wait_stream(torch.cuda.default_stream(self._device))
                    entered.enter_context(torch.cuda.stream(self._torch_stream))
                entered.enter_context(self._stream)
                # The contexts stay open until `__exit__`.  After an error above they are left at once.
                self._entered = entered.pop_all()
        self._depth += 1
        return self

    def __exit__(self, *reason: Any) -> None:
        """Leave the stream; what is queued on the default stream from now on waits for this stream's work."""
        self._depth -= 1
        if self._depth == 0:
            if self._on_gpu:
                torch.cuda.default_stream(self._device).wait_stream(self._torch_stream)
            self._entered.__exit__(*reason)

    def padded(self, count: int) -> PaddedBatch:
        """Return the buffers for `count` positions, created when their padded size is first needed."""
        size = padded_size(count)
        if size not in self._padded:
            self._padded[size] = PaddedBatch(self._env, size, self._dtype, self._device, self._backend)
        return self._padded[size]

    def compute(self, padded: PaddedBatch) -> None:
        """Queue the network's computation on a padded batch.

        If a CUDA graph is being captured, the computation becomes a part of it.  Otherwise it is captured once for each
        padded size, as a graph of its own, and replayed later.
        """
        compute = partial(padded.compute, self._net)
        if self._on_gpu and torch.cuda.is_current_stream_capturing():
            compute()
        else:
            self.replay_or_capture(compute, self._graphs, padded.size)

    def replay_or_capture(self, steps: Callable[[], None], graphs: dict[Any, Any], key: Hashable) -> None:
        """Run steps on this stream: the first time as they are, later as one CUDA graph.

        Args:
            steps: queues work for the device; on a CPU it is called every time.
            graphs: the CUDA graphs so far, by stream and key; a new one is added.
            key: equal for equal steps.
        """
        if not self._on_gpu:
            steps()
        elif (self, key) in graphs:
            graphs[self, key].replay()
        else:
            with TRACING_LOCK:  # torch captures one graph at a time, and a tracer elsewhere would see these calls
                steps()  # the first call of a library allocates memory, which a capture does not allow
                self._torch_stream.synchronize()
                graph = torch.cuda.CUDAGraph()
                options: Any = {"pool": self._pool, "stream": self._torch_stream, "capture_error_mode": "thread_local"}
                with torch.cuda.graph(graph, **options):  # "thread_local" lets other threads go on computing
                    steps()  # recorded, not run
                graphs[self, key] = graph


def as_array(tensor: torch.Tensor, backend: Backend) -> Any:
    """Return an array of the backend that shares a tensor's memory; bfloat16, which NumPy lacks, becomes int16."""
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return backend.reachable(tensor.numpy() if tensor.device.type == "cpu" else tensor)
