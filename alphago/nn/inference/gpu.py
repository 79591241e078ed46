"""`DeviceEvaluator`: a network on the GPU, for searches whose boards are there too."""

import contextlib
import copy
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from alphago.cuda.backend import find_backend
from alphago.env.game import GameBatch, GameEnv, Leaves, Reached
from alphago.nn.inference.cpu import NOT_FINITE, NetEvaluator, check_batch, check_outputs
from alphago.nn.inference.frozen import TRACING, Frozen, example_planes, frozen_parts, outputs_agree
from alphago.nn.inference.fusion import fold_batch_norms, fuse_convolutions
from alphago.nn.inference.gpu_stream import GpuStream
from alphago.nn.inference.hardware import choose_dtype, dtype_name, find_device, torch_device
from alphago.system.stopwatch import BOARDS, NET, TRANSFER

GPU_FORMS = ("fused", "folded", "modules")  # the fastest first
# Differences from the CPU's results, relative to the largest, that pass as rounding: float32 convolutions are TF32.
GPU_ROUNDING = {torch.float32: 0.01, torch.bfloat16: 0.2}


class Unsuited(ValueError):
    """The error of a network that a device cannot compute."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether torch, or a library under it, reports that the GPU's memory is exhausted."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and bool(re.search("out of memory|ALLOC_FAILED", str(error)))


@contextlib.contextmanager
def translate_out_of_memory() -> Iterator[None]:
    """Turn torch's error in the block into a MemoryError of one sentence if the GPU's memory is exhausted."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        size = re.search(r"Tried to allocate ([\d.]+ \w+)", str(error))
        what = size[1] if size else "an allocation"
        raise MemoryError(f"{what} does not fit into the memory that is left on the GPU") from error


class DeviceEvaluator:
    """Priors and values for search, as NetEvaluator's, with boards and network on a device.

    `evaluate_leaves` takes a whole wave: the paths of its leaves are uploaded, kernels play them and write planes into
    the network's input, a CUDA graph computes network and softmax, and priors and values are downloaded. Each thread
    has its own stream and buffers, so that groups of games overlap, and waits once per wave. Batches are padded to
    fixed sizes; the graph for a size is captured when it is first needed.

    Batch norm is folded. On a GPU that supports it the network computes in bfloat16; results are float32.
    dtype: "float32" or "bfloat16"; None takes the faster, and so does "int8", which only a CPU computes in.
    device: "cuda"; or "host", the kernels' build for the CPU with torch there, in float32 by default, for tests.
    Raises ValueError for a network whose weights are not finite or which the device cannot compute, BackendMissing if
    there is no such device; every method raises MemoryError when the device's memory is exhausted.
    """

    @translate_out_of_memory()
    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module,
        value: nn.Module,
        policy: nn.Module,
        *,
        dtype: str | None = None,
        device: str = "cuda",
    ) -> None:
        self.env = env
        self.device = device
        self._backend = find_backend(device)
        self._torch_device = torch_device(device)
        # On "host" float32, in which its results are compared with the CPU's own evaluator's.
        preferred = choose_dtype("float32" if dtype is None and device == "host" else dtype, self._torch_device)
        frozen = frozen_parts(base_net, value, policy)
        self._net, self.form, self._dtype = choose_gpu_form(frozen, env, preferred, self._torch_device)
        self._local = threading.local()

    @property
    def dtype(self) -> str:
        """The dtype that the network computes in: "float32" or "bfloat16"."""
        return dtype_name(self._dtype)

    @translate_out_of_memory()
    @torch.no_grad()
    def load(self, base_net: nn.Module, value: nn.Module, policy: nn.Module) -> None:
        """Replace the weights by those of a network of the same shapes; no thread may be evaluating meanwhile.

        Captured graphs use the new weights from now on.  If the present form does not give this network's results,
        another form is chosen.  Raises ValueError, and keeps the old weights, if the new weights are not finite or have
        other shapes.
        """
        frozen = frozen_parts(base_net, value, policy)
        with TRACING:
            net = build_gpu_form(self.form, frozen, self.env, self._dtype, self._torch_device)
        own, new = self._net.state_dict(), net.state_dict()
        if [(name, t.shape) for name, t in own.items()] != [(name, t.shape) for name, t in new.items()]:
            raise ValueError("the weights must have the names and shapes of the evaluator's network, got others")
        with TRACING:
            agrees = agrees_with_cpu(net, frozen, self.env, self._dtype, self._torch_device)
        if not agrees:
            self._net, self.form, self._dtype = choose_gpu_form(frozen, self.env, self._dtype, self._torch_device)
            self._local = threading.local()  # new streams, as existing ones use the old form
            return
        for name, tensor in own.items():
            tensor.copy_(new[name])

    @translate_out_of_memory()
    def evaluate_leaves(self, batch: GameBatch, leaves: Leaves) -> tuple[Reached, np.ndarray, np.ndarray]:
        """Evaluate a wave as `WaveEvaluator.evaluate_leaves`; raise ValueError if the output is not finite."""
        check_batch(batch, self.env)
        count = len(leaves.slots)
        stream = self._stream()
        with stream:
            padded = stream.padded(count)
            with TRANSFER:
                on_device = stream.upload(leaves)
            with BOARDS:
                batch.reach(on_device, padded.reached(count))
                batch.legal_mask(on_device.slots, padded.mask_rows[:count])
                batch.planes(on_device.slots, padded.plane_rows[:count])
            return self._finish(stream, count)

    @translate_out_of_memory()
    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write priors and values as `NetEvaluator.evaluate` does, for positions on the device or on the CPU."""
        count = len(slots)
        if count == 0:
            return
        check_batch(batch, self.env)
        check_outputs(self.env, count, priors, values)
        stream = self._stream()
        with stream:
            padded = stream.padded(count)
            padded.over.zero_()
            if batch.device == self.device:
                batch.legal_mask(slots, padded.mask_rows[:count])
                batch.planes(slots, padded.plane_rows[:count])
            else:
                planes = batch.planes(slots, np.empty((count, *padded.planes.shape[1:]), np.float32))
                mask = batch.legal_mask(slots, np.empty((count, self.env.action_space), np.bool_))
                padded.planes[:count].copy_(torch.from_numpy(planes))
                padded.mask[:count].copy_(torch.from_numpy(mask))
            _, priors[:], values[:] = self._finish(stream, count)

    def _finish(self, stream: GpuStream, count: int) -> tuple[Reached, np.ndarray, np.ndarray]:
        """Compute the first `count` positions in the stream's buffers, wait, and return state, priors and values."""
        with NET:  # includes waiting for the boards' kernels
            answer = stream.compute(count)
        if answer.broken[0]:
            raise ValueError(NOT_FINITE)
        reached = Reached(answer.over[:count], answer.movers[:count], answer.values[:count])
        return reached, answer.priors[:count], answer.values[:count]

    def _stream(self) -> GpuStream:
        """Return the present thread's stream."""
        stream: Any = getattr(self._local, "stream", None)
        if stream is None:
            stream = GpuStream(self.env, self._net, self._dtype, self._torch_device, self._backend)
            self._local.stream = stream
        return stream

    def __repr__(self) -> str:
        return f"DeviceEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r}, device={self.device!r})"


def make_evaluator(
    env: GameEnv, parts: tuple[nn.Module, nn.Module, nn.Module], dtype: str | None, device: str, exact: bool = False
) -> NetEvaluator | DeviceEvaluator:
    """Return the evaluator of a network's base, value and policy on a device.

    device: where the network and the boards of its searches are, see `alphago.nn.inference.hardware.find_device`;
        "auto" takes the CPU also for a network that the GPU cannot compute or has no memory for.
    exact: see NetEvaluator; a GPU ignores it.
    """
    where = find_device(env, device)
    if where != "cpu":
        try:
            return DeviceEvaluator(env, *parts, dtype=dtype, device=where)
        except (Unsuited, MemoryError):
            if device != "auto":
                raise
    return NetEvaluator(env, *parts, dtype=dtype, exact=exact)


# --- forms -----------------------------------------------------------------------------------------


class CudnnConv(nn.Module):
    """A convolution with an optional addition and relu after it; with a relu, it is a single cuDNN call.

    PyTorch would compute bias, addition and relu each in a pass over all features; these passes together take half as
    long as the convolution.

    A risk: `cudnn_convolution_relu` gives cuDNN the memory of its result as the addend, with factor 0. cuDNN should not
    read it. If it did, NaN or infinite numbers left there would come out as NaN. `agrees_with_cpu` sees fresh memory
    only; such an output later is an error (`Answer.broken`).
    """

    weight: torch.Tensor
    bias: torch.Tensor

    def __init__(self, conv: nn.Conv2d, input_shape: Sequence[int], relu: bool) -> None:
        super().__init__()
        self.sizes: Any = (list(conv.stride), list(conv.padding), list(conv.dilation), conv.groups)
        self.relu = relu
        bias = conv.weight.new_zeros(conv.out_channels) if conv.bias is None else conv.bias.detach()
        self.register_buffer("weight", conv.weight.detach().contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias)

    def forward(self, inputs: torch.Tensor, other: torch.Tensor | None = None) -> torch.Tensor:
        if not self.relu:
            outputs = F.conv2d(inputs, self.weight, self.bias, *self.sizes)
            return outputs if other is None else outputs + other
        if other is None:
            return torch.cudnn_convolution_relu(inputs, self.weight, self.bias, *self.sizes)
        return torch.cudnn_convolution_add_relu(inputs, self.weight, other, 1.0, self.bias, *self.sizes)


def build_gpu_form(form: str, frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device) -> Frozen:
    """Return the network in one of GPU_FORMS, all of it in one dtype; may raise anything that tracing raises.

    The caller holds TRACING.  frozen: on the CPU, in float32; it is not changed.
    """
    parts = [copy.deepcopy(part) if form == "modules" else fold_batch_norms(part) for part in frozen.children()]
    net = Frozen(*parts, heads_dtype=dtype).to(device, dtype)
    if form == "fused":
        planes = example_planes(env).to(device, dtype, memory_format=torch.channels_last)
        features = net.base_net(planes)
        for name, inputs in (("base_net", planes), ("value", features), ("policy", features)):
            setattr(net, name, fuse_convolutions(getattr(net, name), inputs, CudnnConv))
    return net.to(memory_format=torch.channels_last).requires_grad_(False)  # type: ignore[call-overload]


def choose_gpu_form(
    frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device
) -> tuple[Frozen, str, torch.dtype]:
    """Return the network in the fastest form whose results on a device are right, the form's name, and its dtype.

    Raises Unsuited if there is no such form, and torch's error when the device's memory is exhausted.
    """
    forms = [(form, dtype) for form in GPU_FORMS if form != "fused" or device.type == "cuda"]
    with TRACING, torch.no_grad():
        for form, form_dtype in (*forms, ("modules", torch.float32)):
            try:
                net = build_gpu_form(form, frozen, env, form_dtype, device)
                if agrees_with_cpu(net, frozen, env, form_dtype, device):
                    return net, form, form_dtype
            except Exception as error:  # whatever a user's module, torch.fx or cuDNN may raise: take the next form
                if is_out_of_memory(error):
                    raise
    raise Unsuited(f"the network cannot be computed on {device.type}: its modules fail there, or give other results")


def agrees_with_cpu(net: Frozen, frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device) -> bool:
    """Return whether a form on a device gives, up to rounding, the results of `frozen`, the network that it computes.

    Also true if those are not finite, which the evaluator reports when it occurs.
    """
    planes = example_planes(env)
    expected = frozen(planes)
    logits, values = net(planes.to(device, dtype, memory_format=torch.channels_last))
    finite = all(bool(output.isfinite().all()) for output in expected)
    return not finite or outputs_agree((logits.cpu(), values.cpu()), expected, GPU_ROUNDING[dtype])
