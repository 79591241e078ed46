"""Training's fast passes over boards in bfloat16 and float32 against torch in float64."""

import copy
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from alphago.nn import passes
from alphago.nn.kernels.norm import combine
from tests.nn.formulas import BOARDS, CHANNELS, features

SHAPES = [(7, 32, 7), (33, 16, 9), (3, 5, 4), (2, 64, 19)]  # boards, channels, side
Normed = Callable[[nn.BatchNorm2d, torch.Tensor, torch.Tensor | None], torch.Tensor]
# Of one number; errors here are relative to the whole tensor's length.  In float32 it is that of sums over a batch.
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float32: 1e-5}
DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])


def boards(shape: tuple[int, int, int], seed: int = 0, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    torch.manual_seed(seed)
    count, channels, side = shape
    random = 0.5 + 2 * torch.randn(count, channels, side, side)
    return random.to(dtype).contiguous(memory_format=torch.channels_last)


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


@DTYPES
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_added", [False, True])
def test_norm_relu_and_its_gradients(shape: tuple[int, int, int], with_added: bool, dtype: torch.dtype) -> None:
    """The kernels give results and gradients of torch in float64, as far as the dtype can."""
    norm, gradient = usual_norm(shape[1]), boards(shape, 3, dtype)
    results = []
    for exact in (False, True):
        mine = copy.deepcopy(norm).to(torch.float64 if exact else torch.float32)
        features, added = (leaf(boards(shape, seed, dtype), exact) for seed in (1, 2))
        out = passes.norm_relu(mine, features, added if with_added else None)
        assert ("NormRelu" in type(out.grad_fn).__name__) is not exact
        out.backward(gradient.to(out.dtype))
        parts = [out.detach(), features.grad, mine.weight.grad, mine.bias.grad, mine.running_mean, mine.running_var]
        results.append([*parts, added.grad] if with_added else parts)
    assert [error(*pair) < ROUNDING[dtype] for pair in zip(*results, strict=True)] == [True] * len(results[0])


@DTYPES
def test_a_nan_is_not_lost(dtype: torch.dtype) -> None:
    features = boards((4, 8, 5), 0, dtype)
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


@pytest.mark.parametrize("other", [boards((4, 8, 5)).double(), boards((4, 8, 5)).contiguous()])
def test_other_boards_are_torchs(other: torch.Tensor) -> None:
    assert not passes.suits_kernels(other)
    other.requires_grad_()
    norm = usual_norm(8).to(torch.float64 if other.dtype == torch.float64 else torch.float32)
    assert torch.equal(passes.norm_relu(norm, other), torch.relu(copy.deepcopy(norm)(other)))


def test_bits_are_bfloat16s() -> None:
    """All 65 536 of them, and the rounding of numbers between them, ties to even."""
    every = np.arange(1 << 16, dtype=np.uint16)
    ones, zeros = np.ones(16, np.float32), np.zeros(16, np.float32)
    out = np.empty_like(every)
    combine(every, np.zeros_like(every), ones, zeros, zeros, out)
    numbers = torch.from_numpy(every.copy()).view(torch.bfloat16)
    usual = numbers.isfinite().numpy() & (every != 0x8000)  # 0 x infinity is NaN, -0 + 0 is 0
    assert (out == every)[usual].all()
    between = torch.randn(1000) * 10 ** torch.linspace(-30, 30, 1000)
    ties = (between.view(torch.int32) & -65536 | 0x8000).view(torch.float32)
    for number in torch.cat([between, ties]).numpy():
        bits = rounded(number)
        assert bits == torch.tensor(number).bfloat16().view(torch.uint16).item()


def rounded(number: np.float32) -> int:
    """Its bfloat16 bits, by a kernel."""
    out = np.empty(1, np.uint16)
    one = np.full(1, 0x3F80, np.uint16)  # 1.0
    combine(one, np.zeros(1, np.uint16), np.full(1, number), np.zeros(1, np.float32), np.zeros(1, np.float32), out)
    return int(out[0])
