"""The forms in which a GPU computes a network, the choice of the fastest correct one, and its errors."""

import contextlib
import copy
import re
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.inference.frozen_net import TRACING_LOCK, Frozen, example_planes, outputs_agree
from alphago.nn.inference.fusion import fold_batch_norms, folded_state, fuse_convolutions, replace_poolings

GPU_FORMS = ("fused", "folded", "modules")  # ordered from the fastest
# Largest differences from the CPU's results, relative to the largest output, that count as rounding.  On the GPU,
# float32 convolutions compute in TF32.
GPU_ROUNDING = {torch.float32: 0.01, torch.bfloat16: 0.2}


class Unsupported(ValueError):
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


class CudnnConv(nn.Module):
    """A convolution with an optional addition and relu after it; with a relu it is a single cuDNN call.

    PyTorch would make three passes over the features, for bias, addition and relu.  Together they would take half as
    long as the convolution.

    A small risk remains: torch's `cudnn_convolution_relu` passes the uninitialised memory of the result to cuDNN as an
    addend with factor 0.  If cuDNN read this memory, NaN or infinity there would give NaN in the result, which the
    evaluator reports as an error.

    Args:
        relu: whether a relu follows.
    """

    weight: torch.Tensor
    bias: torch.Tensor

    def __init__(self, conv: nn.Conv2d, relu: bool) -> None:
        super().__init__()
        # In the order of the arguments of torch's and cuDNN's convolutions.
        self.sizes: Any = (list(conv.stride), list(conv.padding), list(conv.dilation), conv.groups)
        self.relu = relu
        bias = conv.weight.new_zeros(conv.out_channels) if conv.bias is None else conv.bias.detach()
        self.register_buffer("weight", conv.weight.detach().contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias)

    def forward(self, inputs: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
        """Compute convolution(inputs) + added, or its relu; without `added` nothing is added."""
        if not self.relu:
            outputs = F.conv2d(inputs, self.weight, self.bias, *self.sizes)
            return outputs if added is None else outputs + added
        if added is None:
            return torch.cudnn_convolution_relu(inputs, self.weight, self.bias, *self.sizes)
        factor = 1.0  # of `added`
        return torch.cudnn_convolution_add_relu(inputs, self.weight, added, factor, self.bias, *self.sizes)


def build_gpu_form(form: str, frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device) -> Frozen:
    """Return a copy of a network on a device in one of GPU_FORMS, with all parts in one dtype.

    The caller must hold TRACING_LOCK.

    Args:
        frozen: the network, on the CPU in float32.

    Raises:
        Exception: of any class, if torch.fx cannot trace a custom module.
    """
    # The children of a Frozen are base, value and policy, in this order.
    parts = [copy.deepcopy(part) if form == "modules" else fold_batch_norms(part) for part in frozen.children()]
    net = Frozen(*parts, heads_dtype=dtype).to(device, dtype)
    if form == "fused":
        # Fusing follows the shapes of arrays through each part, so it needs an example of the part's inputs.
        planes = example_planes(env).to(device, dtype, memory_format=torch.channels_last)
        features = net.base_net(planes)
        for name, inputs in (("base_net", planes), ("value", features), ("policy", features)):
            replace_poolings(fuse_convolutions(getattr(net, name), inputs, CudnnConv))  # both change the part in place
    return net.to(memory_format=torch.channels_last).requires_grad_(False)  # type: ignore[call-overload]


def gpu_state(net: Frozen, source: Frozen) -> dict[str, torch.Tensor]:
    """Return the tensors that `net` would have if it were built of `source`, by name, on the device of `source`.

    Args:
        net: a network in one of GPU_FORMS.
        source: a network of the same structure, in float32 and in eval mode.

    Raises:
        KeyError: if `net` has a tensor that does not follow from those of `source`.
    """
    return {
        f"{part}.{name}": tensor
        for part, module in source.named_children()
        for name, tensor in folded_state(net.get_submodule(part), module).items()
    }


@translate_out_of_memory()
def choose_gpu_form(
    frozen: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device
) -> tuple[Frozen, str, torch.dtype]:
    """Return a copy of a network in the fastest form whose results on a device are correct.

    Args:
        frozen: the network, on the CPU in float32.
        dtype: the preferred dtype.

    Returns:
        The copy, the form's name and the copy's dtype.

    Raises:
        Unsupported: if no form is correct.
        MemoryError: if the device's memory is exhausted.
    """
    # "fused" calls cuDNN.
    tries = [(form, dtype) for form in GPU_FORMS if form != "fused" or device.type == "cuda"]
    tries.append(("modules", torch.float32))  # for a network that does not support `dtype`
    with TRACING_LOCK, torch.no_grad():
        for form, form_dtype in tries:
            try:
                net = build_gpu_form(form, frozen, env, form_dtype, device)
                if agrees_with(frozen, net, env, form_dtype, device):
                    return net, form, form_dtype
            except Exception as error:  # a custom module, torch.fx or cuDNN may raise anything; try the next form
                if is_out_of_memory(error):
                    raise
    raise Unsupported(f"the network cannot be computed on {device.type}: its modules fail there, or give other results")


def agrees_with(reference: Frozen, net: Frozen, env: GameEnv, dtype: torch.dtype, device: torch.device) -> bool:
    """Return whether the copy of a network has the network's outputs, up to rounding.

    Also returns True if the network's outputs are not finite; the evaluator reports that later.

    Args:
        reference: the network, on any device, in float32 and in eval mode.
        net: the copy, on `device` in `dtype`.
    """
    planes = example_planes(env)
    reference_device = next((tensor.device for tensor in reference.parameters()), planes.device)
    expected = [output.cpu() for output in reference(planes.to(reference_device))]
    outputs = [output.cpu() for output in net(planes.to(device, dtype, memory_format=torch.channels_last))]
    is_finite = all(bool(output.isfinite().all()) for output in expected)
    return not is_finite or outputs_agree(outputs, expected, GPU_ROUNDING[dtype])
