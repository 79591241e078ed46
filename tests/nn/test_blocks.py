"""Blocks and bases held to their formulas, on squares and rectangles."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.blocks import PlainBlock, PreactivationBlock, ResidualBlock
from tests.nn.boards import randomised
from tests.nn.formulas import BOARDS, CHANNELS, features, linear, points, whole


def normed(norm: nn.BatchNorm2d, features: torch.Tensor) -> torch.Tensor:
    """Batch norm by its formula."""
    mean, variance, scale, shift = (
        tensor.view(1, -1, 1, 1) for tensor in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    return (features - mean) / (variance + norm.eps).sqrt() * scale + shift


def convolved(pair: nn.Sequential, features: torch.Tensor) -> torch.Tensor:
    return normed(pair[1], F.conv2d(features, pair[0].weight, padding=1))


@pytest.mark.parametrize(
    ("name", "activated"), [("relu", lambda x: x.clamp_min(0)), ("elu", lambda x: torch.where(x > 0, x, x.expm1()))]
)
def test_blocks_by_their_formulas(name, activated):
    board = features(5, 3)
    kinds = (ResidualBlock, PreactivationBlock, PlainBlock)
    residual, before, plain = (randomised(kind(CHANNELS, activation=name)) for kind in kinds)
    hidden = activated(convolved(residual.first, board))
    torch.testing.assert_close(residual(board), activated(board + convolved(residual.second, hidden)))
    hidden = activated(convolved(before.first, activated(normed(before.norm, board))))
    torch.testing.assert_close(before(board), board + F.conv2d(hidden, before.second.weight, padding=1))
    torch.testing.assert_close(plain(board), activated(convolved(plain.only, board)))


@BOARDS
def test_pooled_block(height, width):
    block, board = randomised(ResidualBlock(CHANNELS, sees_board=True)), features(height, width)
    hidden = torch.relu(block.first(board))
    bias = linear(block.pooled, whole(points(hidden)))
    shifted = (points(hidden) + bias[:, None]).astype(np.float32)
    moved = torch.from_numpy(shifted).transpose(1, 2).reshape(hidden.shape)
    expected = torch.relu(board + block.second(moved))
    torch.testing.assert_close(block(board), expected, atol=1e-4, rtol=1e-4)


def test_a_new_block_changes_nothing():
    board = torch.relu(features(5, 5))
    for block_class in (ResidualBlock, PreactivationBlock):
        for sees_board in (False, True):
            assert torch.equal(block_class(CHANNELS, sees_board)(board), board)


def test_only_a_tower_of_preactivation_blocks_has_a_last_norm():
    planes = features(5, 3)
    tower = randomised(ResidualTower(CHANNELS, 4, 2, block="preactivation", activation="elu"))
    inner = tower.blocks(F.elu(tower.entry(planes)))
    torch.testing.assert_close(tower(planes), F.elu(normed(tower.last, inner)))
    for block in ("residual", "plain"):
        tower = randomised(ResidualTower(CHANNELS, 4, 2, block=block))
        torch.testing.assert_close(tower(planes), tower.blocks(torch.relu(tower.entry(planes))))


def test_every_second_block_of_a_tower_is_pooled():
    tower = ResidualTower(3, 4, 5, pooled=True)
    assert [block.pooled is not None for block in tower.blocks] == [False, True, False, True, False]
    assert not any(block.pooled for block in ResidualTower(3, 4, 3).blocks)
    assert tower(torch.rand(2, 3, 4, 7)).shape == (2, 4, 4, 7)


def test_dense_base_by_its_formula():
    base = randomised(DenseBase(CHANNELS, (5, 4), (7, 6), activation="elu"))
    planes = features(5, 4)
    expected = planes.reshape(3, 20 * CHANNELS)
    for layer in base.layers:
        expected = F.elu(expected @ layer.weight.T + layer.bias)
    torch.testing.assert_close(base(planes), expected)


@pytest.mark.parametrize(("hidden", "text"), [((), "hidden must be .* one dense layer"), ([0], "hidden must .* got 0")])
def test_impossible_layers(hidden, text):
    with pytest.raises(ValueError, match=text):
        DenseBase(3, (5, 5), hidden)
