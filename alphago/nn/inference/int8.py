"""Calibration for 8-bit inference: find the ranges of the inputs of a network's convolutions.

Each input of a convolution is rounded to an integer times a step.  The integers are 0 to 255 if no input is negative,
otherwise -128 to 127.  The kernel of each output channel has its own step, and its integers are -127 to 127.  Products
are added exactly (Jacob et al. 2018, "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference", section 2.1).

A kernel's step is determined by its largest weight.  The step of the inputs is determined by the largest input in
positions of random games, in which stones lie closer together than in most positions.  Both are deterministic.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameEnv
from alphago.nn.random_positions import random_planes

POINTS = 1600  # approximate number of board points of all calibration positions together
LEAST = 12  # smallest number of calibration positions
HEADROOM = 1.25  # a range's end divided by the largest input in calibration, since other positions may have larger ones


class Range(NamedTuple):
    """An interval of numbers: -most .. most if `negative`, otherwise 0 .. most."""

    most: float
    negative: bool


@lru_cache(maxsize=16)
def calibration_planes(env: GameEnv) -> torch.Tensor:
    """Return the planes of positions of random games for calibration, float32 [n, planes, height, width]; cached."""
    points = int(np.prod(env.plane_shape))
    return torch.from_numpy(random_planes(env, max(LEAST, POINTS // points)))


class RangeRecorder(fx.Interpreter):
    """An interpreter of a traced module that records the range of each convolution's inputs over all calls.

    1x1 convolutions are left out.  So is the first convolution, which takes little time, and whose inputs, the planes,
    may be any numbers.
    """

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.ranges: dict[str, Range] = {}

    def run_node(self, n: fx.Node) -> object:
        """Compute a node of the graph; if it is a convolution to record, widen its range by its inputs first."""
        reads_planes = any(node.op == "placeholder" for node in n.all_input_nodes)
        if n.op == "call_module" and not reads_planes:
            module = self.fetch_attr(str(n.target))
            if type(module) is nn.Conv2d and module.kernel_size != (1, 1):
                inputs = self.env[n.all_input_nodes[0]]
                before = self.ranges.get(str(n.target), Range(most=0.0, negative=False))
                most = HEADROOM * float(inputs.abs().max())
                negative = bool(inputs.min() < 0)
                self.ranges[str(n.target)] = Range(max(before.most, most), before.negative or negative)
        return super().run_node(n)


def input_ranges(module: fx.GraphModule, planes: torch.Tensor) -> dict[str, Range]:
    """Return the range of each convolution's inputs, by the convolution's name, in a network's base for given planes.

    Convolutions whose inputs are all 0 are left out, and those that RangeRecorder leaves out.

    Args:
        module: the base, with batch norms folded.
        planes: float32 [n, planes, height, width], the base's inputs.
    """
    recorder = RangeRecorder(module)
    recorder.run(planes)
    return {name: span for name, span in recorder.ranges.items() if span.most > 0}
