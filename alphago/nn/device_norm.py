"""Batch norm, addition and relu of training on a GPU, in few passes over its memory, as `alphago.nn.passes` on a CPU.

torch reads or writes the features 13 times for a norm with a relu and its gradient, 16 times with an addition; these
kernels do so 10 and 12 times.  A gradient step of a 6 x 96 network spent two fifths of its time there, and three tenths
with these kernels (docs/experiments/39).
"""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from alphago.cuda.backend import find_backend
from alphago.cuda.contract import Backend, BackendMissing, Kernels
from alphago.cuda.kernel_source import Program

PIECE = 8  # channels that a thread reads at once
THREADS = 256  # of a block
BLOCKS = 8 * 132  # of a kernel that makes sums: eight for each multiprocessor of an H100
SHARES = 2048 * 132  # threads of a kernel that makes none: as many as an H100 holds at once
PROGRAM = Program(Path(__file__).parent / "kernels" / "norm.cu", {"PIECE": PIECE, "THREADS": THREADS})


@cache
def kernels_on(device: str) -> tuple[Backend, Kernels] | None:
    """Return the backend "cuda" or "host" and its compiled kernels; None if there is no such backend."""
    try:
        backend = find_backend(device)
        return backend, backend.load(PROGRAM, THREADS)
    except BackendMissing:
        return None


def suits_device(features: torch.Tensor) -> bool:
    """Return whether the kernels read a tensor: bfloat16, [B, C, H, W], not empty, channels-last, on a GPU.

    C must be divisible by PIECE, and a point must have at most THREADS pieces.
    """
    return (
        features.is_cuda
        and features.dtype == torch.bfloat16
        and features.dim() == 4
        and features.shape[1] % PIECE == 0
        and features.shape[1] // PIECE <= THREADS
        and features.is_contiguous(memory_format=torch.channels_last)
        and features.numel() > 0
        and kernels_on("cuda") is not None
    )


class Launcher:
    """Launches the kernels on the present stream of a tensor's device; features: [B, C, H, W], as in `suits_device`."""

    def __init__(self, features: torch.Tensor) -> None:
        self.channels = features.shape[1]
        self.rows = features.numel() // self.channels
        self.pieces = self.channels // PIECE  # of a row, which is a point of a board
        self.lanes = THREADS // self.pieces  # rows of a block at a time
        self.blocks = min(BLOCKS, -(-self.rows // self.lanes))  # rounded up, so that all rows have a block
        self.shares = min(SHARES // self.pieces, self.rows)  # rows of all threads at a time
        self.device = features.device
        self._features = features
        found = kernels_on("cuda" if features.is_cuda else "host")
        assert found is not None
        self._backend, self._kernels = found

    def new(self, *shape: int) -> torch.Tensor:
        """Return uninitialised float32 numbers on the device."""
        return torch.empty(shape, dtype=torch.float32, device=self.device)

    def launch(self, kernel: str, items: int, *arguments: object) -> None:
        """Launch a kernel; tensors become the addresses of their memory, None becomes 0."""
        addresses = [address(argument) for argument in arguments]
        handle = torch.cuda.current_stream(self.device).cuda_stream if self._features.is_cuda else 0
        with torch.cuda.device_of(self._features), self._backend.on_stream(handle):
            self._kernels.launch(kernel, items, *addresses)

    def sums(self, kernel: str, inputs: tuple[object, ...], *numbers: object) -> torch.Tensor:
        """Launch a kernel that makes two sums for each channel, and return those of each block, [blocks, 2, C].

        Args:
            inputs: the kernel's features.
            numbers: its arrays of numbers for each channel.
        """
        partials = self.new(self.blocks, 2, self.channels)
        sizes = (self.rows, self.pieces, self.lanes, self.blocks)
        self.launch(kernel, self.blocks * THREADS, *inputs, *sizes, *numbers, partials)
        return partials

    def of_channels(self, kernel: str, partials: torch.Tensor, *arguments: object) -> None:
        """Launch a kernel that computes numbers for each channel from the blocks' sums, `partials` from `sums`."""
        self.launch(kernel, self.channels * THREADS, partials, self.blocks, self.rows, self.channels, *arguments)

    def pass_over(self, kernel: str, inputs: tuple[object, ...], numbers: torch.Tensor, *outputs: object) -> None:
        """Launch a kernel that computes the features `outputs` from `inputs` and numbers for each channel."""
        sizes = (self.rows, self.pieces, self.shares)
        self.launch(kernel, self.shares * self.pieces, *inputs, *sizes, numbers, *outputs)


def address(argument: object) -> object:
    """Return what a kernel gets for an argument: a tensor's address, 0 for None, a number unchanged."""
    if argument is None:
        return 0
    return argument.data_ptr() if isinstance(argument, torch.Tensor) else argument


class DeviceNormRelu(torch.autograd.Function):
    """The autograd function of `alphago.nn.passes.norm_relu` on a GPU."""

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
        here = Launcher(features)
        statistics = here.new(4, here.channels)  # means, 1 / deviations, scales, shifts
        partials = here.sums("norm_sums", (features,))
        constants = (float(norm.eps), float(norm.momentum or 0.0))  # a norm that suits the kernels has a momentum
        running = (norm.running_mean, norm.running_var)
        here.of_channels("norm_statistics", partials, weight, bias, *constants, statistics, *running)
        out = torch.empty_like(features)
        here.pass_over("norm_relu" if added is None else "norm_add_relu", (features, added), statistics, out)
        ctx.save_for_backward(features, out, weight, statistics)
        ctx.has_added = added is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of the arguments of `forward`, from the gradient of its result; None for `norm`."""
        features, out, weight, statistics = ctx.saved_tensors
        here = Launcher(features)
        like_features = gradient.to(features.dtype).contiguous(memory_format=torch.channels_last)
        inputs = (like_features, out, features)
        factors = here.new(3, here.channels)  # dx = first * (the gradient that the relu passes) + second * x + third
        dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
        partials = here.sums("gradient_sums", inputs, statistics)
        here.of_channels("gradient_factors", partials, weight, statistics, dweight, dbias, factors)
        dx = torch.empty_like(features)
        dadded = torch.empty_like(features) if ctx.has_added else None
        kernel = "norm_add_relu_backward" if ctx.has_added else "norm_relu_backward"
        here.pass_over(kernel, inputs, factors, dx, dadded)
        return dx, dadded, dweight, dbias, None
