"""`DeviceEvaluator`: a frozen copy of a network on the GPU, for searches whose boards are on the GPU too."""

import contextlib
import copy
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from alphago.cuda.backend import find_backend
from alphago.env.game import GameBatch, GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.nn.inference.cpu import NOT_FINITE, NetEvaluator, check_batch, check_outputs
from alphago.nn.inference.frozen import TRACING, Frozen, example_planes, frozen_parts, outputs_agree
from alphago.nn.inference.fusion import fold_batch_norms, fuse_convolutions
from alphago.nn.inference.gpu_stream import GpuStream
from alphago.nn.inference.hardware import choose_dtype, dtype_name, find_device, torch_device
from alphago.system.stopwatch import BOARDS, NET, TRANSFER

GPU_FORMS = ("fused", "folded", "modules")  # ordered from the fastest
# Largest differences from the CPU's results, relative to the largest output, that count as rounding.  On the GPU,
# float32 convolutions compute in TF32.
GPU_ROUNDING = {torch.float32: 0.01, torch.bfloat16: 0.2}


class Unsuited(ValueError):
    """The error raised for a network that a device cannot compute."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch, or of a library that torch calls, says that the GPU's memory is exhausted."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and bool(re.search("out of memory|ALLOC_FAILED", str(error)))


@contextlib.contextmanager
def translate_out_of_memory() -> Iterator[None]:
    """Raise MemoryError, in place of torch's error, if the GPU's memory is exhausted within the `with` block."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        size = re.search(r"Tried to allocate ([\d.]+ \w+)", str(error))
        what = size[1] if size else "an allocation"
        raise MemoryError(f"{what} does not fit into the memory that is left on the GPU") from error


class DeviceEvaluator:
    """An evaluator for search with boards and network on a device: a frozen copy of a network.

    `evaluate_leaves` evaluates a whole wave, the leaves of one step of a search.  It uploads the moves from the roots
    to the leaves; kernels play the moves and write planes into the network's input; a CUDA graph computes network and
    softmax; and priors and values are downloaded.  Each thread has its own stream and buffers, so the waves of several
    threads overlap, and a thread waits only once per wave.  Batches are padded to fixed sizes; the CUDA graph for a
    size is captured when the size first occurs.

    Batch norm is folded into the convolutions.  Results are float32.

    env, base_net, value, policy: the game and the parts of a NeuralNet.
    dtype: "float32" or "bfloat16"; None or "int8" for the faster one.
    device: "cuda"; or "host", for tests, which computes the kernels and the network on the CPU, by default in float32.
    Raises ValueError for a network whose weights are not finite or that the device cannot compute, BackendMissing if
    there is no such device.  All methods raise MemoryError if the device's memory is exhausted.
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
        # The default on "host" is float32, in which tests compare it with NetEvaluator.
        preferred = choose_dtype("float32" if dtype is None and device == "host" else dtype, self._torch_device)
        frozen = frozen_parts(base_net, value, policy)
        self._net, self.form, self._dtype = choose_gpu_form(frozen, env, preferred, self._torch_device)
        self._local = threading.local()

    @property
    def dtype(self) -> str:
        """The dtype in which the network computes: "float32" or "bfloat16"."""
        return dtype_name(self._dtype)

    @translate_out_of_memory()
    @torch.no_grad()
    def load(self, base_net: nn.Module, value: nn.Module, policy: nn.Module) -> None:
        """Replace the weights by those of another network with the same names and shapes.

        Captured CUDA graphs use the new weights from then on.  If the current form (one of GPU_FORMS) does not compute
        the new network correctly, another form is chosen.  No thread may be evaluating during the call.

        base_net, value, policy: the parts of the new network.
        Raises ValueError, and keeps the old weights, if the new ones are not finite or have other shapes.
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
            self._local = threading.local()  # existing streams use the old form
            return
        for name, tensor in own.items():
            tensor.copy_(new[name])

    @translate_out_of_memory()
    def evaluate_leaves(self, batch: GameBatch, leaves: Leaves) -> tuple[Reached, np.ndarray, np.ndarray]:
        """Evaluate the leaves of one step of a search; arguments and result are as in `WaveEvaluator.evaluate_leaves`.

        Raises ValueError if the network's output is not finite.
        """
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
        """Compute priors and values of positions on the device or on the CPU; see `NetEvaluator.evaluate`."""
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
        """Evaluate the first `count` positions in the stream's buffers.

        Returns their Reached (see `GameBatch.reach`), priors and values.

        Raises ValueError if the network's output is not finite.
        """
        with NET:  # this includes the wait for the boards' kernels
            answer = stream.compute(count)
        if answer.broken[0]:
            raise ValueError(NOT_FINITE)
        reached = Reached(answer.over[:count], answer.movers[:count], answer.values[:count])
        return reached, answer.priors[:count], answer.values[:count]

    def _stream(self) -> GpuStream:
        """Return the current thread's stream, created on the first call."""
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
    """Return an evaluator of a network.

    parts: the network's base, value and policy.
    dtype: as in NetEvaluator and DeviceEvaluator.
    device: the device of the network and of the searches' boards, see `alphago.nn.inference.hardware.find_device`.
        "auto" chooses the CPU also if the GPU cannot compute the network or has too little memory.
    exact: as in NetEvaluator; ignored on a GPU.
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
    """A convolution with an optional addition and relu after it; with a relu it is a single cuDNN call.

    PyTorch would make three passes over the features, for bias, addition and relu.  Together they would take half as
    long as the convolution.

    `cudnn_convolution_relu` passes the uninitialised memory of the result to cuDNN as an addend with factor 0.  If
    cuDNN read it, NaN or infinity there would give NaN in the result, which the evaluator reports as an error
    (`Answer.broken`).

    relu: whether a relu follows.
    """

    weight: torch.Tensor
    bias: torch.Tensor

    def __init__(self, conv: nn.Conv2d, relu: bool) -> None:
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
    """Return a copy of a network on a device in one of GPU_FORMS, with all parts in one dtype.

    The caller must hold the lock TRACING.  frozen: the network, on the CPU in float32.
    Raises whatever tracing a custom module may raise.
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
    """Return a copy of a network in the fastest form whose results on a device are correct.

    frozen: the network, on the CPU in float32.  dtype: the preferred dtype.
    Returns the copy, the form's name and the copy's dtype.
    Raises Unsuited if no form is correct, and torch's error if the device's memory is exhausted.
    """
    forms = [(form, dtype) for form in GPU_FORMS if form != "fused" or device.type == "cuda"]
    with TRACING, torch.no_grad():
        for form, form_dtype in (*forms, ("modules", torch.float32)):
            try:
                net = build_gpu_form(form, frozen, env, form_dtype, device)
                if agrees_with_cpu(net, frozen, env, form_dtype, device):
                    return net, form, form_dtype
            except Exception as error:  # a custom module, torch.fx or cuDNN may raise anything; try the next form
                if is_out_of_memory(error):
                    raise
    raise Unsuited(f"the network cannot be computed on {device.type}: its modules fail there, or give other results")


def agrees_with_cpu(net: Frozen, frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device) -> bool:
    """Return whether the copy `net` on a device has the outputs of the network `frozen`, up to rounding.

    Also returns True if the outputs of `frozen` are not finite; the evaluator reports that later.
    """
    planes = example_planes(env)
    expected = frozen(planes)
    logits, values = net(planes.to(device, dtype, memory_format=torch.channels_last))
    finite = all(bool(output.isfinite().all()) for output in expected)
    return not finite or outputs_agree((logits.cpu(), values.cpu()), expected, GPU_ROUNDING[dtype])
