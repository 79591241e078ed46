"""The policy heads of a NeuralNet: one for boards of any size, AlphaGo Zero's, and one for flat features."""

from collections.abc import Sequence

import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.blocks import board_bias, conv_bn, start_small, two_layers
from alphago.nn.parts import register_part
from alphago.nn.passes import add_board_bias, board_pool
from alphago.system.validation import check_int

FLAT_HIDDEN = 64  # size of the hidden layer of a default FlatPolicy; a default FlatValue has the same


@register_part
class PointPolicy(nn.Module):
    """A policy head for boards of any size: [B, channels, H, W] -> logits [B, H W], or [B, H W + 1] with a pass.

    Layers: 1x1 convolution to `hidden` channels, batch norm, addition of a bias computed from the channels' means and
    maxima over the board, relu, 1x1 convolution to the points' logits.  The pass's logit is computed from the means and
    maxima (after Wu 2019, "Accelerating Self-Play Learning in Go", appendix A.4).  The last layers are initialised near
    0, so that an untrained policy is nearly uniform.

    Args:
        has_pass: whether the game's last action is a pass.
    """

    def __init__(self, channels: int, has_pass: bool, hidden: int = 16) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, hidden, kernel_size=1)
        self.pooled = board_bias(hidden)  # from means and maxima to a bias for each channel
        self.points = nn.Conv2d(hidden, 1, kernel_size=1, bias=False)
        start_small(self.points)
        self.last = nn.Linear(2 * hidden, 1) if has_pass else None  # from means and maxima to the pass's logit
        if self.last is not None:
            start_small(self.last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Compute the logits of the points, and after them the pass's (by the layer `last`) if the game has a pass."""
        board = self.squeeze(features, torch.relu)
        means_and_maxima = torch.cat(board_pool(board, self.training), dim=1)
        hidden = torch.relu(add_board_bias(board, self.pooled(means_and_maxima)))
        logits = self.points(hidden).flatten(1)
        return logits if self.last is None else torch.cat([logits, self.last(means_and_maxima)], dim=1)


def may_drift(policy: nn.Module) -> bool:
    """Return whether the mean of a policy head's logits may drift in training.

    A constant added to all logits changes no probability, so the policy's loss does not hold it in place.  A
    PointPolicy without a pass may drift: the biases of the layers before the convolution `points`, which has no bias,
    can add a constant to the logits of all points.  A PointPolicy with a pass does not drift: these biases do not
    change the pass's logit, which has weights of its own.  Nor do a DensePolicy and a FlatPolicy, whose weights decay.
    """
    return isinstance(policy, PointPolicy) and policy.last is None  # `last` computes the pass's logit


@register_part
class DensePolicy(nn.Module):
    """AlphaGo Zero's policy head, for one board size: [B, channels, H, W] -> logits [B, action_space].

    Layers: 1x1 convolution to two channels, batch norm, relu, dense (Silver et al. 2017, Methods, "Neural network
    architecture").  The dense layer is initialised near 0, so that an untrained policy is nearly uniform.
    """

    def __init__(self, channels: int, plane_shape: Sequence[int], action_space: int) -> None:
        super().__init__()
        self.squeeze = conv_bn(channels, 2, kernel_size=1)
        self.last = nn.Linear(2 * plane_shape[0] * plane_shape[1], action_space)
        start_small(self.last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.last(self.squeeze(features, torch.relu).flatten(1))


@register_part
class FlatPolicy(nn.Module):
    """A policy head for features without a board: [B, features] -> logits [B, action_space].

    Layers: dense to `hidden`, relu, dense to `action_space`; with `hidden` 0 a single dense layer.  The last layer is
    initialised near 0, so that an untrained policy is nearly uniform.  Features of a board are read as flat ones.
    """

    def __init__(self, features: int, action_space: int, hidden: int = 0) -> None:
        super().__init__()
        self.hidden: nn.Linear | None = None
        if check_int("hidden", hidden, 0):
            self.hidden, self.last = two_layers(features, hidden, action_space)
        else:
            self.last = nn.Linear(features, action_space)
            start_small(self.last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        features = features.flatten(1)
        return self.last(features if self.hidden is None else torch.relu(self.hidden(features)))


def default_policy(env: GameEnv, channels: int, shape: tuple[int, int] | None, size_free: bool) -> nn.Module:
    """Return the default policy head for features [B, channels, *shape], or [B, channels] if `shape` is None.

    Args:
        size_free: whether the weights must fit any board: PointPolicy instead of DensePolicy.
    """
    if shape is None:
        return FlatPolicy(channels, env.action_space, FLAT_HIDDEN)
    if size_free:
        return PointPolicy(channels, has_pass=env.action_space > env.plane_shape[0] * env.plane_shape[1])
    return DensePolicy(channels, shape, env.action_space)
