"""The parts that the package has for networks: which are default ones, and all as plain data.

Files and runs say by it which parts a network was built of, and how, and nobody has to pass them again.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.policy import DensePolicy, FlatPolicy, PointPolicy
from alphago.nn.value import AddedForecast, DenseValue, FlatValue, ForecastValue

KINDS: tuple[type[nn.Module], ...] = (
    ResidualTower, DenseBase, ForecastValue, DenseValue, FlatValue, AddedForecast, PointPolicy, DensePolicy, FlatPolicy,
)  # fmt: skip
PARTS = {kind.__name__: kind for kind in KINDS}


def default_value(channels: int, shape: tuple[int, int] | None, size_free: bool) -> nn.Module:
    """The value head for features of `channels` planes of `shape`, or for `channels` flat ones where it is None."""
    if shape is None:
        return FlatValue(channels)
    return ForecastValue(channels) if size_free else DenseValue(channels, shape)


def default_policy(env: GameEnv, channels: int, shape: tuple[int, int] | None, size_free: bool) -> nn.Module:
    """The policy head, as `default_value`."""
    if shape is None:
        return FlatPolicy(channels, env.action_space)
    if size_free:
        return PointPolicy(channels, has_pass=env.action_space > env.plane_shape[0] * env.plane_shape[1])
    return DensePolicy(channels, shape, env.action_space)


def described(module: nn.Module | None) -> dict[str, Any] | None:
    """A part's class and the arguments that it was made with, as JSON knows them; None for all others."""
    if module is None or type(module) not in KINDS:
        return None
    arguments: dict[str, Any] = {}
    for name, value in module.arguments.items():  # type: ignore[union-attr, operator]
        if isinstance(value, nn.Module):
            value = described(value)
            if value is None:
                return None
        arguments[name] = value
    return {"part": type(module).__name__, **arguments}


def rebuilt(description: Mapping[str, Any]) -> nn.Module:
    """A new part as `described` told; ValueError or TypeError if it told something else."""
    arguments = {name: rebuilt(value) if isinstance(value, Mapping) else value for name, value in description.items()}
    kind = arguments.pop("part", None)
    if kind not in PARTS:
        raise ValueError(f"there is no part {kind!r}, only {', '.join(PARTS)}")
    return PARTS[kind](**arguments)


def rebuilt_for(description: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> nn.Module:
    """`rebuilt`, but takes no memory for a part that does not have the shapes of these weights.

    Raises ValueError or TypeError, as `rebuilt`, and ValueError for other shapes.
    """
    if not isinstance(description, Mapping):
        raise ValueError(f"a part is a table, got {description!r}")
    if not 0 <= description.get("height", 0) <= len(tensors):  # each block has weights, and costs time to make
        raise ValueError(f"there are {description['height']} blocks, but only {len(tensors)} weights")
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in rebuilt(description).state_dict().items()}
    for name, shape in shapes.items():
        if name not in tensors or tensors[name].shape != shape:
            came = f"has shape {list(tensors[name].shape)}" if name in tensors else "is missing"
            raise ValueError(f"{description['part']}'s weight {name} {came}, wanted {list(shape)}")
    return rebuilt(description)


def within(tensors: Mapping[str, torch.Tensor], slot: str) -> dict[str, torch.Tensor]:
    """The tensors of one slot, by their names in it."""
    return {name.removeprefix(f"{slot}."): tensor for name, tensor in tensors.items() if name.startswith(f"{slot}.")}
