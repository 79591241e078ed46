"""Operations on the features of a whole board, in training with as few passes over memory as torch makes.

Kernels that compute norm, addition and relu at once brought too little (docs/experiments/37; on a GPU 39).
"""

import torch
import torch.nn.functional as F
from torch import nn


def norm_relu(norm: nn.Module, features: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
    """Return relu(norm(features) + added), or relu(norm(features)) if `added` is None.

    Args:
        features, added: [B, C, H, W], like the result.
    """
    normed = norm(features)
    if norm.training and isinstance(norm, nn.BatchNorm2d):
        # The sum and the relu overwrite the norm's output, which saves passes over memory.  This is allowed, since a
        # batch norm in training keeps its input for the gradient, not its output.  `normed` must come first to be
        # overwritten; the sum is the same as in the other order below.
        return (normed if added is None else normed.add_(added)).relu_()
    return torch.relu(normed if added is None else added + normed)


def board_pool(features: torch.Tensor, training: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean and the maximum of each channel over each board, both [B, C], of features [B, C, H, W].

    Args:
        training: as in `board_mean`.
    """
    maximum = F.max_pool2d(features, (features.shape[-2], features.shape[-1])).flatten(1)
    return board_mean(features, training), maximum


def board_mean(features: torch.Tensor, training: bool = False) -> torch.Tensor:
    """Return the mean of each channel over each board, [B, C], of features [B, C, H, W].

    Args:
        training: whether to use torch's mean, whose gradient is three times as fast on a CPU as that of a pooling.
            Without it, for search, a pooling is used, which the evaluators can translate.
    """
    if training:
        channels_last = features.permute(0, 2, 3, 1)  # [B, H, W, C]
        return channels_last.flatten(1, 2).mean(dim=1)
    return F.adaptive_avg_pool2d(features, 1).flatten(1)  # older versions of torch cannot trace F.avg_pool2d


def add_board_bias(features: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Add a bias [B, C] to features [B, C, H, W] at each point."""
    return features + bias.unflatten(1, (-1, 1, 1))
