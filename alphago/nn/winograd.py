"""3x3 convolutions of training in float32 on a CPU, by Winograd's method, with a third of the products.

torch's libraries multiply for each point and filter element.  In a gradient step of a 4 x 64 network these products
take most of the time on a processor without bfloat16.  Winograd's method (alphago.nn.kernels.winograd) needs 225
instead of 729 for each pair of channels of a board of 9x9, and as few for each of the two gradients.  Its sums round a
little more: results differ from torch's by some 1e-6 of their size.
"""

import math
from functools import cache
from typing import NamedTuple, TypeGuard

import numba
import numpy as np
import torch
from torch import nn
from torch.autograd.function import FunctionCtx, once_differentiable

from alphago.nn.kernels import winograd as kernels
from alphago.nn.passes import flat, for_kernels

LEAST_CHANNELS = 32
CHUNK_NUMBERS = 150_000  # numbers of a chunk's planes, which the second-level cache of a core should hold


def convolve(conv: nn.Module, features: torch.Tensor) -> torch.Tensor:
    """Return conv(features), in training by Winograd's method where that is faster."""
    if conv.training and is_plain_conv(conv) and suits_winograd(conv, features):
        return Winograd.apply(features, conv.weight)
    return conv(features)


def is_plain_conv(conv: nn.Module) -> TypeGuard[nn.Conv2d]:
    """Return whether a module is a 3x3 convolution with zeros at the border, and does nothing else."""
    return (
        type(conv) is nn.Conv2d
        and (conv.kernel_size, conv.padding, conv.padding_mode) == ((3, 3), (1, 1), "zeros")
        and conv.stride == conv.dilation == (1, 1)
        and conv.groups == 1
        and conv.bias is None
        and not (conv._forward_hooks or conv._forward_pre_hooks)  # which would not be called
    )


def suits_winograd(conv: nn.Conv2d, features: torch.Tensor) -> bool:
    """Return whether a plain convolution is faster by Winograd's method: float32, channels-last, on the CPU."""
    channels = (conv.in_channels, conv.out_channels)
    return (
        all(number % kernels.LANES == 0 and number >= LEAST_CHANNELS for number in channels)
        and features.dtype == conv.weight.dtype == torch.float32
        and features.device.type == "cpu"
        and not torch.is_autocast_enabled("cpu")
        and torch.is_grad_enabled()
        and not numba.config.DISABLE_JIT
        and features.is_contiguous(memory_format=torch.channels_last)
    )


@cache
def best_tile(height: int, width: int) -> int:
    """Return the size of tiles, 3 or 4, that needs fewer products on a board."""

    def products(tile: int) -> int:
        return math.ceil(height / tile) * math.ceil(width / tile) * kernels.window_size(tile) ** 2

    return min((3, 4), key=products)


@cache
def filter_transform(tile: int) -> torch.Tensor:
    """Return the matrix of G filter G^T, float32 [(tile + 2)^2, 9], for filters as vectors."""
    filters = kernels.matrices(tile).filters
    return torch.from_numpy(np.kron(filters, filters)).float()


class WinogradContext(FunctionCtx):
    """What the function keeps from the forward pass for the backward pass."""

    saved_tensors: tuple[torch.Tensor, ...]
    tile: int


class Winograd(torch.autograd.Function):
    """The autograd function of `convolve`."""

    @staticmethod
    def forward(ctx: WinogradContext, features: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Return the convolution [B, K, H, W] of features [B, C, H, W], 0 outside the board, by weight [K, C, 3, 3]."""
        boards, inputs, height, width = features.shape
        outputs = len(weight)
        tile = ctx.tile = best_tile(height, width)
        filters = filter_transform(tile) @ weight.detach().reshape(-1, 9).T  # [P, K * C]
        filters = filters.unflatten(1, (outputs, inputs))  # [P, K, C]
        out = torch.empty(boards, height, width, outputs).permute(0, 3, 1, 2)
        scratch = scratch_memory(tile, height, width, inputs, outputs)
        forward_filters = filters.mT.contiguous().numpy().reshape(-1)
        kernels.convolve(flat(features), height, width, forward_filters, inputs, tile, *scratch, flat(out))
        ctx.save_for_backward(features, filters)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: WinogradContext, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the gradients of features and weight."""
        features, filters = ctx.saved_tensors
        _, outputs, inputs = filters.shape
        height, width = features.shape[2:]
        dfeatures = torch.empty_like(features)
        dfilters = torch.empty(len(filters), inputs, outputs)
        scratch = scratch_memory(ctx.tile, height, width, inputs, outputs)
        arrays = (flat(for_kernels(gradient, torch.float32)), flat(dfeatures), dfilters.numpy().reshape(-1))
        kernels.convolve_backward(
            flat(features), height, width, filters.numpy().reshape(-1), inputs, ctx.tile, *scratch, *arrays
        )
        dweight = filter_transform(ctx.tile).T @ dfilters.flatten(1)  # [9, C * K]
        return dfeatures, dweight.unflatten(1, (inputs, outputs)).permute(2, 1, 0).reshape(outputs, inputs, 3, 3)


class WinogradScratch(NamedTuple):
    """How many boards the kernels compute at a time, and their memory."""

    chunk: int
    planes: np.ndarray  # float32
    products: np.ndarray  # float32, LANES longer than the products


def scratch_memory(tile: int, height: int, width: int, inputs: int, outputs: int) -> WinogradScratch:
    """Return memory for so many boards that their planes stay in the cache of a core."""
    numbers = math.ceil(height / tile) * math.ceil(width / tile) * kernels.window_size(tile) ** 2
    chunk = max(1, CHUNK_NUMBERS // (numbers * max(inputs, outputs)))
    planes, products = (
        np.empty(chunk * numbers * channels + kernels.LANES, np.float32) for channels in (inputs, outputs)
    )
    return WinogradScratch(chunk, planes, products)
