"""Calibration for 8-bit inference: find the ranges of the inputs of a network's convolutions.

Each input of a convolution is rounded to an integer times a step.  The integers are 0 to 255 if no input is negative,
otherwise -128 to 127.  The kernel of each output channel has its own step, and its integers are -127 to 127.  Products
are added exactly (Jacob et al. 2018, "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference", section 2.1).

A kernel's step is determined by its largest weight.  The step of the inputs is determined by the largest input in
positions of random games, in which stones lie closer together than in most positions.  Both are deterministic.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameEnv
from alphago.nn.random_positions import random_planes

CALIBRATION_POINTS = 1600  # approximate number of board points of all calibration positions together
LEAST_POSITIONS = 12  # smallest number of calibration positions
HEADROOM = 1.25  # a range's end divided by the largest input in calibration, since other positions may have larger ones


class Range(NamedTuple):
    """An interval of numbers: -most .. most if `negative`, otherwise 0 .. most."""

    most: float
    negative: bool


@lru_cache(maxsize=16)
def calibration_planes(env: GameEnv) -> torch.Tensor:
    """Return the planes of positions of random games for calibration, float32 [n, planes, height, width]; cached."""
    points = int(np.prod(env.plane_shape))
    return torch.from_numpy(random_planes(env, max(LEAST_POSITIONS, CALIBRATION_POINTS // points)))


def input_ranges(module: fx.GraphModule, planes: torch.Tensor) -> dict[str, Range]:
    """Return the range of the inputs of each convolution to compute in 8 bits, by the convolution's name.

    Three kinds of convolutions are left out: those of 1x1; those whose inputs are all 0; and the first one, which takes
    little time, and whose inputs, the planes, may be any numbers.

    Args:
        module: a network's base, with batch norms folded.
        planes: float32 [n, planes, height, width], the base's inputs.
    """
    ranges: dict[str, Range] = {}

    def widen(name: str, conv: nn.Module, arguments: tuple[torch.Tensor]) -> None:
        """Widen the range of the convolution `name` so that it contains the inputs of a call; `conv` is not used.

        torch calls it before each call of a convolution, with the module and the call's arguments.
        """
        (inputs,) = arguments
        if inputs is not planes:  # the first convolution, which is left out, gets `planes` itself; no other one does
            before = ranges.get(name, Range(most=0.0, negative=False))
            most = HEADROOM * float(inputs.abs().max())
            ranges[name] = Range(max(before.most, most), before.negative or bool(inputs.min() < 0))

    convs = ((name, part) for name, part in module.named_modules() if type(part) is nn.Conv2d)
    hooks = [conv.register_forward_pre_hook(partial(widen, name)) for name, conv in convs if conv.kernel_size != (1, 1)]
    module(planes)
    for hook in hooks:
        hook.remove()
    return {name: span for name, span in ranges.items() if span.most > 0}
