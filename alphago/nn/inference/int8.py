"""What a network needs to be computed with 8-bit integers: the ranges of the numbers that its convolutions read.

A convolution's inputs become whole multiples of a step, 0 .. 255 of them where none is negative, else -128 .. 127, and
each output channel's kernel those of a step of its own, -127 .. 127; their products are added exactly (Jacob et al.
2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 2.1).  A
kernel's step follows from the kernel; that of the inputs from what they are in positions of random games, whose stones
lie closer together than in most others.  The same network always gets the same steps.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameEnv

POINTS = 1600  # of so many positions together, at least LEAST of them
LEAST = 8
ROOM = 1.25  # times the greatest number in these positions: in others it may be greater


class Range(NamedTuple):
    """Where numbers are: at most `most`, and at least 0, or -most where they may be negative."""

    most: float
    negative: bool


@lru_cache(maxsize=16)
def random_planes(env: GameEnv) -> torch.Tensor:
    """Planes of positions of random games, float32 [n, planes, height, width], the same on every call.

    Each game ends at a ply of its own, of 0 .. twice as many as the board has points, or before its last move.
    """
    generator = np.random.default_rng(1)
    points = int(np.prod(env.plane_shape))
    count = max(LEAST, POINTS // points)
    games, batch = np.arange(count), env.new_batch(count)
    planes = np.zeros((count, env.planes, *env.plane_shape), np.float32)
    ends = generator.integers(0, 2 * points, count)
    for ply in range(int(ends.max()) + 1):
        going = games[ends >= ply]
        going = going[~batch.is_over(going, np.empty(len(going), np.bool_))]
        planes[going] = batch.planes(going, np.empty((len(going), *planes.shape[1:]), np.float32))
        legal = batch.legal_mask(going, np.empty((len(going), env.action_space), np.bool_))
        batch.play(going, (generator.random(legal.shape) * legal).argmax(axis=1))
    return torch.from_numpy(planes)


class Listener(fx.Interpreter):
    """Runs a traced module and keeps the range of what each convolution of more than one point reads, in all calls.

    Not of those that read the module's own input: planes are of any kind, and few.
    """

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.ranges: dict[str, Range] = {}

    def run_node(self, n: fx.Node) -> Any:
        if n.op == "call_module" and not any(node.op == "placeholder" for node in n.all_input_nodes):
            module = self.fetch_attr(str(n.target))
            if type(module) is nn.Conv2d and module.kernel_size != (1, 1):
                inputs, before = self.env[n.all_input_nodes[0]], self.ranges.get(str(n.target), Range(0.0, False))
                most, negative = ROOM * float(inputs.abs().max()), bool(inputs.min() < 0)
                self.ranges[str(n.target)] = Range(max(before.most, most), before.negative or negative)
        return super().run_node(n)


def input_ranges(module: fx.GraphModule, planes: torch.Tensor) -> dict[str, Range]:
    """The ranges for a folded base on these positions, by the convolutions' names; none for those that read only 0."""
    listener = Listener(module)
    listener.run(planes)
    return {name: found for name, found in listener.ranges.items() if found.most > 0}
