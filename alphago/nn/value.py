"""The default value head of a NeuralNet."""

import torch
from torch import nn

from alphago.nn.base import conv_bn

PAPER_HIDDEN = 256


class ValueHead(nn.Module):
    """Who wins: [B, channels, H, W] -> [B, 1] in -1 .. 1, from the view of the player about to move.

    1x1 convolution to one plane, batch norm, relu, dense to `hidden`, relu, dense to 1, tanh (Silver
    et al. 2017, Methods, "Neural network architecture").  The last layer starts small: an untrained
    value is near 0.
    """

    def __init__(self, channels: int, plane_shape: tuple[int, int], hidden: int = PAPER_HIDDEN) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, 1, 1)
        self.hidden = nn.Linear(plane_shape[0] * plane_shape[1], hidden)
        self.last = nn.Linear(hidden, 1)
        nn.init.kaiming_normal_(self.hidden.weight, nonlinearity="relu")
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.hidden.bias)
        nn.init.zeros_(self.last.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        board = torch.relu(self.squeeze(features)).flatten(1)
        return torch.tanh(self.last(torch.relu(self.hidden(board))))
