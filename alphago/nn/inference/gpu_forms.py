"""The forms that a network is computed in on a device: fast ones first, each compared with the modules as they are."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.inference.devices import is_out_of_memory
from alphago.nn.inference.frozen import TRACING, Frozen, agree, example_planes
from alphago.nn.inference.fusion import folded, fused

FORMS = ("fused", "folded", "modules")
# Differences from the CPU's results, relative to the largest, that are rounding: a GPU's float32 convolutions are TF32.
NEAR = {torch.float32: 0.01, torch.bfloat16: 0.2}


class Unsuited(ValueError):
    """A network that a device cannot compute."""


class CudnnConv(nn.Module):
    """A convolution, with something added to it or not, with a relu at the end or not: with one, a single cuDNN call.

    PyTorch would compute bias, addition and relu each in a pass over all features, which together take half as long as
    the convolution.

    A risk: `cudnn_convolution_relu` hands cuDNN the memory of its result as what is to be added, 0 times.  cuDNN should
    not look at it.  Where it did, what was left there by others, NaN or infinite, would come out as NaN.
    `gives_results` looks at fresh memory only; later it would be met as an output that is not finite (`Answer.broken`).
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


def make_form(form: str, frozen: Frozen, env: GameEnv, kind: torch.dtype, place: torch.device) -> Frozen:
    """The network in one of FORMS on a device, all of it in one type; raises what tracing may raise.

    The caller holds TRACING.  frozen: on the CPU, in float32; it stays as it is.
    """
    parts = [copy.deepcopy(part) if form == "modules" else folded(part) for part in frozen.children()]
    whole = Frozen(*parts, heads=kind).to(place, kind)
    if form == "fused":
        planes = example_planes(env).to(place, kind, memory_format=torch.channels_last)
        features = whole.base_net(planes)
        for name, inputs in (("base_net", planes), ("value", features), ("policy", features)):
            setattr(whole, name, fused(getattr(whole, name), inputs, CudnnConv))
    return whole.to(memory_format=torch.channels_last).requires_grad_(False)  # type: ignore[call-overload]


def fastest_on(frozen: Frozen, env: GameEnv, kind: torch.dtype, place: torch.device) -> tuple[Frozen, str, torch.dtype]:
    """The fastest form that gives the network's results on a device, its name, and the type it computes in.

    Unsuited if the device gives none of them; an error of torch's where it has no memory for one.
    """
    forms = [(form, kind) for form in FORMS if form != "fused" or place.type == "cuda"]
    with TRACING, torch.no_grad():
        for form, dtype in (*forms, ("modules", torch.float32)):
            try:
                whole = make_form(form, frozen, env, dtype, place)
                if gives_results(whole, frozen, env, dtype, place):
                    return whole, form, dtype
            except Exception as error:  # whatever a user's module, torch.fx or cuDNN may raise: take the next form
                if is_out_of_memory(error):
                    raise
    raise Unsuited(f"the network cannot be computed on {place.type}: its modules fail there, or give other results")


def gives_results(made: Frozen, frozen: Frozen, env: GameEnv, kind: torch.dtype, place: torch.device) -> bool:
    """Whether a form on a device gives the results of the network that it was made of, but for rounding.

    True also where these are not finite, which the evaluator says when it meets it.
    """
    planes = example_planes(env)
    wanted = frozen(planes)
    got = made(planes.to(place, kind, memory_format=torch.channels_last))
    finite = all(bool(output.isfinite().all()) for output in wanted)
    return not finite or agree((got[0].cpu(), got[1].cpu()), wanted, NEAR[kind])
