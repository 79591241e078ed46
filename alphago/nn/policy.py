"""The default policy head of a NeuralNet."""

import torch
from torch import nn

from alphago.nn.base import conv_bn


class PolicyHead(nn.Module):
    """Where to play: [B, channels, H, W] -> logits [B, action_space]; legality is not its business.

    1x1 convolution to two planes, batch norm, relu, dense (Silver et al. 2017, Methods, "Neural
    network architecture").  The dense layer starts small: an untrained policy is near uniform.
    """

    def __init__(self, channels: int, plane_shape: tuple[int, int], action_space: int) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, 2, 1)
        self.last = nn.Linear(2 * plane_shape[0] * plane_shape[1], action_space)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.squeeze(features)).flatten(1))
