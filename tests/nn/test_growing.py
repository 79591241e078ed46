"""A network that grows computes the same as before, and goes on learning."""

import pytest
import torch

from alphago import GoEnv, NeuralNet
from alphago.nn.growing import grow
from alphago.nn.random_positions import random_planes
from alphago.training.call.start import Call, new_network
from tests.nn.boards import randomised

ENV = GoEnv(5)


@pytest.fixture
def small() -> NeuralNet:
    return randomised(NeuralNet(ENV, tower_height=2, channels=4)).requires_grad_()


def planes() -> torch.Tensor:
    return torch.as_tensor(random_planes(ENV, 16))


@pytest.mark.parametrize("training", [False, True])
def test_it_computes_the_same(small: NeuralNet, training: bool) -> None:
    before, after = small.train(training), grow(small, 4, 7).train(training)
    assert (after.tower_height, after.channels) == (4, 7)
    given = planes()
    for one, other in zip(before.forecast(given)[:2], after.forecast(given)[:2], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_all_new_weights_can_learn(small: NeuralNet) -> None:
    """After one step along the gradient every new weight gets a gradient, or reads what is not 0."""
    torch.manual_seed(1)
    net = grow(small, 2, 6).train()
    for _ in range(2):
        net.zero_grad()
        logits, value = net(planes())
        (logits.square().mean() + value.square().mean()).backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
    still = [name for name, parameter in net.named_parameters() if not parameter.grad.abs().sum() > 0]
    assert not still


def test_a_run_grows_its_model(small: NeuralNet) -> None:
    small.taught_by = "a teacher"
    net, _ = new_network(Call(ENV, small, {"channels": 8}, "cpu"), {}, 0)
    assert (net.tower_height, net.channels, net.taught_by) == (2, 8, "a teacher")


@pytest.mark.parametrize(
    ("net", "sizes", "message"),
    [
        (NeuralNet(ENV, tower_height=1, channels=4), {"channels": 3}, "channels must be at least .*, 4, got 3"),
        (NeuralNet(ENV, tower_height=1, channels=4, size_free=False), {"channels": 8}, "must have the default parts"),
        (NeuralNet(ENV, preset="cgzero"), {"channels": 64}, "must have the default parts"),
    ],
)
def test_what_cannot_grow(net: NeuralNet, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grow(net, **sizes)
