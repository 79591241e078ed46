"""The value heads of a NeuralNet: one for boards of any size, AlphaGo Zero's, and one for flat features."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import nn

from alphago.nn.blocks import conv_bn
from alphago.nn.passes import board_mean, board_pool

PAPER_HIDDEN = 256


class Forecast(NamedTuple):
    """How a game ends, from the view of the player about to move."""

    value: torch.Tensor  # [B], -1 .. 1
    score: torch.Tensor  # [B], the margin in tens of points
    ownership: torch.Tensor  # [B, H W], -1 .. 1, 1 where a point becomes the mover's


class ForecastValue(nn.Module):
    """Who wins, by how much, and whose each point becomes, on a board of any size.

    1x1 convolution to `planes` planes, batch norm, relu; ownership is read from them point by point; value
    and score from their mean, their mean times the board's side, their maximum, and the sum of the
    ownership, through a hidden layer (after Wu 2019, "Accelerating Self-Play Learning in Go", sections 3.4
    and 4).  Training uses `forecast`; search needs the value alone.  The last layers start small: an untrained
    value is near 0.
    """

    def __init__(self, channels: int, planes: int = 16, hidden: int = 64) -> None:
        super().__init__()
        self.arguments = {"channels": channels, "planes": planes, "hidden": hidden}
        self.squeeze = conv_bn(channels, planes, 1)
        self.owner = nn.Conv2d(planes, 1, 1)
        self.hidden = nn.Linear(3 * planes + 1, hidden)
        self.last = nn.Linear(hidden, 2)  # value, score
        nn.init.kaiming_normal_(self.hidden.weight, nonlinearity="relu")
        for layer in (self.owner, self.last):
            nn.init.normal_(layer.weight, std=0.01)
        for bias in (self.owner.bias, self.hidden.bias, self.last.bias):
            nn.init.zeros_(bias)  # type: ignore[arg-type]

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """[B, channels, H, W] -> value [B, 1] in -1 .. 1, from the view of the player about to move."""
        return torch.tanh(self.read(features)[0][:, :1])

    def forecast(self, features: torch.Tensor) -> Forecast:
        both, ownership = self.read(features)
        return Forecast(torch.tanh(both[:, 0]), both[:, 1], ownership.flatten(1))

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Value (before the tanh) and score [B, 2], ownership [B, 1, H, W]."""
        board = self.squeeze(features, torch.relu)
        ownership = torch.tanh(self.owner(board))
        (mean, most), side = board_pool(board, self.training), (features.shape[-1] - 8) / 8
        points = features.shape[-1] * features.shape[-2] / 10
        owned = board_mean(ownership, self.training) * points
        whole = torch.cat([mean, mean * side, most, owned], dim=1)
        return self.last(torch.relu(self.hidden(whole))), ownership


class DenseValue(nn.Module):
    """Who wins: [B, channels, H, W] -> [B, 1] in -1 .. 1, from the view of the player about to move.

    1x1 convolution to one plane, batch norm, relu, dense to `hidden`, relu, dense to 1, tanh (Silver
    et al. 2017, Methods, "Neural network architecture").  The last layer starts small: an untrained
    value is near 0.
    """

    def __init__(self, channels: int, plane_shape: Sequence[int], hidden: int = PAPER_HIDDEN) -> None:
        super().__init__()
        self.arguments = {"channels": channels, "plane_shape": list(plane_shape), "hidden": hidden}
        self.squeeze = conv_bn(channels, 1, 1)
        self.hidden, self.last = two_layers(plane_shape[0] * plane_shape[1], hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        board = self.squeeze(features, torch.relu).flatten(1)
        return torch.tanh(self.last(torch.relu(self.hidden(board))))


class FlatValue(nn.Module):
    """Who wins, from features without a board: [B, features] -> [B, 1] in -1 .. 1, from the mover's view.

    Dense to `hidden`, relu, dense to 1, tanh.  The last layer starts small: an untrained value is near 0.
    """

    def __init__(self, features: int, hidden: int = 64) -> None:
        super().__init__()
        self.arguments = {"features": features, "hidden": hidden}
        self.hidden, self.last = two_layers(features, hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.last(torch.relu(self.hidden(features))))


def two_layers(features: int, hidden: int) -> tuple[nn.Linear, nn.Linear]:
    """Dense to `hidden`, for a relu, and dense to 1, which starts small: an untrained value is near 0."""
    first, last = nn.Linear(features, hidden), nn.Linear(hidden, 1)
    nn.init.kaiming_normal_(first.weight, nonlinearity="relu")
    nn.init.normal_(last.weight, std=0.01)
    nn.init.zeros_(first.bias)
    nn.init.zeros_(last.bias)
    return first, last


class AddedForecast(nn.Module):
    """Any value head, and beside it heads for ownership and score, which training uses and search leaves out.

    `value` says who wins, as it would alone.  Ownership is read from the features point by point; the score from
    their mean and maximum and the sum of the ownership.  The added layers start small.
    """

    def __init__(self, value: nn.Module, channels: int) -> None:
        super().__init__()
        self.value = value
        self.owner = nn.Conv2d(channels, 1, 1)
        self.score = nn.Linear(2 * channels + 1, 1)
        for layer in (self.owner, self.score):
            nn.init.normal_(layer.weight, std=0.01)
        for bias in (self.owner.bias, self.score.bias):
            nn.init.zeros_(bias)  # type: ignore[arg-type]

    @property
    def arguments(self) -> dict[str, Any]:
        return {"value": self.value, "channels": self.owner.in_channels}

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """[B, channels, H, W] -> what `value` gives, [B, 1] or [B]."""
        return self.value(features)

    def forecast(self, features: torch.Tensor) -> Forecast:
        ownership = torch.tanh(self.owner(features))
        points = features.shape[-1] * features.shape[-2] / 10
        owned = board_mean(ownership, self.training) * points
        whole = torch.cat([*board_pool(features, self.training), owned], dim=1)
        return Forecast(self.value(features).flatten(), self.score(whole).flatten(), ownership.flatten(1))
