"""Frozen copies of networks: a network's three parts as one module, and the comparison of its outputs."""

import copy
import threading
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import nn

from alphago.env.game import GameEnv

Outputs = tuple[torch.Tensor, torch.Tensor]  # logits [B, action_space], values [B] or [B, columns]
Part = TypeVar("Part", bound=nn.Module)
TRACING_LOCK = threading.RLock()  # held while torch.fx traces, which only one thread may do at a time
EXAMPLES = 16  # number of example positions: one call of the largest model of alphago.nn.inference.openvino


class Frozen(nn.Module):
    """Base, value and policy as one module: planes [B, C, H, W] -> logits [B, action_space] and values, float32.

    Values are [B], or [B, columns] if the value part's output has several columns, such as value, score and ownership.

    Args:
        heads_dtype: the dtype in which value and policy compute; it may differ from the base's.
    """

    def __init__(
        self, base_net: nn.Module, value: nn.Module, policy: nn.Module, *, heads_dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.base_net, self.value, self.policy = base_net, value, policy
        self.heads_dtype = heads_dtype

    def forward(self, planes: torch.Tensor) -> Outputs:
        features = self.base_net(planes).to(self.heads_dtype)
        values = self.value(features).float()  # a value alone is [B] or [B, 1], and becomes [B] below
        has_columns = values.dim() == 2 and values.shape[1] > 1  # such as value, score and ownership
        return self.policy(features).float(), values if has_columns else values.flatten()


def frozen_parts(base_net: nn.Module, value: nn.Module, policy: nn.Module) -> Frozen:
    """Return copies of the parts as one Frozen on the CPU in float32; raise ValueError if a weight is not finite.

    Convolutions are channels-last, like those of a network in training (Learner).  Rounding depends on the memory
    format: with another one, a network would give other results after it is saved and loaded.
    """
    frozen = Frozen(*(frozen_copy(module) for module in (base_net, value, policy)))
    frozen.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    check_finite(frozen)
    return frozen


def state_shapes(net: nn.Module) -> list[tuple[str, tuple[int, ...]]]:
    """Return the names and shapes of a network's tensors, without extra state of modules that is no tensor."""
    return [(name, tuple(t.shape)) for name, t in net.state_dict().items() if isinstance(t, torch.Tensor)]


def check_finite(net: nn.Module) -> None:
    """Raise ValueError if a weight of a network is not finite."""
    tensors = {name: tensor for name, tensor in net.state_dict().items() if isinstance(tensor, torch.Tensor)}
    # A list for all tensors, for which a GPU is waited for once.
    finite = torch.stack([torch.isfinite(tensor).all() for tensor in tensors.values()]).tolist() if tensors else []
    for name, is_finite in zip(tensors, finite, strict=True):
        if not is_finite:
            raise ValueError(f"the network's weights must be finite, got NaN or infinite numbers in {name}")


def frozen_copy(module: Part) -> Part:
    """Return a copy of a module on the CPU, in eval mode and float32, without gradients."""
    return copy.deepcopy(module).cpu().float().eval().requires_grad_(False)


def example_planes(env: GameEnv) -> torch.Tensor:
    """Return planes of random zeros and ones, float32 [EXAMPLES, planes, height, width], the same on every call."""
    generator = torch.Generator().manual_seed(1)
    planes = torch.rand(EXAMPLES, env.planes, *env.plane_shape, generator=generator).round()
    return planes.contiguous(memory_format=torch.channels_last)


def outputs_agree(outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float) -> bool:
    """Return whether all outputs have the expected shapes and differ by at most tolerance * (1 + max |expected|)."""
    # The comparison is False for a difference of NaN.
    return all(
        output.shape == right.shape and bool((output - right).abs().max() <= tolerance * (1 + right.abs().max()))
        for output, right in zip(outputs, expected, strict=True)
    )
