"""The value heads of a NeuralNet: one for boards of any size, AlphaGo Zero's, and one for flat features.

To write a head that predicts more than the winner, derive a class from ForecastHead, return its predictions as a
Forecast, and register the class (`alphago.nn.parts.register_part`), so that it is saved and loaded by name.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn

from alphago.nn.blocks import conv_bn, start_small, two_layers
from alphago.nn.parts import register_part
from alphago.nn.passes import board_mean, board_pool

PAPER_HIDDEN = 256  # size of the hidden layer of AlphaGo Zero's value head
POINTS_PER_SCORE_UNIT = 10  # a score is a margin in tens of points, so that scores are about as large as values
TYPICAL_SIDE = 8  # the side of a board on which the scaled means of a ForecastValue are 0


class Forecast(NamedTuple):
    """A value head's predictions of the ends of games, in the view of the player about to move.

    A prediction that the head does not make is None.
    """

    value: torch.Tensor  # [B], -1 .. 1
    score: torch.Tensor | None = None  # [B], the margin in tens of points
    ownership: torch.Tensor | None = None  # [B, H W], each point's owner: 1 the player about to move, -1 the opponent


class ForecastHead(nn.Module):
    """Base class of value heads that predict more than the winner; training calls `forecast`, search `forward`."""

    def forecast(self, features: torch.Tensor) -> Forecast:
        """Return all predictions of the head; the Forecast's `value` is the output of `forward`, with shape [B]."""
        raise NotImplementedError


class BoardForecast(ForecastHead):
    """Base class of heads that compute value, score and ownership at once; a subclass writes `read`."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Compute values [B, 1], -1 .. 1 in the view of the player about to move, from [B, channels, H, W]."""
        return torch.tanh(self.read(features)[0][:, :1])

    def forecast(self, features: torch.Tensor) -> Forecast:
        """Return value, score and ownership, computed by `read` from features [B, channels, H, W]."""
        value_and_score, ownership = self.read(features)
        return Forecast(torch.tanh(value_and_score[:, 0]), value_and_score[:, 1], ownership.flatten(1))

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute all outputs from features [B, channels, H, W].

        Returns:
            Two tensors: [B, 2], in column 0 the value before its tanh and in column 1 the score, in tens of points; and
            the ownership [B, 1, H, W], -1 .. 1.
        """
        raise NotImplementedError


@register_part
class ForecastValue(BoardForecast):
    """A value head that predicts value, score and ownership, on a board of any size.

    A 1x1 convolution to `planes` channels, batch norm and relu come first.  A second 1x1 convolution gives the
    ownership.  Value and score are computed, with one hidden layer, from the sum of the ownership and three numbers for
    each channel: its mean over the board, this mean times a number that grows with the board's side, and its maximum
    (after Wu 2019, "Accelerating Self-Play Learning in Go", sections 3.4 and 4).  The last layers are initialised near
    0, so that an untrained value is near 0.
    """

    def __init__(self, channels: int, planes: int = 16, hidden: int = 64) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, planes, kernel_size=1)
        self.owner = nn.Conv2d(planes, 1, kernel_size=1)
        self.hidden = nn.Linear(3 * planes + 1, hidden)  # three numbers for each plane, and the sum of the ownership
        self.last = nn.Linear(hidden, 2)  # value, score
        nn.init.kaiming_normal_(self.hidden.weight, nonlinearity="relu")
        start_small(self.owner, self.last)
        nn.init.zeros_(self.hidden.bias)

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute value (before its tanh) and score, [B, 2], and ownership [B, 1, H, W]; see `BoardForecast.read`."""
        board = self.squeeze(features, torch.relu)
        ownership = torch.tanh(self.owner(board))
        mean, maximum = board_pool(board, self.training)
        relative_side = (features.shape[-1] - TYPICAL_SIDE) / TYPICAL_SIDE  # 0 for a typical board
        summary = torch.cat([mean, mean * relative_side, maximum, ownership_sum(ownership, self.training)], dim=1)
        return self.last(torch.relu(self.hidden(summary))), ownership


@register_part
class DenseValue(nn.Module):
    """AlphaGo Zero's value head, for one board size: [B, channels, H, W] -> [B, 1] in -1 .. 1.

    The value is in the view of the player about to move.  Layers: 1x1 convolution to one channel, batch norm, relu,
    dense to `hidden`, relu, dense to 1, tanh (Silver et al. 2017, Methods, "Neural network architecture").  The last
    dense layer is initialised near 0, so that an untrained value is near 0.
    """

    def __init__(self, channels: int, plane_shape: Sequence[int], hidden: int = PAPER_HIDDEN) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, 1, kernel_size=1)
        self.hidden, self.last = two_layers(plane_shape[0] * plane_shape[1], hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        board = self.squeeze(features, torch.relu).flatten(1)
        return torch.tanh(self.last(torch.relu(self.hidden(board))))


@register_part
class FlatValue(nn.Module):
    """A value head for features without a board: [B, features] -> [B, 1] in -1 .. 1.

    The value is in the view of the player about to move.  Layers: dense to `hidden`, relu, dense to 1, tanh.  The last
    dense layer is initialised near 0, so that an untrained value is near 0.  Features of a board are read as flat ones.
    """

    def __init__(self, features: int, hidden: int = 64) -> None:
        super().__init__()
        self.hidden, self.last = two_layers(features, hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.last(torch.relu(self.hidden(features.flatten(1)))))


@register_part
class AddedForecast(ForecastHead):
    """A value head to which predictions of score and ownership are added; search computes the value head alone.

    Ownership is computed from the features by a 1x1 convolution.  The score is computed from the channels' means and
    maxima over the board and the sum of the ownership.  The added layers are initialised near 0.

    Args:
        value: the value head.
        channels: number of channels of the features.
    """

    def __init__(self, value: nn.Module, channels: int) -> None:
        super().__init__()
        self.value = value
        self.owner = nn.Conv2d(channels, 1, kernel_size=1)
        self.score = nn.Linear(2 * channels + 1, 1)  # of means, maxima and the sum of the ownership
        start_small(self.owner, self.score)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Compute the output of the head `value`, [B, 1] or [B], from features [B, channels, H, W]."""
        return self.value(features)

    def forecast(self, features: torch.Tensor) -> Forecast:
        """Return the value of the head `value`, and score and ownership of the added layers."""
        ownership = torch.tanh(self.owner(features))
        summary = torch.cat([*board_pool(features, self.training), ownership_sum(ownership, self.training)], dim=1)
        return Forecast(self.value(features).flatten(), self.score(summary).flatten(), ownership.flatten(1))


def default_value(channels: int, shape: tuple[int, int] | None, size_free: bool) -> nn.Module:
    """Return the default value head for features [B, channels, *shape], or [B, channels] if `shape` is None.

    Args:
        size_free: whether the weights must fit any board: ForecastValue instead of DenseValue.
    """
    if shape is None:
        return FlatValue(channels)
    return ForecastValue(channels) if size_free else DenseValue(channels, shape)


def ownership_sum(ownership: torch.Tensor, training: bool) -> torch.Tensor:
    """Return the sum of the ownership over each board, in tens of points: [B, 1, H, W] -> [B, 1].

    Args:
        training: as in `alphago.nn.passes.board_mean`.
    """
    tens_of_points = ownership.shape[-1] * ownership.shape[-2] / POINTS_PER_SCORE_UNIT
    return board_mean(ownership, training) * tens_of_points
