"""The networks of a file, against numpy and torch: every kind of layer."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago import ConnectFourEnv, GoEnv, NeuralNet, OwareEnv, ReversiEnv
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.export import network_graph, raw_files
from alphago.nn.graph import run_graph
from alphago.nn.random_positions import random_planes
from tests.ui.onefile.scripts import ask, numbers, packed


def tower(env: Any, channels: int, **options: Any) -> NeuralNet:
    """A small network; with 16 or 32 channels WebAssembly takes its short way to a convolution."""
    return NeuralNet(env, ResidualTower(env.planes, channels, 3, **options))


def dense(env: Any) -> NeuralNet:
    return NeuralNet(env, DenseBase(env.planes, env.plane_shape, (40, 24), "elu"))


NETWORKS = {
    "pooled tower": lambda: tower(GoEnv(5), 32, pooled=True),
    "preactivation, elu": lambda: tower(ReversiEnv(4), 20, block="preactivation", activation="elu", pooled=True),
    "plain tower of another shape": lambda: tower(ConnectFourEnv(), 16, block="plain"),
    "transformer": lambda: NeuralNet(GoEnv(5), "transformer", tower_height=2, channels=64),
    "dense": lambda: dense(OwareEnv()),
    "one-hot": lambda: dense(OwareEnv(planes="one-hot")),
}


def model_of(net: NeuralNet, kind: str = "w32") -> dict[str, Any]:
    """A network as the modules take it."""
    weights, described = raw_files(network_graph(net), net, Path("net"), kind).values()
    numbers = np.frombuffer(weights, "<f4" if kind == "w32" else "<f2")
    return {"manifest": json.loads(described), "weights": packed(numbers)}


def outputs(net: NeuralNet, planes: np.ndarray) -> dict[str, np.ndarray]:
    """What the modules compute, by name."""
    told = ask("network", planes=packed(planes), count=len(planes), shape=list(planes.shape[2:]), **model_of(net))
    return {name: np.stack([numbers(one[name]) for one in told]) for name in told[0]}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_is_computed(name: str) -> None:
    torch.manual_seed(0)
    net = NETWORKS[name]()
    for parameter in net.parameters():  # else some layers begin as zeros
        torch.nn.init.normal_(parameter, std=0.1)
    for env in [net.env, *[GoEnv(8)] * (name == "pooled tower")]:  # it is size-free
        planes = random_planes(env, 6)
        expected = run_graph(graph := network_graph(net), graph.weights, planes)
        told = outputs(net, planes)
        assert told.keys() == expected.keys()
        for key, array in expected.items():
            np.testing.assert_allclose(told[key], array.reshape(len(planes), -1), atol=1e-4, rtol=1e-3)
