"""Training's fast passes over boards against torch in float64."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from alphago.nn import passes
from tests.nn.formulas import BOARDS, CHANNELS, features

SHAPES = [(7, 32, 7), (33, 16, 9), (3, 5, 4), (2, 64, 19)]  # boards, channels, side
Normed = Callable[[nn.BatchNorm2d, torch.Tensor, torch.Tensor | None], torch.Tensor]
ROUNDING = 1e-5  # of sums over a batch; errors here are relative to the whole tensor's length


def boards(shape: tuple[int, int, int], seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    count, channels, side = shape
    random = 0.5 + 2 * torch.randn(count, channels, side, side)
    return random.contiguous(memory_format=torch.channels_last)


def usual_norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels)
    torch.nn.init.uniform_(norm.weight, 0.5, 2)
    torch.nn.init.normal_(norm.bias)
    torch.nn.init.normal_(norm.running_mean)
    return norm


def error(output: torch.Tensor | None, expected: torch.Tensor | None) -> float:
    assert output is not None
    assert expected is not None
    assert output.shape == expected.shape
    return float((output.double() - expected.double()).norm() / expected.double().norm().clamp_min(1e-9))


def leaf(tensor: torch.Tensor, exact: bool) -> torch.Tensor:
    return (tensor.double() if exact else tensor.clone()).requires_grad_()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_added", [False, True])
def test_norm_relu_and_its_gradients(shape: tuple[int, int, int], with_added: bool) -> None:
    """The kernels give results and gradients of torch in float64, as far as float32 can."""
    norm, gradient = usual_norm(shape[1]), boards(shape, 3)
    results = []
    for exact in (False, True):
        mine = copy.deepcopy(norm).to(torch.float64 if exact else torch.float32)
        features, added = (leaf(boards(shape, seed), exact) for seed in (1, 2))
        out = passes.norm_relu(mine, features, added if with_added else None)
        assert ("NormRelu" in type(out.grad_fn).__name__) is not exact
        out.backward(gradient.to(out.dtype))
        parts = [out.detach(), features.grad, mine.weight.grad, mine.bias.grad, mine.running_mean, mine.running_var]
        results.append([*parts, added.grad] if with_added else parts)
    assert [error(*pair) < ROUNDING for pair in zip(*results, strict=True)] == [True] * len(results[0])


def test_a_nan_is_not_lost() -> None:
    features = boards((4, 8, 5))
    features[1, 3, 2, 2] = math.nan
    out = passes.norm_relu(usual_norm(8), features.requires_grad_(), None)
    assert out[:, 3].isnan().all()
    assert not out[:, :3].isnan().any()


@BOARDS
def test_the_mean_of_a_training_step_has_the_gradient_of_the_other(height, width):
    results = []
    for training in (False, True):
        for layout in (torch.contiguous_format, torch.channels_last):
            board = features(height, width).contiguous(memory_format=layout).requires_grad_()
            mean = passes.board_mean(board, training)
            (mean * torch.arange(CHANNELS)).square().sum().backward()
            results.append((mean.detach(), board.grad))
    for mean, gradient in results[1:]:
        torch.testing.assert_close(mean, results[0][0])
        torch.testing.assert_close(gradient, results[0][1])


@pytest.mark.parametrize(
    "change",
    [
        lambda norm: norm.eval(),
        lambda norm: nn.BatchNorm2d(8, momentum=None),
        lambda norm: nn.BatchNorm2d(8, affine=False),
        lambda norm: nn.BatchNorm2d(8, track_running_stats=False),
        lambda norm: nn.Identity(),
    ],
)
def test_other_norms_are_torchs(change: Callable[[nn.Module], nn.Module]) -> None:
    features = boards((4, 8, 5))
    norm = change(usual_norm(8))
    expected = torch.relu(features + copy.deepcopy(norm)(features))
    assert torch.equal(passes.norm_relu(norm, features, features), expected)


@pytest.mark.parametrize(
    "other", [boards((4, 8, 5)).double(), boards((4, 8, 5)).contiguous(), boards((4, 8, 5)).bfloat16()]
)
def test_other_boards_are_torchs(other: torch.Tensor) -> None:
    assert not passes.suits_kernels(other)
    other.requires_grad_()
    norm = usual_norm(8).to(torch.float64 if other.dtype == torch.float64 else torch.float32)
    assert torch.equal(passes.norm_relu(norm, other), torch.relu(copy.deepcopy(norm)(other)))
