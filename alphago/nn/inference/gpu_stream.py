"""The stream, buffers and CUDA graphs with which one thread evaluates positions on a device."""

import contextlib
import math
import weakref
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from alphago.cuda.contract import Backend
from alphago.env.game import GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.nn.inference.frozen import TRACING_LOCK
from alphago.nn.kernels.priors import LEAST

SMALLEST = 8  # smallest padded size
FINE = 64  # largest padded size that must be a power of two, see `padded_size`
ALIGNMENT = 16  # bytes; an array begins at a multiple of it in a buffer


def padded_size(count: int) -> int:
    """Return the size to which a batch of `count` positions is padded.

    Up to FINE it is a power of two, at least SMALLEST; above, one of four equal steps from a power of two to the next.
    """
    power = max(SMALLEST, 1 << (count - 1).bit_length())  # the least power of two that is at least `count`
    if power <= FINE:
        return power
    step = power // 8  # a quarter of the way from power / 2 to power
    return math.ceil(count / step) * step


def aligned(nbytes: int) -> int:
    """Return `nbytes` rounded up to a multiple of ALIGNMENT: the space that an array takes in a buffer."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class StreamAnswer(NamedTuple):
    """The results for each position of a padded batch, as NumPy arrays or as torch tensors on the device."""

    broken: Any  # int32 [1], the number of positions for which the network's output is not finite
    values: Any  # float32 [size], in the view of the player about to move; the outcome if the game is over
    over: Any  # bool [size], whether the game is over
    movers: Any  # int8 [size], the player about to move, 1 or -1
    priors: Any  # float32 [size, A]; all 0 if no action is legal


def answer_parts(size: int, actions: int) -> list[tuple[torch.dtype, tuple[int, ...]]]:
    """Return the dtypes and shapes of an answer for `size` positions, in the order of its fields."""
    rows = (size,)
    return [
        (torch.int32, (1,)),
        (torch.float32, rows),
        (torch.bool, rows),
        (torch.int8, rows),
        (torch.float32, (size, actions)),
    ]


def answer_bytes(size: int, actions: int) -> int:
    """Return the length of a buffer for an answer."""
    return sum(aligned(math.prod(shape) * dtype.itemsize) for dtype, shape in answer_parts(size, actions))


def carve(buffer: torch.Tensor, size: int, actions: int) -> StreamAnswer:
    """Return the answer whose tensors lie one after another in a buffer of `answer_bytes` bytes, uint8."""
    tensors, at = [], 0
    for dtype, shape in answer_parts(size, actions):
        length = math.prod(shape) * dtype.itemsize
        tensors.append(buffer[at : at + length].view(dtype).view(shape))
        at += aligned(length)
    return StreamAnswer(*tensors)


class PaddedBatch:
    """The buffers for one padded batch size, and the CUDA graph that computes on them.

    planes, mask, outcomes: the network's input, the legal actions, and the outcomes of finished games, as tensors.
    mask_rows, plane_rows: arrays of the backend that share the memory of `mask` and `planes`; the boards' kernels write
        to them.
    answer: the results on the device.  host_answer: a copy of `answer` in the CPU's memory.
    """

    def __init__(self, env: GameEnv, size: int, dtype: torch.dtype, device: torch.device, backend: Backend) -> None:
        shape = (size, env.planes, *env.plane_shape)
        self.planes = torch.empty(shape, dtype=dtype, device=device, memory_format=torch.channels_last).zero_()
        self.mask = torch.zeros(size, env.action_space, dtype=torch.bool, device=device)
        self.outcomes = torch.zeros(size, device=device)
        # An answer is one buffer, so that one copy brings it to the CPU; the priors come last, see `download`.
        self._bytes = torch.zeros(answer_bytes(size, env.action_space), dtype=torch.uint8, device=device)
        self._host_bytes = torch.zeros(len(self._bytes), dtype=torch.uint8, pin_memory=device.type == "cuda")
        self.answer = carve(self._bytes, size, env.action_space)
        self.host_answer = StreamAnswer(*(tensor.numpy() for tensor in carve(self._host_bytes, size, env.action_space)))
        self._prior_bytes = env.action_space * self.answer.priors.itemsize  # of one position
        self._priors_start = len(self._bytes) - aligned(size * self._prior_bytes)
        self.over = self.answer.over
        self.mask_rows = as_array(self.mask, backend)
        self.plane_rows = as_array(self.planes, backend)
        self._reached = Reached(*(as_array(t, backend) for t in (self.over, self.answer.movers, self.outcomes)))
        self._rows: dict[int, tuple[Reached, Any, Any]] = {}  # what `rows` has returned, by count
        self.graph: Any = None  # captured by GpuStream when it first computes

    def rows(self, count: int) -> tuple[Reached, Any, Any]:
        """Return the arrays of the first `count` positions, which the boards' kernels write.

        These are a Reached, the legal actions and the planes.  They are cached, since CuPy takes longer to slice an
        array than to launch a kernel.
        """
        if count not in self._rows:
            reached = Reached(*(array[:count] for array in self._reached))
            self._rows[count] = reached, self.mask_rows[:count], self.plane_rows[:count]
        return self._rows[count]

    def compute(self, net: nn.Module) -> None:
        """Queue the computation of `answer` from planes, legal actions and outcomes, without waiting for it."""
        logits, values = net(self.planes)
        illegal = ~self.mask
        logits = logits.masked_fill(illegal, -torch.inf)
        # As in alphago.nn.kernels.priors.masked_softmax_batch, the prior of a legal action is never 0 and that of an
        # illegal action always 0, even in a row without legal actions, where `logits - maximum` is NaN.
        weights = (logits - logits.amax(dim=1, keepdim=True)).exp().clamp_min(float(LEAST)).masked_fill(illegal, 0)
        torch.div(weights, weights.sum(dim=1, keepdim=True).clamp_min(float(LEAST)), out=self.answer.priors)
        torch.where(self.over, self.outcomes, values.clamp(-1, 1), out=self.answer.values)
        finite = logits.masked_fill(illegal, 0).isfinite().all(dim=1) & values.isfinite()
        self.answer.broken.copy_((~finite).sum())

    def download(self, count: int) -> None:
        """Queue the copy of the results of the first `count` positions to `host_answer`, without waiting for it."""
        used = self._priors_start + count * self._prior_bytes
        self._host_bytes[:used].copy_(self._bytes[:used], non_blocking=True)


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
        weakref.finalize(self, backend.keep_stream, self._stream)  # the next `new_stream` uses it again
        self._padded: dict[int, PaddedBatch] = {}
        self._uploads = Uploads(4096, device, backend)  # bytes; a larger wave replaces it
        if self._on_gpu:
            self._torch_stream = torch.cuda.ExternalStream(self._stream.ptr, device=device)  # type: ignore[attr-defined]
            self._pool = torch.cuda.graph_pool_handle()  # memory that this stream's CUDA graphs share

    def __enter__(self) -> Self:
        """Let this thread's kernels, copies and torch's operations use the stream, without gradients."""
        self._entered = contextlib.ExitStack()
        self._entered.enter_context(torch.no_grad())
        if self._on_gpu:
            # Moves between two waves are queued on the default stream, and this stream must wait for them.
            self._torch_stream.wait_stream(torch.cuda.default_stream(self._device))
            self._entered.enter_context(torch.cuda.stream(self._torch_stream))
        self._entered.enter_context(self._stream)
        return self

    def __exit__(self, *reason: Any) -> None:
        self._entered.__exit__(*reason)

    def padded(self, count: int) -> PaddedBatch:
        """Return the buffers for `count` positions, created when their padded size is first needed."""
        size = padded_size(count)
        if size not in self._padded:
            self._padded[size] = PaddedBatch(self._env, size, self._dtype, self._device, self._backend)
        return self._padded[size]

    def upload(self, leaves: Leaves) -> Leaves:
        """Queue the copy of leaves to the device, and return their arrays on the device, for kernels of this stream."""
        depth = max(1, int(leaves.lengths.max()))
        arrays = (leaves.roots, leaves.paths[:, :depth], leaves.lengths, leaves.slots)
        total = sum(aligned(array.nbytes) for array in arrays)
        if total > self._uploads.capacity:
            self._uploads = Uploads(2 * total, self._device, self._backend)
        return Leaves(*self._uploads.copy(arrays))

    def compute(self, count: int) -> StreamAnswer:
        """Evaluate the first `count` positions in their buffers, and return the results in the CPU's memory."""
        padded = self.padded(count)
        if not self._on_gpu:
            padded.compute(self._net)
            padded.download(count)
            return padded.host_answer
        if padded.graph is None:
            self._capture(padded)
        padded.graph.replay()
        padded.download(count)
        self._torch_stream.synchronize()
        return padded.host_answer

    def _capture(self, padded: PaddedBatch) -> None:
        """Capture the CUDA graph of `padded`; other threads can go on computing meanwhile."""
        with TRACING_LOCK:  # torch captures one graph at a time, and a tracer in another thread would see these calls
            padded.compute(self._net)  # the first call of a library allocates memory, which a capture does not allow
            self._torch_stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._pool, stream=self._torch_stream, capture_error_mode="thread_local"):
                padded.compute(self._net)
            padded.graph = graph


class Uploads:
    """A pinned buffer of `capacity` bytes and its twin on the device, to upload several arrays in one copy."""

    def __init__(self, capacity: int, device: torch.device, backend: Backend) -> None:
        self.capacity = capacity
        self._backend = backend
        self._host = torch.empty(capacity, dtype=torch.uint8, pin_memory=device.type == "cuda")
        self._device = torch.empty(capacity, dtype=torch.uint8, device=device)
        self._source, self._target = self._host.numpy(), as_array(self._device, backend)  # the same memory as arrays

    def copy(self, arrays: tuple[np.ndarray, ...]) -> list[Any]:
        """Queue the copy of arrays to the device; return the arrays on the device, of the same shapes and dtypes."""
        targets, used = [], 0
        for array in arrays:
            np.ndarray(array.shape, array.dtype, self._source.data, used)[...] = array
            targets.append(self._backend.part(self._target, used, array.shape, array.dtype))
            used += aligned(array.nbytes)
        self._device[:used].copy_(self._host[:used], non_blocking=True)
        return targets


def as_array(tensor: torch.Tensor, backend: Backend) -> Any:
    """Return an array of the backend that shares a tensor's memory; bfloat16 becomes int16."""
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return backend.reachable(tensor.numpy() if tensor.device.type == "cpu" else tensor)
