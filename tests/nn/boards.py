"""Positions, a game on rectangles, networks and their snapshots for the tests of this folder."""

import copy
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GameBatch, GameEnv, NeuralNet
from alphago.nn.inference import openvino
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.value import ForecastValue
from tests.ui.own_games import Ring

# Total variation of the policies and difference of the values, greatest and mean; bfloat16 has 8 bits of precision.
TOLERANCE = {"float32": (2e-5, 2e-6), "bfloat16": (0.12, 0.025), "int8": (0.2, 0.03)}
needs_openvino = pytest.mark.skipif(not openvino.is_installed(), reason="needs openvino")


class Claiming(Ring):
    """Two players claim the points of a rectangle in turn; where there is a pass, it is the bell, twice a game."""

    def __init__(self, env: "ClaimingEnv") -> None:
        super().__init__(env.N * env.plane_shape[1], env.max_moves - env.N * env.plane_shape[1])
        self.env = env

    def legal_mask(self) -> np.ndarray:
        return super().legal_mask()[: self.env.action_space]

    def planes(self) -> np.ndarray:
        return super().planes().reshape(3, *self.env.plane_shape)

    def ownership(self) -> np.ndarray:
        return self.cells * np.int8(self.to_play)

    def copy(self) -> "Claiming":
        twin = copy.copy(self)
        twin.cells = self.cells.copy()
        return twin


class ClaimingEnv(GameEnv):
    name = "claiming"
    planes = 3
    actions_are_points = True
    has_ownership = True

    def __init__(self, height: int, width: int, passes: bool = False) -> None:
        self.N = height
        self.plane_shape = (height, width)
        self.max_moves = height * width + 2 * passes
        self.action_space = height * width + passes
        self.pass_action = height * width if passes else None

    @property
    def config(self) -> dict:
        height, width = self.plane_shape
        return {"height": height, "width": width, "passes": self.pass_action is not None}

    def new(self) -> Claiming:
        return Claiming(self)


def random_batch(env: GameEnv, count: int, seed: int = 0, plies: int = 40) -> GameBatch:
    """Slots after up to `plies` random moves each, none of them over."""
    random = np.random.default_rng(seed)
    batch = env.new_batch(count)
    lengths = random.integers(0, plies, count)
    for ply in range(plies):
        slots = np.flatnonzero(lengths > ply)
        slots = slots[~batch.is_over(slots, np.empty(len(slots), np.bool_))]
        mask = batch.legal_mask(slots, np.empty((len(slots), env.action_space), np.bool_))
        mask[:, -1] &= mask.sum(axis=1) == 1  # pass only if nothing else is legal: games go on
        scores = np.where(mask, random.random(mask.shape), -1)
        batch.play(slots, scores.argmax(axis=1).astype(np.int32))
    over = batch.is_over(np.arange(count), np.empty(count, np.bool_))
    batch.reset(np.flatnonzero(over))
    return batch


@cache
def random_planes(env: GameEnv, seed: int) -> torch.Tensor:
    return torch.from_numpy(planes_of(random_batch(env, 256, seed), np.arange(256)))


def lived_in(net: NeuralNet, seed: int = 0, sharpness: float = 1.0) -> NeuralNet:
    """The network as after training: no weight is 0, batch norms have seen positions.

    Outputs have about size `sharpness` before softmax and tanh.
    """
    generator = torch.Generator().manual_seed(seed)
    for part in net.modules():
        if isinstance(part, (nn.Linear, nn.Conv2d)):
            part.weight.data.normal_(std=1 / math.sqrt(part.weight[0].numel()), generator=generator)
        if getattr(part, "bias", None) is not None:
            part.bias.data.uniform_(-0.3, 0.3, generator=generator)
    norms = [part for part in net.modules() if isinstance(part, nn.BatchNorm2d)]
    for norm in norms:
        norm.weight.data.uniform_(0.5, 1.2, generator=generator)
        norm.momentum = None  # take over the statistics of the next batch
    planes = random_planes(net.env, seed)
    with torch.no_grad():
        net.train()(planes)
        for norm in norms:
            norm.momentum = 0.1
        logits, value = net.eval()(planes)
        for layer in filter(None, (getattr(net.policy, "points", None), net.policy.last)):
            layer.weight.mul_(sharpness / logits.std())
        net.value.last.weight.mul_(sharpness / torch.atanh(value.clamp(-0.99, 0.99)).square().mean().sqrt())
        if isinstance(net.value, ForecastValue):
            net.value.owner.weight.mul_(20)
    return net


def randomised(module: nn.Module, seed: int = 3) -> nn.Module:
    """The module in eval mode with all weights and statistics drawn, also zeros; outputs are about 1."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in module.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
        elif tensor.is_floating_point():
            size = tensor[0].numel() if tensor.dim() > 1 else 9
            tensor.normal_(std=size**-0.5, generator=generator)
        if name.endswith(("running_mean", "bias")) or (tensor.dim() == 1 and name.endswith("weight")):
            tensor.abs_().add_(0.2)  # no unit is idle
    return module.eval().requires_grad_(False)


def snapshot(net: NeuralNet, dtype: str | None = None, **options: Any) -> NetEvaluator:
    return NetEvaluator(net, dtype=dtype, **options)


def assert_reads_alike(one: NeuralNet, other: NeuralNet, position: Any) -> None:
    (policy, value), (expected, expected_value) = one(position), other(position)
    np.testing.assert_allclose(policy, expected, atol=1e-6)
    assert value == pytest.approx(expected_value, abs=1e-6)


def planes_of(batch: GameBatch, slots: np.ndarray) -> np.ndarray:
    return batch.planes(slots, np.empty((len(slots), batch.env.planes, *batch.env.plane_shape), np.float32))


def evaluate(evaluator: NetEvaluator, batch: GameBatch, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Priors and values of an evaluator, in arrays that held something else before."""
    priors = np.full((len(slots), batch.env.action_space), np.nan, np.float32)
    values = np.full(len(slots), np.nan, np.float32)
    evaluator.evaluate(batch, slots, priors, values)
    return priors, values


def module_results(net: NeuralNet, batch: GameBatch, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same from the module itself, by torch's softmax: the slow, obvious twin."""
    mask = batch.legal_mask(slots, np.empty((len(slots), net.env.action_space), np.bool_))
    with torch.no_grad():
        logits, value = net.eval()(torch.from_numpy(planes_of(batch, slots)))
    return logits.masked_fill(~torch.from_numpy(mask), -torch.inf).softmax(dim=1).numpy(), value.numpy()


@cache
def compared_batch(env: GameEnv) -> GameBatch:
    return random_batch(env, 100, seed=7)


def check_agreement(evaluator: NetEvaluator, net: NeuralNet) -> None:
    batch, slots = compared_batch(net.env), np.arange(100)
    priors, values = evaluate(evaluator, batch, slots)
    expected_priors, expected_values = module_results(net, batch, slots)
    assert np.ptp(expected_values) > 1e-4
    most, mean = TOLERANCE[evaluator.dtype]
    for distance in (np.abs(priors - expected_priors).sum(axis=1) / 2, np.abs(values - expected_values)):
        assert distance.max() < most
        assert distance.mean() < mean
        assert evaluator.dtype == "float32" or distance.mean() > 1e-5  # it is another computation
