"""The residual tower, the default `base_net` of a NeuralNet."""

import torch
import torch.nn.functional as F
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


def board_mean(features: torch.Tensor) -> torch.Tensor:
    """The mean over the board: [B, C, H, W] -> [B, C]."""
    return F.avg_pool2d(features, (features.shape[-2], features.shape[-1])).flatten(1)


def board_max(features: torch.Tensor) -> torch.Tensor:
    """The greatest value on the board: [B, C, H, W] -> [B, C]."""
    return F.max_pool2d(features, (features.shape[-2], features.shape[-1])).flatten(1)


class PooledBlock(ResidualBlock):
    """A residual block that sees the whole board: each channel gets a bias made of all channels' mean and maximum.

    relu(x + f2(h + W [mean h, max h])), h = relu(f1(x)): what convolutions need many layers for (ko
    fights, the score) reaches every point at once (Wu 2019, "Accelerating Self-Play Learning in Go",
    section 3.3).  The bias starts at 0.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.pooled = nn.Linear(2 * channels, channels)
        nn.init.zeros_(self.pooled.weight)
        nn.init.zeros_(self.pooled.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(features))
        bias = self.pooled(torch.cat([board_mean(hidden), board_max(hidden)], dim=1))
        return torch.relu(features + self.second(hidden + bias.unflatten(1, (-1, 1, 1))))


class ResidualTower(nn.Module):
    """A 3x3 convolution, then `height` residual blocks, of which every second one is pooled if `pooled`.

    [B, planes, H, W] -> [B, channels, H, W], any board size.  Without `pooled` it is AlphaGo Zero's tower
    (Silver et al. 2017, Methods, "Neural network architecture": 19 or 39 blocks of 256 channels).
    """

    def __init__(self, planes: int, channels: int, height: int, pooled: bool = False) -> None:
        super().__init__()
        self.entry = conv_bn(planes, channels, 3)
        kinds = [PooledBlock if pooled and block % 2 else ResidualBlock for block in range(height)]
        self.blocks = nn.Sequential(*(kind(channels) for kind in kinds))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.blocks(torch.relu(self.entry(planes)))
