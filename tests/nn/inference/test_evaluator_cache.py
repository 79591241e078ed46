"""An evaluator is made once for a network as it is, and anew after any change of it."""

import copy
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GoEnv, MCTSPlayer, NeuralNet
from alphago.nn.inference.evaluator_cache import MOST_CACHED
from tests.nn.boards import evaluate, random_batch

ENV = GoEnv(5)


@pytest.fixture
def net() -> NeuralNet:
    return NeuralNet(ENV, tower_height=1, channels=8)


def test_an_unchanged_network_has_one(net):
    one = net.evaluator("float32")
    assert net.evaluator("float32") is one
    assert net.train().evaluator("float32") is one
    assert net.resized(GoEnv(7)).evaluator("float32") is net.resized(GoEnv(7)).evaluator("float32") is not one
    assert net.evaluator("float32", shared=False) is not one
    assert net.evaluator("float32", exact=True) is not one
    assert net.forecast_evaluator() is net.forecast_evaluator() is not one
    first, second = MCTSPlayer(ENV, net), MCTSPlayer(ENV, net)
    assert first.search.evaluator is second.search.evaluator


class Scaled(nn.Module):
    """A head with a factor that is no parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.factor, self.table = 1.0, np.ones(3)
        self.linear = nn.Linear(8 * 25, 26)

    def forward(self, features):
        return self.factor * float(self.table.sum()) * self.linear(features.flatten(1))


def train_a_step(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net.train()(torch.rand(8, ENV.planes, 5, 5))[0].square().sum().backward()
    optimizer.step()


CHANGES = {
    "training": "train_a_step(net)",
    "data, which torch does not count": "net.policy.linear.weight.data[0, 0] += 1",
    "through NumPy": "net.policy.linear.bias.detach().numpy()[3] += 1",
    "other weights": "net.load_state_dict(other.state_dict())",
    "statistics": "net.base_net.entry[1].running_mean += 1",
    "an attribute": "net.policy.factor = 3.0",
    "an array": "net.policy.table[1] = 5",
    "a part": "net.policy = other.policy",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_gives_another_one(change):
    net, other = (NeuralNet(ENV, tower_height=1, channels=8, policy=Scaled()) for _ in range(2))
    before = net.evaluator("float32")
    batch, slots = random_batch(ENV, 4), np.arange(4)
    priors, _ = evaluate(before, batch, slots)
    exec(change, globals(), {"net": net, "other": other})
    after = net.evaluator("float32")
    assert after is not before
    assert not np.array_equal(evaluate(after, batch, slots)[0], priors)
    assert np.array_equal(evaluate(before, batch, slots)[0], priors)  # it stays a snapshot


def test_a_change_that_was_taken_back_is_none(net):
    one = net.evaluator("float32")
    before = copy.deepcopy(net.state_dict())
    train_a_step(net)
    net.load_state_dict(before)
    assert net.evaluator("float32") is one


@pytest.mark.slow
def test_few_are_kept_and_none_without_the_network():
    net = NeuralNet(ENV, tower_height=1, channels=8)
    made = [weakref.ref(net.resized(GoEnv(size)).evaluator("float32")) for size in range(3, 4 + MOST_CACHED)]
    gc.collect()
    assert [one() is not None for one in made] == [False] + [True] * MOST_CACHED
    del net
    gc.collect()
    assert not any(one() for one in made)


def test_threads_that_ask_at_once_get_the_same(net):
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: net.evaluator("float32"), range(4))
    assert len(set(map(id, found))) == 1
