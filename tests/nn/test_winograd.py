"""Winograd's convolutions against torch in float64, and the steps of the method against its formula."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from alphago.env.go import GoEnv
from alphago.nn import winograd
from alphago.nn.base import ResidualTower
from alphago.nn.kernels.winograd import matrices
from alphago.nn.net import NeuralNet
from alphago.nn.random_positions import random_planes

ROUNDING = 1e-5  # of a whole tensor, relative to its length; some 1e-6 are usual
# Boards, inputs, outputs, height, width.
SHAPES = [
    (1, 16, 16, 2, 2),
    (3, 32, 16, 5, 5),
    (70, 32, 32, 7, 7),
    (5, 16, 48, 4, 13),
    (33, 64, 64, 9, 9),
    (2, 112, 96, 13, 6),
    (1, 64, 32, 19, 19),
]


def features(boards: int, channels: int, height: int, width: int, seed: int = 0) -> torch.Tensor:
    random = torch.randn(boards, channels, height, width, generator=torch.Generator().manual_seed(seed))
    return random.contiguous(memory_format=torch.channels_last)


def layer(inputs: int, outputs: int, **options: Any) -> nn.Conv2d:
    torch.manual_seed(1)
    return nn.Conv2d(inputs, outputs, **{"kernel_size": 3, "padding": 1, "bias": False, **options})


def error(result: torch.Tensor, expected: torch.Tensor) -> float:
    assert result.shape == expected.shape
    return float((result.double() - expected).norm() / expected.norm())


@pytest.mark.parametrize("shape", SHAPES)
def test_results_and_gradients(shape: tuple[int, int, int, int, int]) -> None:
    boards, inputs, outputs, height, width = shape
    conv = layer(inputs, outputs)
    results = []
    for function, dtype in ((winograd.Winograd.apply, torch.float32), (None, torch.float64)):
        given = features(boards, inputs, height, width).to(dtype).requires_grad_()
        weight = conv.weight.detach().to(dtype).requires_grad_()
        out = function(given, weight) if function else torch.conv2d(given, weight, padding=1)
        gradient = features(boards, outputs, height, width, seed=2).contiguous().to(dtype)  # of another layout
        results.append((out.detach(), *torch.autograd.grad(out, (given, weight), gradient)))
    assert [error(*pair) < ROUNDING for pair in zip(*results, strict=True)] == [True] * 3


@pytest.mark.parametrize("tile", [3, 4])
def test_the_formula(tile: int) -> None:
    """In one dimension: each output is the sum of three products."""
    outputs, filters, inputs = matrices(tile)
    window, weights = np.arange(1.0, tile + 3) ** 2, np.array([2.0, -3.0, 5.0])
    computed = outputs @ ((filters @ weights) * (inputs @ window))
    np.testing.assert_allclose(computed, np.convolve(window, weights[::-1], mode="valid"), rtol=1e-12)


def test_the_better_tile() -> None:
    assert [winograd.best_tile(side, side) for side in (5, 7, 9, 13, 19)] == [3, 4, 3, 4, 4]


@pytest.mark.parametrize(
    ("conv", "change"),
    [
        (layer(32, 32, bias=True), None),
        (layer(32, 32, kernel_size=1, padding=0), None),
        (layer(32, 32, padding=0), None),
        (layer(32, 32, dilation=2, padding=2), None),
        (layer(32, 32, stride=3), None),
        (layer(32, 32, groups=2), None),
        (layer(32, 32, padding_mode="circular"), None),
        (layer(32, 40), None),
        (layer(18, 32), None),
        (layer(32, 32).eval(), None),
        (layer(32, 32).double(), torch.Tensor.double),
        (layer(32, 32), torch.Tensor.contiguous),
    ],
)
def test_other_convolutions_are_torchs(conv: nn.Conv2d, change: Callable[[torch.Tensor], torch.Tensor] | None) -> None:
    given = features(2, conv.in_channels, 5, 5)
    given = change(given) if change else given
    out = winograd.convolve(conv, given)
    assert torch.equal(out, conv(given))
    assert "Winograd" not in type(out.grad_fn).__name__


def test_a_convolution_of_ones_own_is_called() -> None:
    class Twice(nn.Conv2d):
        def forward(self, features: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(features)

    given, hooked, outputs = features(2, 32, 5, 5), layer(32, 32), []
    own = Twice(32, 32, 3, padding=1, bias=False)
    assert torch.equal(winograd.convolve(own, given), own(given))
    hooked.register_forward_hook(lambda *called: outputs.append(called[2]))
    assert torch.equal(winograd.convolve(hooked, given), outputs[0])


def test_without_gradients_and_in_bfloat16_they_are_torchs() -> None:
    conv, given = layer(32, 32), features(2, 32, 5, 5)
    assert "Winograd" in type(winograd.convolve(conv, given).grad_fn).__name__
    with torch.no_grad():
        assert torch.equal(winograd.convolve(conv, given), conv(given))
    with torch.autocast("cpu", torch.bfloat16):
        assert winograd.convolve(conv, given).dtype == torch.bfloat16


@pytest.mark.parametrize("block", ["residual", "preactivation", "plain"])
def test_a_tower_learns_by_it(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradients of all weights are those of torch's convolutions."""
    env = GoEnv(5)
    torch.manual_seed(0)
    net = NeuralNet(env, base_net=ResidualTower(env.planes, channels=32, height=2, block=block))
    net = net.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]
    planes = torch.as_tensor(random_planes(env, 8)).contiguous(memory_format=torch.channels_last)
    gradients = []
    for suits in (winograd.suits_winograd, lambda *_: False):
        monkeypatch.setattr(winograd, "suits_winograd", suits)
        net.zero_grad()
        logits, value = net(planes)
        (logits.square().mean() + value.square().mean()).backward()
        gradients.append([parameter.grad.clone() for parameter in net.parameters() if parameter.grad is not None])
    assert not all(torch.equal(*pair) for pair in zip(*gradients, strict=True))
    for mine, torchs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, torchs, rtol=1e-3, atol=1e-5)
