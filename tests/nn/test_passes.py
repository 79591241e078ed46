"""Passes over boards in training against torch's plain operations."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from alphago.nn import passes
from tests.nn.boards import randomised
from tests.nn.formulas import BOARDS, CHANNELS, features


@pytest.mark.parametrize(
    "change",
    [
        lambda norm: norm.train(),
        lambda norm: norm,
        lambda norm: nn.BatchNorm2d(CHANNELS, momentum=None, affine=False),
        lambda norm: nn.Identity(),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("with_added", [False, True])
def test_norm_relu_and_its_gradients(change: Callable[[nn.Module], nn.Module], dtype: torch.dtype, with_added: bool):
    """To the bit; what is given stays as it is."""
    norm, results = change(randomised(nn.BatchNorm2d(CHANNELS)).requires_grad_()), []
    for plain in (False, True):
        mine = copy.deepcopy(norm)
        board, added = (features(5, 4, seed).to(dtype).requires_grad_() for seed in (2, 2))
        before = board.detach().clone()
        if plain:
            out = torch.relu(mine(board) + added if with_added else mine(board))
        else:
            out = passes.norm_relu(mine, board, added if with_added else None)
        out.float().square().sum().backward()
        assert torch.equal(board, before)
        given = [board.grad, *([added.grad] if with_added else []), *(weight.grad for weight in mine.parameters())]
        results.append([out.detach(), *given, *mine.buffers()])
    for got, expected in zip(*results, strict=True):
        assert torch.equal(got, expected)


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
