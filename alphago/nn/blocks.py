"""The blocks that a tower is made of, and the layers that several parts share."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.passes import add_board_bias, board_pool, norm_relu

Activation = Callable[[torch.Tensor], torch.Tensor]
# relu: AlphaGo Zero's.  elu: exp(x) - 1 below 0, so that no unit ever stops learning (Clevert et al. 2016).
ACTIVATIONS: dict[str, Activation] = {"relu": torch.relu, "elu": F.elu}


class ConvBn(nn.Sequential):
    """A convolution and a batch norm, fused with an addition and an activation after them if these are given.

    forward: features [B, inputs, H, W] -> act(norm(conv(features)) + added), [B, outputs, H, W]; None leaves out the
        addition or the activation.
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
    """Return a convolution, which keeps the board's size, and a batch norm; the norm has the only bias."""
    conv = nn.Conv2d(inputs, outputs, kernel_size, padding=kernel_size // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return ConvBn(conv, nn.BatchNorm2d(outputs))


def board_bias(channels: int) -> nn.Linear:
    """Return a layer from the mean and maximum of each channel to a bias for each channel, initialised to 0."""
    layer = nn.Linear(2 * channels, channels)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def start_small(*layers: nn.Linear | nn.Conv2d) -> None:
    """Initialise layers (with or without a bias) so that their outputs are near 0."""
    for layer in layers:
        nn.init.normal_(layer.weight, std=0.01)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def two_layers(features: int, hidden: int, outputs: int = 1) -> tuple[nn.Linear, nn.Linear]:
    """Return a dense layer to `hidden`, to be followed by a relu, and a dense layer to `outputs`, near 0 at first."""
    first, last = nn.Linear(features, hidden), nn.Linear(hidden, outputs)
    nn.init.kaiming_normal_(first.weight, nonlinearity="relu")
    nn.init.zeros_(first.bias)
    start_small(last)
    return first, last


class Block(nn.Module):
    """Base of a tower's blocks: [B, channels, H, W] -> the same shape.

    pooled: whether the block sees the whole board: the features h that its last convolution reads get a bias for each
        channel, computed from all channels' mean and maximum, h + W [mean h, max h]. What convolutions need many layers
        for (ko fights, the score) then reaches every point at once (Wu 2019, "Accelerating Self-Play Learning in Go",
        section 3.3).
    activation: a name of ACTIVATIONS.
    """

    def __init__(self, channels: int, pooled: bool = False, activation: str = "relu") -> None:
        super().__init__()
        self.activate = ACTIVATIONS[activation]
        self.build(channels)
        self.pooled = board_bias(channels) if pooled else None

    def build(self, channels: int) -> None:
        """Create the block's convolutions and norms."""
        raise NotImplementedError

    def shift(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return `hidden` plus the bias computed from the whole board, or unchanged if the block is not pooled."""
        if self.pooled is None:
            return hidden
        whole = torch.cat(board_pool(hidden, self.training), dim=1)
        return add_board_bias(hidden, self.pooled(whole), self.training)


class ResidualBlock(Block):
    """act(x + f(x)), f two 3x3 convolutions with batch norm and act between them (He et al. 2016, post-activation).

    The last norm's scale starts at 0, so that a new block changes nothing: a tower of any height starts out as a
    shallow net and learns at the same pace (Goyal et al. 2017, section 5.1).
    """

    def build(self, channels: int) -> None:
        self.first = conv_bn(channels, channels, 3)
        self.second = conv_bn(channels, channels, 3)
        norm = self.second[1]
        assert isinstance(norm, nn.BatchNorm2d)
        nn.init.zeros_(norm.weight)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden = self.first(features, self.activate)
        return self.second(self.shift(hidden), self.activate, features)


class PreactivationBlock(Block):
    """x + f(x), where f is twice batch norm, act, 3x3 convolution (He et al. 2016b).

    x passes through all blocks unchanged, so that very high towers learn ("Identity Mappings in Deep Residual
    Networks"). The last convolution starts at 0, so that a new block changes nothing.
    """

    def build(self, channels: int) -> None:
        self.norm = nn.BatchNorm2d(channels)
        self.first = conv_bn(channels, channels, 3)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        nn.init.zeros_(self.second.weight)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden = self.first(self.activate(self.norm(features)), self.activate)
        return features + self.second(self.shift(hidden))


class PlainBlock(Block):
    """act(f(x)), where f is one 3x3 convolution with batch norm; no residual connection."""

    def build(self, channels: int) -> None:
        self.only = conv_bn(channels, channels, 3)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.only(self.shift(features), self.activate)


BLOCKS: dict[str, type[Block]] = {"residual": ResidualBlock, "preactivation": PreactivationBlock, "plain": PlainBlock}
