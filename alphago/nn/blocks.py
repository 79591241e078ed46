"""The blocks of a tower, and layers that several parts of a network share."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.passes import add_board_bias, board_pool, norm_relu

Activation = Callable[[torch.Tensor], torch.Tensor]
# relu is AlphaGo Zero's activation.  elu is exp(x) - 1 below 0, so its gradient is never 0 (Clevert et al. 2016).
ACTIVATIONS: dict[str, Activation] = {"relu": torch.relu, "elu": F.elu}


class ConvBn(nn.Sequential):
    """A convolution and a batch norm, optionally fused with an addition and an activation: see `forward`."""

    def forward(
        self, features: torch.Tensor, act: Activation | None = None, added: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute act(norm(conv(features)) + added).

        None for `act` or `added` leaves out the activation or the addition.

        Args:
            features: [B, inputs, H, W].
            added: [B, outputs, H, W], like the result.
        """
        conv, norm = self
        features = conv(features)
        if act is torch.relu:  # the same result, with fewer passes over memory in training
            return norm_relu(norm, features, added)
        features = norm(features) if added is None else added + norm(features)
        return features if act is None else act(features)


def conv_bn(inputs: int, outputs: int, kernel_size: int) -> ConvBn:
    """Return a convolution without a bias, which keeps the board's size, followed by a batch norm."""
    conv = nn.Conv2d(inputs, outputs, kernel_size, padding=kernel_size // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return ConvBn(conv, nn.BatchNorm2d(outputs))


def board_bias(channels: int) -> nn.Linear:
    """Return a layer, initialised to 0, that maps the means and maxima of all channels to a bias per channel."""
    layer = nn.Linear(2 * channels, channels)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def start_small(*layers: nn.Linear | nn.Conv2d) -> None:
    """Initialise the weights of layers near 0, and their biases, if they have any, to 0."""
    for layer in layers:
        nn.init.normal_(layer.weight, std=0.01)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def two_layers(features: int, hidden: int, outputs: int = 1) -> tuple[nn.Linear, nn.Linear]:
    """Return the two dense layers features -> hidden -> outputs; the caller applies the relu between them.

    The last layer is initialised near 0.
    """
    first, last = nn.Linear(features, hidden), nn.Linear(hidden, outputs)
    nn.init.kaiming_normal_(first.weight, nonlinearity="relu")
    nn.init.zeros_(first.bias)
    start_small(last)
    return first, last


class Block(nn.Module):
    """Base class of a tower's blocks: [B, channels, H, W] -> [B, channels, H, W].

    Args:
        sees_board: whether the block sees the whole board.  If so, the input h of its last convolution is replaced by
            h + W [mean h, max h].  Mean and maximum of each channel are taken over the board, and the matrix W maps the
            means and maxima of all channels to a bias for each channel.  So facts about the whole board (ko fights, the
            score) reach every point in one block (Wu 2019, "Accelerating Self-Play Learning in Go", section 3.3).
        activation: a name in ACTIVATIONS.

    Attributes:
        pooled: the dense layer with the matrix W, which also adds a bias; None if the block does not see the whole
            board.  The weights have this name in saved networks.
    """

    def __init__(self, channels: int, sees_board: bool = False, activation: str = "relu") -> None:
        super().__init__()
        self.activate = ACTIVATIONS[activation]
        self.build(channels)
        self.pooled = board_bias(channels) if sees_board else None

    def build(self, channels: int) -> None:
        """Create the block's convolutions and norms."""
        raise NotImplementedError

    def shift(self, hidden: torch.Tensor) -> torch.Tensor:
        """Add the bias computed from the whole board to `hidden`.

        If the block does not see the whole board, return `hidden` unchanged.
        """
        if self.pooled is None:
            return hidden
        means_and_maxima = torch.cat(board_pool(hidden, self.training), dim=1)
        return add_board_bias(hidden, self.pooled(means_and_maxima))


class ResidualBlock(Block):
    """The block act(x + f(x)), where f is convolution, batch norm, act, convolution, batch norm (He et al. 2016).

    The convolutions are 3x3.  The last norm's scale is initialised to 0, so a new block computes act(x), and a high
    tower learns as fast as a low one at first (Goyal et al. 2017, section 5.1).
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
    """The block x + f(x), where f is twice the sequence batch norm, act, 3x3 convolution (He et al. 2016b).

    Since x passes through all blocks unchanged, even very high towers learn ("Identity Mappings in Deep Residual
    Networks").  The last convolution is initialised to 0, so a new block computes x.
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
    """The block act(f(x)), where f is a 3x3 convolution with batch norm; it has no residual connection."""

    def build(self, channels: int) -> None:
        self.only = conv_bn(channels, channels, 3)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.only(self.shift(features), self.activate)


BLOCKS: dict[str, type[Block]] = {"residual": ResidualBlock, "preactivation": PreactivationBlock, "plain": PlainBlock}
