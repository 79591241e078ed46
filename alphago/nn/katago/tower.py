"""The base of KataGo's networks: a convolution, blocks of several kinds, and a norm with an activation at the tip.

Sources: Wu 2019, "Accelerating Self-Play Learning in Go", and KataGo's cpp/neuralnet/desc.cpp, version 1.17.  Blocks
are pre-activation: norms come before convolutions.  All norms are a scale and a shift, since KataGo's files have such;
one that follows a convolution at once is part of the convolution.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.blocks import Activation
from alphago.nn.parts import register_part
from alphago.nn.passes import add_board_bias, board_pool
from alphago.nn.transformer import RmsNorm, Transformer
from alphago.system.validation import check_choice, check_int

ACTIVATIONS: dict[str, Activation] = {"relu": torch.relu, "mish": F.mish, "silu": F.silu, "identity": nn.Identity()}
HEAD = 32  # size of a key and a value in new transformers
TYPICAL_SIDE, SIDE_STEP = 14, 10  # KataGo's scale of a board's side: (side - 14) / 10
TIPS = {"affine": None, "rms": [1], "spatial rms": [1, 2, 3]}  # the axes of the root mean square before the tip's scale


def activation(name: str) -> Activation:
    """Return the activation called `name`; raise ValueError for an unknown one."""
    return ACTIVATIONS[check_choice("activation", name, ACTIVATIONS)]


class Affine(nn.Module):
    """A scale and a shift for each channel: [B, channels, H, W] -> [B, channels, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features * self.scale[:, None, None] + self.shift[:, None, None]


def convolution(inputs: int, outputs: int, kernel: int, bias: bool = True) -> nn.Conv2d:
    """Return a convolution that keeps the board's size; `kernel` is odd."""
    conv = nn.Conv2d(check_int("inputs", inputs, 1), outputs, kernel, padding=kernel // 2, bias=bias)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    if conv.bias is not None:
        nn.init.zeros_(conv.bias)
    return conv


def summary(features: torch.Tensor, training: bool, for_value: bool = False) -> torch.Tensor:
    """Return three numbers of each channel over the board, [B, 3 channels], of features [B, channels, H, W].

    They are the mean, the mean times s = (side - 14) / 10, and the maximum, or for a value head the mean times
    s^2 - 0.1.
    """
    mean, maximum = board_pool(features, training)
    side = (features.shape[-1] - TYPICAL_SIDE) / SIDE_STEP
    return torch.cat([mean, mean * side, mean * (side * side - 0.1) if for_value else maximum], dim=1)


class AffineBlock(nn.Module):
    """A block that is added to its input: norm, activation, convolution, [blocks, norm], activation, convolution.

    Args:
        middle: number of channels between the two convolutions.
        kernels, activations: of both convolutions, and before them.
        pool: number of channels, kernel and activation of a further convolution of the first one's inputs, whose
            summary is added as a bias to the first one's outputs; none if it is empty.
        blocks: blocks of the middle, see `build_blocks`.
    """

    def __init__(
        self,
        channels: int,
        middle: int,
        kernels: Sequence[int],
        activations: Sequence[str],
        pool: Sequence[Any] = (),
        blocks: Sequence[Sequence[Any]] = (),
    ) -> None:
        super().__init__()
        self.act, self.act2 = map(activation, activations)
        # Without blocks in between, the second norm is part of the first convolution, which then has a bias.
        self.norm, self.norm2 = Affine(channels), Affine(middle) if blocks else nn.Identity()
        self.first = convolution(channels, middle, kernels[0], bias=not blocks)
        self.pool = self.bias = None
        if pool:
            pooled, kernel, pool_act = pool
            self.pool, self.pool_act = convolution(channels, pooled, kernel), activation(pool_act)
            self.bias = nn.Linear(3 * pooled, middle, bias=False)
        self.blocks = build_blocks(middle, blocks)
        self.second = convolution(middle, channels, kernels[1], bias=False)
        nn.init.zeros_(self.second.weight)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        inputs = self.act(self.norm(features))
        hidden = self.first(inputs)
        if self.pool is not None and self.bias is not None:
            bias = self.bias(summary(self.pool_act(self.pool(inputs)), self.training))
            hidden = add_board_bias(hidden, bias)
        return features + self.second(self.act2(self.norm2(self.blocks(hidden))))


def build_blocks(channels: int, blocks: Sequence[Sequence[Any]]) -> nn.Sequential:
    """Return blocks for [B, channels, H, W] from their descriptions, each a kind in KINDS and its other arguments."""
    return nn.Sequential(*(KINDS[kind](channels, *arguments) for kind, *arguments in blocks))


KINDS: dict[str, type[nn.Module]] = {"convolutions": AffineBlock, "transformer": Transformer}


@register_part
class BlockTower(nn.Module):
    """A base of blocks that are described as plain data: [B, planes, H, W] -> [B, channels, H, W], for any board size.

    Args:
        blocks: for each block a list of its kind, "convolutions" (see AffineBlock) or "transformer" (see Transformer),
            and its arguments after `channels`.
        entry: side of the first convolution's kernel.
        tip: what comes before the last scale and shift: nothing ("affine"), a division by the root mean square over the
            channels of each point ("rms"), or over the whole board ("spatial rms").
        epsilon: the norm's.
        activation: the last one: "relu", "mish", "silu" or "identity".
    """

    def __init__(
        self,
        planes: int,
        channels: int,
        blocks: Sequence[Sequence[Any]],
        *,
        entry: int = 3,
        tip: str = "rms",
        epsilon: float = 1e-6,
        activation: str = "mish",
    ) -> None:
        super().__init__()
        axes = TIPS[check_choice("tip", tip, TIPS)]
        self.act = ACTIVATIONS[check_choice("activation", activation, ACTIVATIONS)]
        self.entry = convolution(planes, channels, entry, bias=False)
        self.blocks = build_blocks(channels, blocks)
        self.rms = nn.Identity() if axes is None else RmsNorm(axes, epsilon)
        self.tip = Affine(channels)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.act(self.tip(self.rms(self.blocks(self.entry(planes)))))


def transformer_tower(planes: int, channels: int | None = None, height: int | None = None) -> BlockTower:
    """Return a new tower of `height` times attention and a dense layer, sized as KataGo's b7c96h3tfrs by default."""
    channels, height = check_int("channels", channels or 96, 1), check_int("height", height or 7, 1)
    heads, hidden = max(channels // HEAD, 1), channels * 8 // 3
    # Arguments of Attention: heads, groups, key, value.
    pair = [["attention", heads, heads, HEAD, HEAD], ["feedforward", hidden]]
    return BlockTower(planes, channels, [["transformer", pair * height]], activation="silu")
