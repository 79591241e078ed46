"""The policy heads of a NeuralNet: one for boards of any size, AlphaGo Zero's, and one for flat features."""

from collections.abc import Sequence

import torch
from torch import nn

from alphago.nn.blocks import conv_bn
from alphago.nn.passes import add_board_bias, board_pool


class PointPolicy(nn.Module):
    """A logit for each point, and one for the pass if the game has one, on a board of any size.

    [B, channels, H, W] -> [B, H W] or [B, H W + 1].  1x1 convolution to `hidden` planes, a bias made of their
    mean and maximum over the board, relu, 1x1 convolution to one plane; the pass is read from the mean and
    maximum (after Wu 2019, "Accelerating Self-Play Learning in Go", appendix A.4).  The last layers start
    small: an untrained policy is near uniform.
    """

    def __init__(self, channels: int, has_pass: bool, hidden: int = 16) -> None:
        super().__init__()
        self.arguments = {"channels": channels, "has_pass": has_pass, "hidden": hidden}
        self.squeeze = conv_bn(channels, hidden, 1)
        self.pooled = nn.Linear(2 * hidden, hidden)
        self.points = nn.Conv2d(hidden, 1, 1, bias=False)
        nn.init.zeros_(self.pooled.weight)
        nn.init.zeros_(self.pooled.bias)
        nn.init.normal_(self.points.weight, std=0.01)
        self.last = nn.Linear(2 * hidden, 1) if has_pass else None
        if self.last is not None:
            nn.init.normal_(self.last.weight, std=0.01)
            nn.init.zeros_(self.last.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        board = self.squeeze(features, torch.relu)
        whole = torch.cat(board_pool(board, self.training), dim=1)
        logits = self.points(torch.relu(add_board_bias(board, self.pooled(whole), self.training))).flatten(1)
        return logits if self.last is None else torch.cat([logits, self.last(whole)], dim=1)


class DensePolicy(nn.Module):
    """Where to play: [B, channels, H, W] -> logits [B, action_space]; legality is not its business.

    1x1 convolution to two planes, batch norm, relu, dense (Silver et al. 2017, Methods, "Neural
    network architecture").  The dense layer starts small: an untrained policy is near uniform.
    """

    def __init__(self, channels: int, plane_shape: Sequence[int], action_space: int) -> None:
        super().__init__()
        self.arguments = {"channels": channels, "plane_shape": list(plane_shape), "action_space": action_space}
        self.squeeze = conv_bn(channels, 2, 1)
        self.last = nn.Linear(2 * plane_shape[0] * plane_shape[1], action_space)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.last(self.squeeze(features, torch.relu).flatten(1))


class FlatPolicy(nn.Module):
    """Where to play, from features without a board: [B, features] -> logits [B, action_space], by one dense layer.

    It starts small: an untrained policy is near uniform.
    """

    def __init__(self, features: int, action_space: int) -> None:
        super().__init__()
        self.arguments = {"features": features, "action_space": action_space}
        self.last = nn.Linear(features, action_space)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.last(features)
