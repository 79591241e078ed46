"""A network's three parts as one module that will not be trained, and what its fast forms are compared by."""

import copy
import threading
from typing import TypeVar

import torch
from torch import nn

from alphago.env.game import GameEnv

Outputs = tuple[torch.Tensor, torch.Tensor]  # logits [B, action_space], values [B]
Part = TypeVar("Part", bound=nn.Module)
TRACING = threading.Lock()  # torch.fx traces one module at a time


class Frozen(nn.Module):
    """Base, value and policy as one function of planes [B, C, H, W]; logits and values are float32.

    heads: the type that value and policy compute in; the base has its own.
    """

    def __init__(
        self, base_net: nn.Module, value: nn.Module, policy: nn.Module, *, heads: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.base_net = base_net
        self.value = value
        self.policy = policy
        self.heads = heads

    def forward(self, planes: torch.Tensor) -> Outputs:
        features = self.base_net(planes).to(self.heads)
        return self.policy(features).float(), self.value(features).float().flatten()


def frozen_parts(base_net: nn.Module, value: nn.Module, policy: nn.Module) -> Frozen:
    """Copies of the parts, on the CPU and in float32; ValueError if their weights are not finite."""
    frozen = Frozen(*(frozen_copy(module) for module in (base_net, value, policy)))
    check_finite(frozen)
    return frozen


def frozen_copy(module: Part) -> Part:
    """A copy on the CPU, in eval mode and float32, that will not be trained."""
    return copy.deepcopy(module).cpu().float().eval().requires_grad_(False)


def check_finite(module: nn.Module) -> None:
    """ValueError if a weight or a running statistic is NaN or infinite."""
    for name, tensor in module.state_dict().items():
        if isinstance(tensor, torch.Tensor) and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the network's weights hold NaN or infinite numbers (first in {name})")


def example_planes(env: GameEnv) -> torch.Tensor:
    """Random zeros and ones, float32 [3, planes, height, width], the same on every call."""
    generator = torch.Generator().manual_seed(1)
    planes = torch.rand(3, env.planes, *env.plane_shape, generator=generator).round()
    return planes.contiguous(memory_format=torch.channels_last)


def agree(got: Outputs, wanted: Outputs, tolerance: float) -> bool:
    """Whether logits and values are the same but for rounding, relative to the largest."""
    for mine, right in zip(got, wanted, strict=True):
        if mine.shape != right.shape or not (mine - right).abs().max() <= tolerance * (1 + right.abs().max()):
            return False
    return True
