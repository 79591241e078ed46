"""Muon moves kernels in all directions alike, the rest is AdamW's; other optimizers; the learning rate over a run."""

import math

import pytest
import torch
from torch import nn

from alphago.training.optimizer import (
    MOMENTUM,
    MUON_RATE,
    OPTIMIZERS,
    MuonAdamW,
    check_schedule,
    is_kernel,
    orthogonalise,
    rate_factor,
)

RATE = 0.01


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(8, 1, 3), nn.Flatten(), nn.Linear(9, 3))


def with_gradients(net: nn.Module) -> nn.Module:
    net(torch.randn(16, 4, 7, 7)).square().sum().backward()
    return net


@pytest.mark.parametrize("shape", [(8, 36), (36, 8), (16, 16)])
def test_singular_values_become_about_one(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    left, _ = torch.linalg.qr(torch.randn(shape[0], min(shape)))
    right, _ = torch.linalg.qr(torch.randn(shape[1], min(shape)))
    values = torch.logspace(0, -1, min(shape))  # one direction ten times as large as another
    found = orthogonalise(1000 * left * values @ right.T)
    assert found.shape == shape
    assert ((torch.linalg.svdvals(found) > 0.65) & (torch.linalg.svdvals(found) < 1.25)).all()
    # and the directions stay: left' found right is nearly diagonal
    turned = left.T @ found @ right
    assert (turned - torch.diag(turned.diagonal())).abs().max() < 1e-3


def test_kernels_are_muons_and_the_rest_is_adams() -> None:
    net = with_gradients(network())
    twin = with_gradients(network())
    mine = MuonAdamW(net.parameters(), RATE, 0.1)
    adam = OPTIMIZERS["adamw"](twin.parameters(), RATE, 0.1)
    assert adam.defaults["betas"] == (0.9, 0.99)
    for (_, parameter), original in zip(net.named_parameters(), twin.parameters(), strict=True):
        parameter.grad = original.grad.clone()  # type: ignore[union-attr]
    mine.step()
    adam.step()
    for (name, parameter), original in zip(net.named_parameters(), twin.parameters(), strict=True):
        assert torch.allclose(parameter, original, atol=1e-6) == (not is_kernel(parameter)), name
        assert parameter.grad is not None, name


def test_a_kernels_first_step_by_hand() -> None:
    net = with_gradients(network())
    kernel = net[0].weight  # type: ignore[index]
    before, gradient = kernel.detach().clone(), kernel.grad.clone()
    MuonAdamW(net.parameters(), RATE, 0.1).step()
    nesterov = gradient * (1 - MOMENTUM) * (1 + MOMENTUM)  # momentum begins at 0
    u, _, v = torch.linalg.svd(nesterov.flatten(1), full_matrices=False)
    moved = (before * (1 - MUON_RATE * RATE * 0.1) - kernel.detach()).flatten(1) / (MUON_RATE * RATE)
    # 8 outputs of 36 inputs each: no factor; along each singular vector the step is about 1, the others are not taken.
    steps = u.T @ moved @ v.T
    assert ((steps.diagonal() > 0.5) & (steps.diagonal() < 1.3)).all()
    assert (steps - torch.diag(steps.diagonal())).abs().max() < 1e-2


def test_momentum_sgd_by_hand() -> None:
    """Weight decay is part of the gradient of what has more than one dimension, and momentum remembers both."""
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    weight, bias = net.weight.detach().clone(), net.bias.detach().clone()
    optimizer = OPTIMIZERS["sgd"](net.parameters(), RATE, 0.1)
    moved, turned = torch.zeros_like(weight), torch.zeros_like(bias)
    for step in range(3):
        net.weight.grad, net.bias.grad = torch.full((2, 3), step - 1.0), torch.full((2,), 2.0 - step)
        moved = 0.9 * moved + net.weight.grad + 0.1 * weight
        turned = 0.9 * turned + net.bias.grad
        weight, bias = weight - RATE * moved, bias - RATE * turned
        optimizer.step()
    torch.testing.assert_close(net.weight.detach(), weight)
    torch.testing.assert_close(net.bias.detach(), bias)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_weight_decay_is_for_what_has_more_than_one_dimension(name: str) -> None:
    net = network()
    groups = OPTIMIZERS[name](net.parameters(), RATE, 0.3).param_groups
    decays = {parameter: group["weight_decay"] for group in groups for parameter in group["params"]}
    assert decays == {parameter: 0.3 if parameter.dim() > 1 else 0.0 for parameter in net.parameters()}
    assert {group["lr"] for group in groups} == {RATE}


def test_matrices_together_are_as_each_alone() -> None:
    torch.manual_seed(3)
    for shape in ((4, 8, 36), (4, 36, 8)):
        stack = torch.randn(shape)
        alone = torch.stack([orthogonalise(matrix) for matrix in stack])
        torch.testing.assert_close(orthogonalise(stack), alone, rtol=1e-4, atol=1e-5)


def halving(progress: float) -> float:
    return 1 - progress / 2


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [
        ("cosine", {0: 1, 1 / 3: 0.05 + 0.95 * 0.75, 0.5: 0.525, 2 / 3: 0.05 + 0.95 * 0.25, 1: 0.05}),
        # Silver et al. 2017: 0.01 up to step 400 000, 0.001 up to 600 000, 0.0001 up to 700 000.
        ("steps", {0: 1, 399 / 700: 1, 400 / 700: 0.1, 599 / 700: 0.1, 600 / 700: 0.01, 1: 0.01}),
        ([[0.5, 0.1], [0.75, 2]], {-1: 1, 0.49: 1, 0.5: 0.1, 0.75: 2, 2: 2}),  # as a config of a run has them
        ("constant", {-1: 1, 0: 1, 0.5: 1, 1: 1, 2: 1}),
        (halving, {-1: 1, 0.5: 0.75, 2: 0.5}),
    ],
)
def test_factors_of_the_learning_rate(schedule: object, factors: dict[float, float]) -> None:
    checked = check_schedule(schedule)
    assert {progress: rate_factor(checked, progress) for progress in factors} == pytest.approx(factors)


def test_a_function_of_the_progress_that_gives_no_number() -> None:
    with pytest.raises(ValueError, match=r"schedule must give a factor >= 0, got nan at progress 0.5"):
        rate_factor(lambda progress: math.nan, 0.5)


@pytest.mark.parametrize(
    "schedule", ["linear", None, 0.5, [0.5, 0.1], [(0.5, 0.1), (0.5, 0.2)], [(1.5, 0.1)], [(0.5, -1)], [("a", "b")]]
)
def test_what_is_none(schedule: object) -> None:
    with pytest.raises(ValueError, match=r"schedule must be 'cosine', .* or pairs .progress from 0 to 1"):
        check_schedule(schedule)
