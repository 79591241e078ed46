"""Positions and networks for the tests of this folder."""

import numpy as np
import torch
from torch import nn

from alphago.env.game import GameBatch, GameEnv
from alphago.nn.evaluator import NetEvaluator
from alphago.nn.net import NeuralNet


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


def lived_in(net: NeuralNet, seed: int = 0, sharpness: float = 1.0) -> NeuralNet:
    """The network with batch norms as after training, and outputs of about size `sharpness` before softmax, tanh."""
    generator = torch.Generator().manual_seed(seed)
    norms = [part for part in net.modules() if isinstance(part, nn.BatchNorm2d)]
    for norm in norms:
        norm.weight.data.uniform_(0.5, 1.2, generator=generator)
        norm.bias.data.uniform_(-0.3, 0.3, generator=generator)
        norm.momentum = None  # take over the statistics of the next batch
    batch = random_batch(net.env, 256, seed)
    planes = torch.from_numpy(planes_of(batch, np.arange(256)))
    with torch.no_grad():
        net.train()(planes)
        for norm in norms:
            norm.momentum = 0.1
        logits, value = net.eval()(planes)
        net.policy.last.weight.mul_(sharpness / logits.std())
        net.value.last.weight.mul_(sharpness / torch.atanh(value.clamp(-0.99, 0.99)).square().mean().sqrt())
    return net


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
