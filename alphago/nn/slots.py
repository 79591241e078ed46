"""The three parts of a network, and whether they fit together."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from alphago.env.game import GameEnv


def structure(env: GameEnv) -> dict[str, Any]:
    """What of a game a network's shape depends on; games that agree in it may share weights."""
    return {
        "game": env.name,
        "planes": env.planes,
        "plane_shape": list(env.plane_shape),
        "action_space": env.action_space,
    }


def same_game(saved: dict[str, Any], wanted: dict[str, Any], size_free: bool) -> bool:
    """Whether weights for one structure fit the other: all of it, or all but the size where they are size-free."""
    if not size_free:
        return saved == wanted
    # A game has its pass on every board or on none.
    passes = [s.get("action_space", 0) - math.prod(s.get("plane_shape", [0])) for s in (saved, wanted)]
    return all(saved.get(key) == wanted[key] for key in ("game", "planes")) and passes[0] == passes[1]


def class_name(module: nn.Module) -> str:
    """'module.Class', for messages and saved files."""
    return f"{type(module).__module__}.{type(module).__qualname__}"


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Puts a module into eval mode, and afterwards every part of it back into its own mode."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def check_base(base: nn.Module, env: GameEnv, default_heads: bool) -> torch.Tensor:
    """Runs the base on two empty boards and returns the features [2, ...]; the errors name the slot."""
    parameter = next(base.parameters(), torch.zeros(0))
    planes = torch.zeros(2, env.planes, *env.plane_shape, device=parameter.device, dtype=parameter.dtype)
    features = run("base_net", base, planes)
    wanted = "[2, C, H, W] or [2, F]" if default_heads else "[2, ...]"
    if features.shape[:1] != (2,) or features.dim() < 2 or (default_heads and features.dim() not in (2, 4)):
        why = ", which the default heads need" if default_heads else ""
        raise misfit("base_net", base, planes, wanted + why, features)
    return features


def check_value(value: nn.Module, features: torch.Tensor) -> None:
    """The value slot maps features to [2, 1] or [2] in -1 .. 1."""
    output = run("value", value, features)
    if output.shape not in ((2, 1), (2,)):
        raise misfit("value", value, features, "[2, 1] or [2]", output)
    if output.abs().max() > 1.001:
        raise ValueError(
            f"value: {class_name(value)} gave {output.abs().max():.3g}, wanted -1 to 1; end it with a tanh"
        )


def check_policy(policy: nn.Module, features: torch.Tensor, env: GameEnv) -> None:
    """The policy slot maps features to logits [2, action_space]."""
    output = run("policy", policy, features)
    if output.shape != (2, env.action_space):
        raise misfit("policy", policy, features, f"[2, {env.action_space}] (logits of {env})", output)


def run(slot: str, module: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """The module's output in eval mode without gradients; ValueError or TypeError name the slot."""
    try:
        with evaluating(module), torch.no_grad():
            output = module(inputs)
    except Exception as error:
        raise ValueError(
            f"{slot}: {class_name(module)} failed on an input of shape {list(inputs.shape)}: {error}"
        ) from error
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"{slot}: {class_name(module)} gave a {type(output).__name__}, wanted a torch.Tensor")
    return output


def misfit(slot: str, module: nn.Module, inputs: torch.Tensor, wanted: str, output: torch.Tensor) -> ValueError:
    """The error for an output of the wrong shape."""
    return ValueError(
        f"{slot}: {class_name(module)} gave shape {list(output.shape)} for an input of shape"
        f" {list(inputs.shape)}, wanted {wanted}"
    )
