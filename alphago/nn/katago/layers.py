"""The parts of KataGo's networks, each made of layers that are described as plain data.

Sources: Wu 2019, "Accelerating Self-Play Learning in Go", and KataGo's cpp/neuralnet/desc.cpp, version 1.17.  Blocks
are pre-activation: norms come before convolutions.  All norms are a scale and a shift.  A norm that follows a
convolution at once is part of the convolution.

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
TYPICAL_SIDE, SIDE_STEP = 14, 10  # KataGo's scale of a board's side: (side - 14) / 10
Layers = Sequence[Sequence[Any]]  # descriptions of layers: lists of a kind in LAYERS and its arguments


class Affine(nn.Module):
    """A scale and a shift for each channel: [B, channels, H, W] -> [B, channels, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features * self.scale[:, None, None] + self.shift[:, None, None]


def convolution(inputs: int, outputs: int, kernel: int, bias: bool = False) -> nn.Conv2d:
    """Return a convolution that keeps the board's size; kernel: its side, an odd number."""
    conv = nn.Conv2d(check_int("inputs", inputs, 1), outputs, kernel, padding=kernel // 2, bias=bias)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return conv


def summary(features: torch.Tensor, training: bool, for_value: bool = False) -> torch.Tensor:
    """Return three numbers that summarize each channel over the board, [B, 3 channels].

    They are the mean, the mean times s, and the maximum, where s = (side - 14) / 10 is the scaled side of the board.
    In a value head, the mean times s^2 - 0.1 takes the place of the maximum.

    Args:
        features: [B, channels, H, W].
        training: whether the module that calls is in training mode, see `board_pool`.
        for_value: whether it is a value head.
    """
    mean, maximum = board_pool(features, training)
    scaled_side = (features.shape[-1] - TYPICAL_SIDE) / SIDE_STEP
    third = mean * (scaled_side * scaled_side - 0.1) if for_value else maximum
    return torch.cat([mean, mean * scaled_side, third], dim=1)


class Pooled(nn.Module):
    """A convolution with a bias that depends on the whole board: [B, channels, H, W] -> [B, outputs, H, W].

    Args:
        first: the convolution.
        pool: layers whose outputs, of the same features, are summarized over the board (see `summary`).
        bias: layers that make the bias of the convolution's outputs, [B, outputs], from the summary.
    """

    def __init__(self, first: Layers, pool: Layers, bias: Layers) -> None:
        super().__init__()
        self.first, self.pool, self.bias = sequence(first), sequence(pool), sequence(bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.with_summary(features)[0]

    def with_summary(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the outputs [B, outputs, H, W], and the summary that the bias was made of, [B, 3 pool outputs]."""
        board_summary = summary(self.pool(features), self.training)
        return add_board_bias(self.first(features), self.bias(board_summary)), board_summary


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


def dense(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Return a dense layer; unlike nn.Linear it takes no device, which a description in a file must not choose."""
    return nn.Linear(inputs, outputs, bias)


LAYERS: dict[str, Callable[..., nn.Module]] = {
    **ACTIVATIONS,
    "norm": Affine,
    "convolution": convolution,
    "dense": dense,
    "pooled": Pooled,
    "residual": Residual,
    "transformer": Transformer,
    "rms": RmsNorm,
}


def sequence(layers: Layers) -> nn.Sequential:
    """Return the layers with these descriptions, one after the other."""
    return nn.Sequential(*(LAYERS[kind](*arguments) for kind, *arguments in layers))


@register_part
class SummaryPolicy(nn.Module):
    """A policy head for boards of any size: [B, channels, H, W] -> logits [B, H W + 1], the last one the pass's.

    Args:
        pooled: one layer, a Pooled.
        points: layers that make the points' logits, [B, 1, H, W], from the outputs of `pooled`.
        last: layers that make the pass's logit, [B, 1], from the summary in `pooled`.
    """

    def __init__(self, pooled: Layers, points: Layers, last: Layers) -> None:
        super().__init__()
        self.pooled, self.points, self.last = sequence(pooled), sequence(points), sequence(last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        pooled: Any = self.pooled[0]
        hidden, board_summary = pooled.with_summary(features)
        return torch.cat([self.points(hidden).flatten(1), self.last(board_summary)], dim=1)


@register_part
class SummaryValue(BoardForecast):
    """A value head that predicts value, score and ownership, on a board of any size.

    Args:
        board: layers that come first.
        owner: layers that make the ownership before its tanh, [B, 1, H, W], from the outputs of `board`.
        last: layers that make value and score, [B, 2], from a summary of the outputs of `board`.
    """

    def __init__(self, board: Layers, owner: Layers, last: Layers) -> None:
        super().__init__()
        self.board, self.owner, self.last = sequence(board), sequence(owner), sequence(last)

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute value (before its tanh) and score in tens of points, [B, 2], and ownership [B, 1, H, W]."""
        board = self.board(features)
        return self.last(summary(board, self.training, for_value=True)), torch.tanh(self.owner(board))
