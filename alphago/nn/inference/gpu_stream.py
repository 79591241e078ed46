"""What one thread needs to have positions evaluated on a device: a stream, buffers, and captured graphs."""

import contextlib
import weakref
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from alphago.cuda.contract import Backend
from alphago.env.game import GameEnv, Leaves, Reached
from alphago.nn.inference.frozen import TRACING
from alphago.nn.kernels.priors import LEAST

SMALLEST = 8  # standing batch sizes: this, its doubles to FINE, and from there on each quarter of an octave
FINE = 64
ALIGNED = 16  # bytes: where an array begins in a buffer


def standing_size(count: int) -> int:
    """The smallest standing batch size for so many positions: for many, at most a quarter of it stays empty."""
    size = SMALLEST
    while size < count and size < FINE:
        size *= 2
    if size >= count:
        return size
    octave = 1 << (count - 1).bit_length()
    return -(-count // (octave // 8)) * (octave // 8)


class Answer(NamedTuple):
    """What comes down after a wave, for each position of a standing batch: of NumPy, or torch's on the device."""

    broken: Any  # int32 [1]: positions for which the network's output is not finite
    values: Any  # float32 [size], mover's view; the outcome where the game is over
    over: Any  # bool [size]
    movers: Any  # int8 [size]
    priors: Any  # float32 [size, A]; all 0 where nothing is legal


class Standing:
    """Buffers for one standing batch size, and the graph that computes on them.

    `mask_rows`, `plane_rows` and `reached` are those buffers that the boards' kernels write, as these know them.
    """

    def __init__(self, env: GameEnv, size: int, kind: torch.dtype, place: torch.device, backend: Backend) -> None:
        self.size = size
        shape = (size, env.planes, *env.plane_shape)
        self.planes = torch.empty(shape, dtype=kind, device=place, memory_format=torch.channels_last).zero_()
        self.mask = torch.zeros(size, env.action_space, dtype=torch.bool, device=place)
        self.outcomes = torch.zeros(size, device=place)
        shapes = ((1,), (size,), (size,), (size,), (size, env.action_space))
        kinds = (torch.int32, torch.float32, torch.bool, torch.int8, torch.float32)
        self._sizes = [int(np.prod(one)) * kind.itemsize for one, kind in zip(shapes, kinds, strict=True)]
        starts = np.cumsum([0, *(-(-count // ALIGNED) * ALIGNED for count in self._sizes)])
        self._row = env.action_space * 4
        self._priors_at = int(starts[-2])
        self._bytes = torch.zeros(int(starts[-1]), dtype=torch.uint8, device=place)
        self._host = torch.zeros(int(starts[-1]), dtype=torch.uint8, pin_memory=place.type == "cuda")

        def carve(buffer: torch.Tensor) -> list[torch.Tensor]:
            parts = zip(starts, self._sizes, kinds, shapes, strict=False)
            return [buffer[at : at + count].view(kind).view(one) for at, count, kind, one in parts]

        self.answer = Answer(*carve(self._bytes))
        self.told = Answer(*(tensor.numpy() for tensor in carve(self._host)))
        self.over = self.answer.over
        self.mask_rows = as_array(self.mask, backend)
        self.plane_rows = as_array(self.planes, backend)
        self._reached = Reached(*(as_array(t, backend) for t in (self.over, self.answer.movers, self.outcomes)))
        self.graph: Any = None

    def reached(self, count: int) -> Reached:
        """Room for what `GameBatch.reach` tells of so many positions."""
        return Reached(*(array[:count] for array in self._reached))

    def compute(self, net: nn.Module) -> None:
        """From planes, legal moves and outcomes to the answer, without waiting."""
        logits, raw = net(self.planes)
        illegal = ~self.mask
        logits = logits.masked_fill(illegal, -torch.inf)
        # As alphago.nn.kernels.masked_softmax_batch: a legal action never gets 0, an illegal one always.
        weights = (logits - logits.amax(dim=1, keepdim=True)).exp().clamp_min(float(LEAST)).masked_fill(illegal, 0)
        torch.div(weights, weights.sum(dim=1, keepdim=True).clamp_min(float(LEAST)), out=self.answer.priors)
        torch.where(self.over, self.outcomes, raw.clamp(-1, 1), out=self.answer.values)
        sound = logits.masked_fill(illegal, 0).isfinite().all(dim=1) & raw.isfinite()
        self.answer.broken.copy_((~sound).sum())

    def fetch(self, count: int) -> None:
        """Sends the answer for the first `count` positions down to `told`, without waiting where it is pinned."""
        used = self._priors_at + count * self._row
        self._host[:used].copy_(self._bytes[:used], non_blocking=True)


class Lane:
    """A thread's stream and buffers.  Inside `with lane:` its calls, and those of batches, go to the stream."""

    def __init__(self, env: GameEnv, net: nn.Module, kind: torch.dtype, place: torch.device, backend: Backend) -> None:
        self._env, self._net, self._kind, self._place, self._backend = env, net, kind, place, backend
        self._on_gpu = place.type == "cuda"
        self._stream = backend.new_stream()
        weakref.finalize(self, backend.keep_stream, self._stream)
        self._standing: dict[int, Standing] = {}
        self._uploads = Uploads(4096, place, backend)
        if self._on_gpu:
            self._torch_stream = torch.cuda.ExternalStream(self._stream.ptr, device=place)
            self._pool = torch.cuda.graph_pool_handle()

    def __enter__(self) -> Self:
        self._entered = contextlib.ExitStack()
        self._entered.enter_context(torch.no_grad())
        if self._on_gpu:
            # What was played between two waves is on the default stream, which this one does not wait for by itself.
            self._torch_stream.wait_stream(torch.cuda.default_stream(self._place))
            self._entered.enter_context(torch.cuda.stream(self._torch_stream))
        self._entered.enter_context(self._stream)
        return self

    def __exit__(self, *reason: Any) -> None:
        self._entered.__exit__(*reason)

    def standing(self, count: int) -> Standing:
        """The buffers for so many positions."""
        size = standing_size(count)
        if size not in self._standing:
            self._standing[size] = Standing(self._env, size, self._kind, self._place, self._backend)
        return self._standing[size]

    def send(self, leaves: Leaves) -> Leaves:
        """The leaves on the device, for kernels; on its way when this returns."""
        depth = max(1, int(leaves.lengths.max()))
        given = (leaves.roots, leaves.paths[:, :depth], leaves.lengths, leaves.slots)
        total = sum(-(-array.nbytes // ALIGNED) * ALIGNED for array in given)
        if total > self._uploads.room:
            self._uploads = Uploads(2 * total, self._place, self._backend)
        return Leaves(*self._uploads.send(given))

    def compute(self, count: int) -> Answer:
        """Evaluates the first `count` positions that stand in their buffers, and waits for the answer."""
        room = self.standing(count)
        if not self._on_gpu:
            room.compute(self._net)
        else:
            if room.graph is None:
                self._capture(room)
            room.graph.replay()
        room.fetch(count)
        if self._on_gpu:
            self._torch_stream.synchronize()
        return room.told

    def _capture(self, room: Standing) -> None:
        """Other threads go on meanwhile: what is captured is this thread's alone."""
        with TRACING:  # torch captures one graph at a time, and tracing would see these calls
            room.compute(self._net)  # libraries make their plans and get their memory outside of a capture
            self._torch_stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._pool, stream=self._torch_stream, capture_error_mode="thread_local"):
                room.compute(self._net)
            room.graph = graph


class Uploads:
    """Pinned memory and its twin on the device, through which a wave's numbers go up in one copy."""

    def __init__(self, room: int, place: torch.device, backend: Backend) -> None:
        """room: in bytes."""
        self.room = room
        self._host = torch.empty(room, dtype=torch.uint8, pin_memory=place.type == "cuda")
        self._device = torch.empty(room, dtype=torch.uint8, device=place)
        self._from, self._to = self._host.numpy(), as_array(self._device, backend)

    def send(self, given: tuple[np.ndarray, ...]) -> list[Any]:
        """The arrays on the device, in the types that they have."""
        sent, at = [], 0
        for array in given:
            end = at + array.nbytes
            self._from[at:end].view(array.dtype).reshape(array.shape)[...] = array
            sent.append(self._to[at:end].view(array.dtype).reshape(array.shape))
            at += -(-array.nbytes // ALIGNED) * ALIGNED
        self._device[:at].copy_(self._host[:at], non_blocking=True)
        return sent


def as_array(tensor: torch.Tensor, backend: Backend) -> Any:
    """The tensor's memory as kernels know it; bfloat16 by its bits."""
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return backend.reachable(tensor.numpy() if tensor.device.type == "cpu" else tensor)
