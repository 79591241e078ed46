"""A network as plain data and arrays, which travel to other processes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet, build_net


def check_travels(net: NeuralNet) -> None:
    """Raise ValueError for a network of modules that only this program has."""
    if net.custom:
        names = ", ".join(f"{slot}={name}" for slot, name in net.custom.items())
        raise ValueError(f"workers must be able to build the network: {names} must be a registered part")


def net_to_arrays(net: NeuralNet) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """Return a network's description and weights; raise ValueError as `check_travels` does."""
    check_travels(net)
    return net.config, {name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()}


def net_from_arrays(config: Mapping[str, Any], weights: Mapping[str, np.ndarray], env: GameEnv) -> NeuralNet:
    """Return the network of `net_to_arrays`; env: its game."""
    net = build_net(config, env)
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return net.eval()
