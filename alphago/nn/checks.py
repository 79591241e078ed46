"""Whether a file holds the network that it describes, and the one that was wanted."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import torch

from alphago.env.game import GameEnv
from alphago.nn.model_files import ModelError
from alphago.nn.slots import same_game, structure


def check_game(path: str | PathLike[str], description: Mapping[str, Any], env: GameEnv) -> None:
    """ModelError unless the file's network was made for this game."""
    saved, wanted = description["structure"], structure(env)
    if not same_game(saved, wanted, bool(description["net"]["size_free"])):
        different = [key for key in wanted if saved.get(key) != wanted[key]]
        detail = ", ".join(f"{key} {saved.get(key)} where {wanted[key]} was wanted" for key in different)
        raise ModelError(f"{path} holds a network for {description['env']}, not for {env}: {detail}")


def check_sizes(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], tower_height: Any, channels: Any
) -> None:
    """ModelError unless the described tower can be what the file holds (before memory is taken for it)."""
    sizes = (tower_height, channels)
    numbers = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes)
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("base_net."))
    if not numbers or tower_height * 2 * 9 * channels**2 + 9 * channels > held:
        size = f"{tower_height} blocks x {channels} channels"
        raise ModelError(f"{path} describes {size}, but holds only {held:,} weights for them")


def check_tensors(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor]
) -> None:
    """ModelError unless names, shapes and kinds agree and every weight is finite."""
    for name in wanted:
        if name not in tensors:
            raise ModelError(f"{path} lacks the weight {name}, which the network has")
    for name, tensor in tensors.items():
        own = wanted.get(name)
        if own is None:
            raise ModelError(f"{path} holds a weight {name}, which the network does not have")
        if tensor.shape != own.shape:
            came, shape = list(tensor.shape), list(own.shape)
            raise ModelError(f"{path}: weight {name} has shape {came}, the network wants {shape}")
        if tensor.is_floating_point() != own.is_floating_point():
            raise ModelError(f"{path}: weight {name} is {tensor.dtype}, the network wants {own.dtype}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: weight {name} holds NaN or infinite numbers")
