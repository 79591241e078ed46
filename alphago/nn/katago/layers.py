"""The parts of KataGo's networks, each made of layers that are described as plain data.

Sources: Wu 2019, "Accelerating Self-Play Learning in Go", and KataGo's cpp/neuralnet/desc.cpp, version 1.17.  Blocks
are pre-activation: norms come before convolutions.  All norms are a scale and a shift, since KataGo's files have such;
one that follows a convolution at once is part of the convolution.

The description of a layer is a list: its kind in LAYERS, and the arguments of the class or function there.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from alphago.nn.parts import register_part
from alphago.nn.passes import add_board_bias, board_pool
from alphago.nn.transformer import RmsNorm, Transformer
from alphago.nn.value import BoardForecast
from alphago.system.validation import check_int

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "mish": nn.Mish, "silu": nn.SiLU, "identity": nn.Identity}
HEAD = 32  # size of a key and a value in new transformers
TYPICAL_SIDE, SIDE_STEP = 14, 10  # KataGo's scale of a board's side: (side - 14) / 10
Layers = Sequence[Sequence[Any]]  # descriptions, see above


class Affine(nn.Module):
    """A scale and a shift for each channel: [B, channels, H, W] -> [B, channels, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features * self.scale[:, None, None] + self.shift[:, None, None]


def convolution(inputs: int, outputs: int, kernel: int, bias: bool = False) -> nn.Conv2d:
    """Return a convolution that keeps the board's size; `kernel` is odd."""
    conv = nn.Conv2d(check_int("inputs", inputs, 1), outputs, kernel, padding=kernel // 2, bias=bias)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return conv


def summary(features: torch.Tensor, training: bool, for_value: bool = False) -> torch.Tensor:
    """Return three numbers of each channel over the board, [B, 3 channels], of features [B, channels, H, W].

    They are the mean, the mean times s = (side - 14) / 10, and the maximum, or for a value head the mean times
    s^2 - 0.1.
    """
    mean, maximum = board_pool(features, training)
    side = (features.shape[-1] - TYPICAL_SIDE) / SIDE_STEP
    return torch.cat([mean, mean * side, mean * (side * side - 0.1) if for_value else maximum], dim=1)


class Pooled(nn.Module):
    """A convolution that sees the whole board: [B, channels, H, W] -> [B, outputs, H, W].

    Args:
        first: the convolution.
        pool, bias: of a summary of the outputs of `pool`, `bias` makes a bias of the convolution's outputs.
    """

    def __init__(self, first: Layers, pool: Layers, bias: Layers) -> None:
        super().__init__()
        self.first, self.pool, self.bias = sequence(first), sequence(pool), sequence(bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.with_summary(features)[0]

    def with_summary(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the outputs, and the summary."""
        seen = summary(self.pool(features), self.training)
        return add_board_bias(self.first(features), self.bias(seen)), seen


@register_part
class BlockTower(nn.Module):
    """A base of layers that are described as plain data: [B, planes, H, W] -> [B, channels, H, W], for any board."""

    def __init__(self, layers: Layers) -> None:
        super().__init__()
        self.layers = sequence(layers)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.layers(planes)


class Residual(BlockTower):
    """A block whose layers' output is added to its input."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features + super().forward(features)


LAYERS: dict[str, Callable[..., nn.Module]] = {
    **ACTIVATIONS,
    "norm": Affine,
    "convolution": convolution,
    "dense": nn.Linear,
    "pooled": Pooled,
    "residual": Residual,
    "transformer": Transformer,
    "rms": RmsNorm,
}


def sequence(layers: Layers) -> nn.Sequential:
    """Return layers from their descriptions."""
    return nn.Sequential(*(LAYERS[kind](*arguments) for kind, *arguments in layers))


def transformer_tower(planes: int, channels: int | None = None, height: int | None = None) -> BlockTower:
    """Return a new tower of `height` times attention and a dense layer, sized as KataGo's b7c96h3tfrs by default."""
    channels, height = check_int("channels", channels or 96, 1), check_int("height", height or 7, 1)
    heads = max(channels // HEAD, 1)
    # Arguments of Attention after the channels: heads, groups, key, value.
    pair = [["attention", channels, heads, heads, HEAD, HEAD], ["feedforward", channels, channels * 8 // 3]]
    tip: Layers = [["rms", [1]], ["norm", channels], ["silu"]]
    return BlockTower([["convolution", planes, channels, 3], ["transformer", pair * height], *tip])


@register_part
class SummaryPolicy(nn.Module):
    """A policy head for boards of any size: [B, channels, H, W] -> logits [B, H W + 1], the last one the pass's.

    Args:
        pooled: one layer, a Pooled.
        points: makes the points' logits, [B, 1, H, W], of its outputs.
        last: makes the pass's logit, [B, 1], of its summary.
    """

    def __init__(self, pooled: Layers, points: Layers, last: Layers) -> None:
        super().__init__()
        self.pooled, self.points, self.last = sequence(pooled), sequence(points), sequence(last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        pooled: Any = self.pooled[0]
        hidden, seen = pooled.with_summary(features)
        return torch.cat([self.points(hidden).flatten(1), self.last(seen)], dim=1)


@register_part
class SummaryValue(BoardForecast):
    """A value head that predicts value, score and ownership, on a board of any size.

    Args:
        board: layers that come first.
        owner: makes the ownership before its tanh, [B, 1, H, W], of their outputs.
        last: makes value and score, [B, 2], of a summary of their outputs.
    """

    def __init__(self, board: Layers, owner: Layers, last: Layers) -> None:
        super().__init__()
        self.board, self.owner, self.last = sequence(board), sequence(owner), sequence(last)

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        board = self.board(features)
        return self.last(summary(board, self.training, for_value=True)), torch.tanh(self.owner(board))
