"""The blocks that a tower is made of, and what looks at a whole board."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.passes import add_board_bias, board_pool, norm_relu

Activation = Callable[[torch.Tensor], torch.Tensor]
# relu: AlphaGo Zero's.  elu: exp(x) - 1 below 0, so that no unit ever stops learning (Clevert et al. 2016).
ACTIVATIONS: dict[str, Activation] = {"relu": torch.relu, "elu": F.elu}


class ConvBn(nn.Sequential):
    """A convolution and a batch norm, with what comes after them, which is fast with the norm.

    forward: features [B, inputs, H, W] -> act(norm(conv(features)) + added), [B, outputs, H, W]; nothing added and no
        act where they are None.
    """

    def forward(
        self, features: torch.Tensor, act: Activation | None = None, added: torch.Tensor | None = None
    ) -> torch.Tensor:
        conv, norm = self
        features = conv(features)
        if act is torch.relu:
            return norm_relu(norm, features, added)
        features = norm(features) if added is None else added + norm(features)
        return features if act is None else act(features)


def conv_bn(inputs: int, outputs: int, kernel_size: int) -> ConvBn:
    """A convolution that keeps the board's size, then batch norm, whose bias makes another one idle."""
    conv = nn.Conv2d(inputs, outputs, kernel_size, padding=kernel_size // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return ConvBn(conv, nn.BatchNorm2d(outputs))


def board_bias(channels: int) -> nn.Linear:
    """The layer that makes a bias for each channel from all channels' mean and maximum; it starts at 0."""
    layer = nn.Linear(2 * channels, channels)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Block(nn.Module):
    """What the blocks of a tower have in common: [B, channels, H, W] -> the same shape.

    pooled: the block sees the whole board: what its last convolution reads, h, gets a bias for each channel
        made of all channels' mean and maximum, h + W [mean h, max h], so that what convolutions need many layers
        for (ko fights, the score) reaches every point at once (Wu 2019, "Accelerating Self-Play Learning in Go",
        section 3.3).
    activation: a name of ACTIVATIONS.
    """

    pooled: nn.Linear | None

    def __init__(self, activation: str) -> None:
        super().__init__()
        self.activate = ACTIVATIONS[activation]

    def shifted(self, hidden: torch.Tensor) -> torch.Tensor:
        """`hidden` with the bias that the whole board gives, if the block is pooled."""
        if self.pooled is None:
            return hidden
        whole = torch.cat(board_pool(hidden, self.training), dim=1)
        return add_board_bias(hidden, self.pooled(whole), self.training)


class ResidualBlock(Block):
    """act(x + f(x)), f two 3x3 convolutions with batch norm, act between them (He et al. 2016, post-activation).

    The last norm's scale starts at 0, so that a new block changes nothing: a tower of any height
    starts out as a shallow net and learns at the same pace (Goyal et al. 2017, section 5.1).
    """

    def __init__(self, channels: int, pooled: bool = False, activation: str = "relu") -> None:
        super().__init__(activation)
        self.first = conv_bn(channels, channels, 3)
        self.second = conv_bn(channels, channels, 3)
        norm = self.second[1]
        assert isinstance(norm, nn.BatchNorm2d)
        nn.init.zeros_(norm.weight)
        self.pooled = board_bias(channels) if pooled else None

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden = self.first(features, self.activate)
        return self.second(self.shifted(hidden), self.activate, features)


class PreactivationBlock(Block):
    """x + f(x), f twice batch norm, act, 3x3 convolution (He et al. 2016b, "Identity Mappings in Deep Residual
    Networks").

    Nothing stands in the way of what is handed on, so that very high towers learn.  The last convolution starts
    at 0: a new block changes nothing.
    """

    def __init__(self, channels: int, pooled: bool = False, activation: str = "relu") -> None:
        super().__init__(activation)
        self.norm = nn.BatchNorm2d(channels)
        self.first = conv_bn(channels, channels, 3)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        nn.init.zeros_(self.second.weight)
        self.pooled = board_bias(channels) if pooled else None

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden = self.first(self.activate(self.norm(features)), self.activate)
        return features + self.second(self.shifted(hidden))


class PlainBlock(Block):
    """act(f(x)), f one 3x3 convolution with batch norm, and nothing to lead past it."""

    def __init__(self, channels: int, pooled: bool = False, activation: str = "relu") -> None:
        super().__init__(activation)
        self.only = conv_bn(channels, channels, 3)
        self.pooled = board_bias(channels) if pooled else None

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.only(self.shifted(features), self.activate)


BLOCKS: dict[str, Callable[..., Block]] = {
    "residual": ResidualBlock,
    "preactivation": PreactivationBlock,
    "plain": PlainBlock,
}
