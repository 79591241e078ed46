"""Check that a model file holds the network that it describes, and that the network can play a game."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.model_files import ModelError
from alphago.nn.parts import fits_game, game_structure
from alphago.system.validation import is_int, shortened, shown


def check_game_fits(path: str | PathLike[str], description: Mapping[str, Any], env: GameEnv) -> None:
    """Raise ModelError unless the network in the file `path`, with this description, can play the game `env`."""
    saved, structure = description["structure"], game_structure(env)
    if not fits_game(saved, env, bool(description["net"]["size_free"])):
        different = [key for key in structure if saved.get(key) != structure[key]]
        detail = ", ".join(f"{key} must be {structure[key]}, got {shortened(saved.get(key))}" for key in different)
        raise ModelError(f"{path} holds a network for {description['env']}, not for {env}: {detail}")


def check_modules(
    path: str | PathLike[str], config: Mapping[str, Any], modules: Mapping[str, nn.Module | None]
) -> None:
    """Check that modules were passed exactly for the slots that were saved with custom modules.

    config: `NeuralNet.config`, from the file `path`.  modules: the modules passed to `load_model`, by slot.
    Raises ModelError if a module is missing, or was passed for a slot with the default part.
    """
    parts, custom = config["parts"], config["custom"]
    for slot, module in modules.items():
        if slot in custom and module is None:
            raise ModelError(f"{path} was saved with its own {slot}, a {shortened(custom[slot])}: pass one as {slot}=…")
        is_default = slot not in custom and slot not in parts
        if is_default and module is not None:
            raise ModelError(f"{path} has the default {slot}, but {type(module).__name__} was passed for it")


def check_tower_size(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], tower_height: Any, channels: Any
) -> None:
    """Raise ModelError if the file has too few weights for a tower of this size.

    This is checked before the tower is built, so that a damaged file cannot make it allocate much memory.
    tensors: the tensors in the file `path`.
    """
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("base_net."))
    fits = False
    if is_int(tower_height, 0) and is_int(channels, 0):
        entry, block = 9 * channels, 2 * 9 * channels**2  # fewest weights of the 3x3 convolutions of entry and block
        enough_weights = entry + tower_height * block <= held
        fits = enough_weights and tower_height <= len(tensors)  # the latter because `channels` may be 0
    if not fits:
        size = f"{shortened(tower_height)} blocks x {shortened(channels)} channels"
        raise ModelError(f"{path} describes {size}, but holds only {held:,} weights for them")


def check_tensors(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> None:
    """Raise ModelError unless the tensors of the file `path` are finite and match `expected`.

    expected: the network's state dict, which determines names, shapes, and whether numbers are floating-point.
    """
    for name in expected:
        if name not in tensors:
            raise ModelError(f"{path} lacks the weight {name}, which the network has")
    for name, tensor in tensors.items():
        like = expected.get(name)
        if like is None:
            raise ModelError(f"{path} holds a weight {shortened(name)}, which the network does not have")
        if tensor.shape != like.shape:
            got = shown(list(tensor.shape))
            raise ModelError(f"{path}: weight {name} must have shape {list(like.shape)}, got {got}")
        if tensor.is_floating_point() != like.is_floating_point():
            raise ModelError(f"{path}: weight {name} must be {like.dtype}, got {tensor.dtype}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: weight {name} holds NaN or infinite numbers")
