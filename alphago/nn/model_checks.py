"""Checks whether a model file holds the network that it describes, and whether that can play a game."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.model_files import ModelError
from alphago.nn.parts import fits_game, game_structure
from alphago.system.validation import shortened


def check_game_fits(path: str | PathLike[str], description: Mapping[str, Any], env: GameEnv) -> None:
    """Raise ModelError unless the file's network can play this game."""
    saved, structure = description["structure"], game_structure(env)
    if not fits_game(saved, env, bool(description["net"]["size_free"])):
        different = [key for key in structure if saved.get(key) != structure[key]]
        detail = ", ".join(f"{key} must be {structure[key]}, got {shortened(saved.get(key))}" for key in different)
        raise ModelError(f"{path} holds a network for {description['env']}, not for {env}: {detail}")


def check_modules(
    path: str | PathLike[str], config: Mapping[str, Any], modules: Mapping[str, nn.Module | None]
) -> None:
    """Raise ModelError for a custom slot of the file without a module, or a default slot with one."""
    parts, custom = config["parts"], config["custom"]
    for slot, module in modules.items():
        if slot in custom and module is None:
            raise ModelError(f"{path} was saved with its own {slot}, a {shortened(custom[slot])}: pass one as {slot}=…")
        if slot not in custom and slot not in parts and module is not None:
            raise ModelError(f"{path} has the default {slot}, but {type(module).__name__} was passed for it")


def check_tower_size(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], tower_height: Any, channels: Any
) -> None:
    """Raise ModelError if the file has too few weights for a tower of that size; called before memory is allocated."""
    sizes = (tower_height, channels)
    numbers = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes)
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("base_net."))
    if not numbers or tower_height > len(tensors) or tower_height * 2 * 9 * channels**2 + 9 * channels > held:
        size = f"{shortened(tower_height)} blocks x {shortened(channels)} channels"
        raise ModelError(f"{path} describes {size}, but holds only {held:,} weights for them")


def check_tensors(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> None:
    """Raise ModelError unless the tensors have the expected names, shapes and dtypes, and only finite numbers."""
    for name in expected:
        if name not in tensors:
            raise ModelError(f"{path} lacks the weight {name}, which the network has")
    for name, tensor in tensors.items():
        own = expected.get(name)
        if own is None:
            raise ModelError(f"{path} holds a weight {shortened(name)}, which the network does not have")
        if tensor.shape != own.shape:
            raise ModelError(f"{path}: weight {name} must have shape {list(own.shape)}, got {list(tensor.shape)}")
        if tensor.is_floating_point() != own.is_floating_point():
            raise ModelError(f"{path}: weight {name} must be {own.dtype}, got {tensor.dtype}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: weight {name} holds NaN or infinite numbers")
