"""The residual tower, the default `base_net` of a NeuralNet."""

import torch
from torch import nn


def conv_bn(inputs: int, outputs: int, kernel_size: int) -> nn.Sequential:
    """A convolution that keeps the board's size, then batch norm, whose bias makes another one idle."""
    conv = nn.Conv2d(inputs, outputs, kernel_size, padding=kernel_size // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class ResidualBlock(nn.Module):
    """relu(x + f(x)), f two 3x3 convolutions with batch norm (He et al. 2016, post-activation).

    The last norm's scale starts at 0, so that a new block changes nothing: a tower of any height
    starts out as a shallow net and learns at the same pace (Goyal et al. 2017, section 5.1).
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = conv_bn(channels, channels, 3)
        self.second = conv_bn(channels, channels, 3)
        norm = self.second[1]
        assert isinstance(norm, nn.BatchNorm2d)
        nn.init.zeros_(norm.weight)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """[B, channels, H, W] -> the same shape."""
        return torch.relu(features + self.second(torch.relu(self.first(features))))


class ResidualTower(nn.Module):
    """AlphaGo Zero's tower: a 3x3 convolution, then `height` residual blocks.

    [B, planes, H, W] -> [B, channels, H, W], any board size (Silver et al. 2017, Methods, "Neural
    network architecture": 19 or 39 blocks of 256 channels).
    """

    def __init__(self, planes: int, channels: int, height: int) -> None:
        super().__init__()
        self.entry = conv_bn(planes, channels, 3)
        self.blocks = nn.Sequential(*(ResidualBlock(channels) for _ in range(height)))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.blocks(torch.relu(self.entry(planes)))
