"""Operations on the features of a whole board; those of norms make few passes over memory in training.

torch makes a pass over new memory for each norm, addition and relu, forward and backward.  `norm_relu` computes them at
once: in training on channels-last features in float32 on the CPU by compiled kernels (alphago.nn.kernels.norm),
otherwise by torch, in training in place.  docs/experiments/37 has what that is worth, and what kernels for bfloat16, of
pools and of biases were not; on an H100 those of norms saved 4 % of a step of 1 024 samples, too little (39).
"""

from typing import Any, TypeGuard

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from alphago.nn.kernels import norm as kernels


def suits_kernels(features: torch.Tensor) -> bool:
    """Return whether the kernels can read a tensor: float32, [B, C, H, W], channels-last, on the CPU."""
    return (
        features.dtype == torch.float32
        and features.device.type == "cpu"
        and features.dim() == 4
        and features.is_contiguous(memory_format=torch.channels_last)
    )


def norm_relu(norm: nn.Module, features: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
    """Return relu(norm(features) + added), or relu(norm(features)) if `added` is None.

    In training mode the norm's running statistics are updated.

    Args:
        features, added: [B, C, H, W], like the result.
    """
    inputs = [features] if added is None else [features, added]
    if norm.training and is_plain_norm(norm) and all(map(suits_kernels, inputs)):
        assert norm.num_batches_tracked is not None
        norm.num_batches_tracked.add_(1)  # as the norm's own forward does
        return NormRelu.apply(features, added, norm.weight, norm.bias, norm)
    normed = norm(features)
    if norm.training and isinstance(norm, nn.BatchNorm2d):  # whose gradient does not need its result
        return (normed if added is None else normed.add_(added)).relu_()
    return torch.relu(normed if added is None else added + normed)


def is_plain_norm(norm: nn.Module) -> TypeGuard[nn.BatchNorm2d]:
    """Return whether a module is a 2D batch norm with a scale, a bias and running statistics."""
    if not isinstance(norm, nn.BatchNorm2d):
        return False
    return norm.affine and norm.track_running_stats and norm.momentum is not None


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
        training: whether to use torch's mean, whose gradient is three times as fast on a CPU as that of a pooling.  For
            search a pooling is used, which the evaluators can translate.
    """
    if training:
        channels_last = features.permute(0, 2, 3, 1)  # [B, H, W, C]
        return channels_last.flatten(1, 2).mean(dim=1)
    return F.adaptive_avg_pool2d(features, 1).flatten(1)  # older versions of torch cannot trace F.avg_pool2d


def add_board_bias(features: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Add a bias [B, C] to features [B, C, H, W] at each point."""
    return features + bias.unflatten(1, (-1, 1, 1))


def flat(features: torch.Tensor) -> np.ndarray:
    """Return a view of a tensor's memory for the kernels, float32 [B * H * W * C]."""
    return features.detach().permute(0, 2, 3, 1).numpy().reshape(-1)


class NormRelu(torch.autograd.Function):
    """The autograd function of `norm_relu` (Ioffe & Szegedy 2015, algorithm 1 and section 3)."""

    @staticmethod
    def forward(
        ctx: Any,
        features: torch.Tensor,
        added: torch.Tensor | None,
        weight: torch.Tensor,
        bias: torch.Tensor,
        norm: nn.BatchNorm2d,
    ) -> torch.Tensor:
        """Return relu(norm(features) + added), and move the running statistics of `norm`.

        Args:
            weight, bias: the norm's parameters, which are arguments so that they get gradients.
        """
        x, channels = flat(features), len(weight)
        tiles = np.empty((2, kernels.ROWS * channels), np.float32)  # each channel's scale and shift, repeated
        mean, deviation = np.empty(channels), np.empty(channels)
        kernels.scale_to_norm(x, weight.detach().numpy(), bias.detach().numpy(), norm.eps, tiles, mean, deviation)
        out = torch.empty_like(features)
        if added is None:
            kernels.norm_relu(x, tiles, flat(out))
        else:
            kernels.norm_add_relu(x, flat(added), tiles, flat(out))
        assert norm.running_mean is not None
        assert norm.running_var is not None
        running = (norm.running_mean.numpy(), norm.running_var.numpy())
        kernels.move_statistics(mean, deviation, len(x) // channels, norm.eps, norm.momentum, *running)
        ctx.save_for_backward(features, out, weight)
        ctx.statistics, ctx.has_added = (mean, deviation), added is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of the arguments of `forward`, from the gradient of its result.

        None for `norm`, and for `added` if there was none.
        """
        features, out, weight = ctx.saved_tensors
        passed, dx = torch.empty_like(features), torch.empty_like(features)
        dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
        tiles = np.empty((3, kernels.ROWS * len(weight)), np.float32)  # scratch memory
        gradient = gradient.float().contiguous(memory_format=torch.channels_last)
        inputs = (flat(gradient), flat(features), flat(out), weight.numpy())
        outputs = (flat(passed), flat(dx), dweight.numpy(), dbias.numpy())
        mean, deviation = ctx.statistics
        kernels.norm_backward(*inputs, mean, deviation, tiles, *outputs)
        dadded = passed if ctx.has_added else None  # the gradient of the addition's result is that of both addends
        return dx, dadded, dweight, dbias, None
