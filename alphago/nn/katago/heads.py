"""The heads of KataGo's networks; see alphago.nn.katago.tower for sources."""

from collections.abc import Sequence

import torch
from torch import nn

from alphago.nn.blocks import start_small
from alphago.nn.katago.tower import activation, convolution, summary
from alphago.nn.parts import register_part
from alphago.nn.passes import add_board_bias
from alphago.nn.value import BoardForecast


@register_part
class SummaryPolicy(nn.Module):
    """A policy head for boards of any size: [B, channels, H, W] -> logits [B, H W + 1], the last one the pass's.

    A 1x1 convolution to `pooled` channels, an activation, and a summary of the board, which gives the pass's logit and
    a bias for a second 1x1 convolution, to `hidden` channels; after this an activation and the points' logits.

    Args:
        activations: after the first, the second, and the pass's hidden layer of `hidden` units; None for no such layer.
    """

    def __init__(self, channels: int, pooled: int, hidden: int, activations: tuple[str, str, str | None]) -> None:
        super().__init__()
        pool_act, act, pass_act = activations
        self.pool_act, self.act = activation(pool_act), activation(act)
        self.pass_act = None if pass_act is None else activation(pass_act)
        self.pool = convolution(channels, pooled, 1)
        self.bias = nn.Linear(3 * pooled, hidden, bias=False)
        self.squeeze = convolution(channels, hidden, 1)
        self.points = nn.Conv2d(hidden, 1, 1, bias=False)
        self.pass_hidden = None if pass_act is None else nn.Linear(3 * pooled, hidden)
        self.last = nn.Linear(3 * pooled if pass_act is None else hidden, 1, bias=False)
        start_small(self.points, self.last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        seen = summary(self.pool_act(self.pool(features)), self.training)
        hidden = self.act(add_board_bias(self.squeeze(features), self.bias(seen)))
        logits = self.points(hidden).flatten(1)
        if self.pass_hidden is not None and self.pass_act is not None:
            seen = self.pass_act(self.pass_hidden(seen))  # for the pass alone
        return torch.cat([logits, self.last(seen)], dim=1)


@register_part
class SummaryValue(BoardForecast):
    """A value head that predicts value, score and ownership, on a board of any size.

    A 1x1 convolution to `planes` channels and an activation; of these a 1x1 convolution gives the ownership, and a
    summary of the board, with a hidden layer, value and score.

    Args:
        activations: after the convolution and after the hidden layer.
    """

    def __init__(self, channels: int, planes: int, hidden: int, activations: Sequence[str]) -> None:
        super().__init__()
        self.act, self.act2 = map(activation, activations)
        self.squeeze = convolution(channels, planes, 1)
        self.owner = nn.Conv2d(planes, 1, 1, bias=False)
        self.hidden = nn.Linear(3 * planes, hidden)
        self.last = nn.Linear(hidden, 2)  # value, score
        start_small(self.owner, self.last)

    def read(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        board = self.act(self.squeeze(features))
        seen = summary(board, self.training, for_value=True)
        return self.last(self.act2(self.hidden(seen))), torch.tanh(self.owner(board))
