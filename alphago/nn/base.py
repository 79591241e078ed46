"""Bases of a NeuralNet: a tower of blocks, which is the default, dense layers, and a tower of transformer blocks."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import torch
from torch import nn

from alphago.nn.blocks import ACTIVATIONS, BLOCKS, conv_bn
from alphago.nn.katago.layers import BlockTower
from alphago.nn.parts import register_part
from alphago.system.validation import check_bool, check_choice, check_int

HEAD_SIZE = 32  # of a key and of a value, in new transformers


@register_part
class ResidualTower(nn.Module):
    """A 3x3 convolution followed by `height` blocks: [B, planes, H, W] -> [B, channels, H, W], for any board size.

    With the defaults it is AlphaGo Zero's tower (Silver et al. 2017, Methods, "Neural network architecture", which has
    19 or 39 blocks of 256 channels).

    Args:
        pooled: whether every second block sees the whole board; see alphago.nn.blocks.Block.
        block: the kind of block (see alphago.nn.blocks): "residual"; "preactivation", which adds a norm and an
            activation after the last block; or "plain", a convolution without a residual connection.
        activation: "relu" or "elu".
    """

    def __init__(
        self,
        planes: int,
        channels: int,
        height: int,
        pooled: bool = False,
        *,
        block: str = "residual",
        activation: str = "relu",
    ) -> None:
        super().__init__()
        check_choice("block", block, BLOCKS)
        check_choice("activation", activation, ACTIVATIONS)
        planes, channels = check_int("planes", planes, 1), check_int("channels", channels, 1)
        height, pooled = check_int("height", height, 0), check_bool("pooled", pooled)
        self.activate = ACTIVATIONS[activation]
        self.entry = conv_bn(planes, channels, 3)
        block_pooled = [pooled and number % 2 == 1 for number in range(height)]
        self.blocks = nn.Sequential(*(BLOCKS[block](channels, is_pooled, activation) for is_pooled in block_pooled))
        # Preactivation blocks add to the features without a norm after the last addition.
        self.last = nn.BatchNorm2d(channels) if block == "preactivation" else None

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        features = self.blocks(self.entry(planes, self.activate))
        return features if self.last is None else self.activate(self.last(features))


@register_part
class DenseBase(nn.Module):
    """Dense layers for one board size, which read all points at once: [B, planes, H, W] -> [B, hidden[-1]].

    They suit tiny networks and games whose planes are not pictures of a board.  Their default heads are FlatValue and
    FlatPolicy, each with a hidden layer of 64.

    Args:
        plane_shape: (H, W).
        hidden: the size of each layer; at least one layer.
        activation: "relu" or "elu".
    """

    def __init__(
        self, planes: int, plane_shape: Sequence[int], hidden: Sequence[int] = (256, 256), activation: str = "relu"
    ) -> None:
        super().__init__()
        check_choice("activation", activation, ACTIVATIONS)
        if not hidden:
            raise ValueError("hidden must be the sizes of one dense layer or more, got none")
        planes = check_int("planes", planes, 1)
        plane_shape = [check_int("a side of plane_shape", side, 1) for side in plane_shape]
        hidden = [check_int("a size in hidden", size, 1) for size in hidden]
        self.activate = ACTIVATIONS[activation]
        sizes = [planes * prod(plane_shape), *hidden]
        self.layers = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes))
        for layer in self.layers:
            assert isinstance(layer, nn.Linear)
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        features = planes.flatten(1)
        for layer in self.layers:
            features = self.activate(layer(features))
        return features


def transformer_tower(planes: int, channels: int | None = None, height: int | None = None) -> BlockTower:
    """Return a new tower of transformer blocks: one convolution, then `height` times attention and a dense block.

    After the last block come an RMS norm over the channels, a scale and a shift for each channel, and a SiLU.

    Args:
        channels: None for 96.
        height: None for 7.  With both sizes None the tower is as large as KataGo's b7c96h3tfrs.
    """
    channels, height = check_int("channels", channels or 96, 1), check_int("height", height or 7, 1)
    heads = max(channels // HEAD_SIZE, 1)
    # The arguments of Attention after the channels: heads, groups (as many, so that each head has its own key and
    # value), size of a key, size of a value.  FeedForward has three matrices because of its gate; with 8/3 as many
    # hidden units as channels they have as many weights as the usual two matrices with 4 times as many.
    pair = [["attention", channels, heads, heads, HEAD_SIZE, HEAD_SIZE], ["feedforward", channels, channels * 8 // 3]]
    # rms divides by the root mean square over axis 1, the channels; norm is a scale and a shift for each channel.
    norm_and_activation: list[list[Any]] = [["rms", [1]], ["norm", channels], ["silu"]]
    return BlockTower([["convolution", planes, channels, 3], ["transformer", pair * height], *norm_and_activation])
