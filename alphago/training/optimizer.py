"""Optimizers (Muon with AdamW, AdamW, momentum SGD), and schedules of the learning rate over a run."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import torch

BETAS = (0.9, 0.99)
SGD_MOMENTUM = 0.9  # Silver et al. 2017, Methods; AlphaGo.jl and cody2007 too
MOMENTUM = 0.95  # Muon's
MUON_RATE = 2.5  # times AdamW's learning rate
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024: singular values end between 0.7 and 1.2
NEWTON_SCHULZ_STEPS = 5

LAST_SHARE = 0.05  # share of the learning rate that is left at the end of a cosine
# Silver et al. 2017, Methods: 0.01, then 0.001 and 0.0001 after 400 000 and 600 000 of 700 000 steps.
ALPHAGO_ZERO = ((4 / 7, 0.1), (6 / 7, 0.01))
Steps = tuple[tuple[float, float], ...]  # (progress, factor from there on), in order

Moving = list[tuple[torch.nn.Parameter, torch.Tensor]]  # pairs of a kernel and its gradient


class MuonAdamW(torch.optim.AdamW):
    """AdamW, except that convolution kernels move by their orthogonalised momentum (Muon).

    Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks") takes the Nesterov momentum of
    a kernel, as a matrix [outputs, inputs * height * width], and replaces its singular values by about 1 before each
    step, so that all directions in which a kernel can change learn equally fast. Its rate is MUON_RATE times the
    learning rate, times sqrt(outputs / inputs) if there are more outputs than inputs. Weight decay is as in `decayed`.
    Kernels with a single output are moved by AdamW.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> None:
        parameters = list(parameters)
        kernels = [parameter for parameter in parameters if is_kernel(parameter)]
        others = [parameter for parameter in parameters if not is_kernel(parameter)]
        groups = [group | {"muon": True} for group in decayed(kernels, weight_decay)]
        groups += [group | {"muon": False} for group in decayed(others, weight_decay)]
        super().__init__(groups, lr=learning_rate, betas=BETAS, fused=True)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one step by the parameters' present gradients."""
        hidden: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        for group in self.param_groups:
            moving = [(kernel, kernel.grad) for kernel in group["params"] if group["muon"] and kernel.grad is not None]
            for part in moved_together(moving):
                self._move(part, MUON_RATE * group["lr"], group["weight_decay"])
            hidden += moving
        for kernel, _ in hidden:
            kernel.grad = None  # AdamW leaves it alone
        super().step()
        for kernel, gradient in hidden:
            kernel.grad = gradient

    def _move(self, moving: Moving, rate: float, weight_decay: float) -> None:
        """Move kernels of one shape, in place, by their orthogonalised momenta."""
        for kernel, _ in moving:
            if not self.state[kernel]:
                self.state[kernel]["momentum"] = torch.zeros_like(kernel)
        kernels: list[torch.Tensor] = [kernel for kernel, _ in moving]
        gradients = [gradient for _, gradient in moving]
        momenta = [self.state[kernel]["momentum"] for kernel in kernels]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
        directions = [d.flatten(1) for d in torch._foreach_lerp(gradients, momenta, MOMENTUM)]
        alone = len(directions) == 1  # for one matrix a batched product is slower
        turned = [orthogonalised(directions[0])] if alone else orthogonalised(torch.stack(directions)).unbind()
        outputs, inputs = directions[0].shape
        torch._foreach_mul_(kernels, 1 - rate * weight_decay)
        moves = [matrix.reshape(kernel.shape) for matrix, kernel in zip(turned, kernels, strict=True)]
        torch._foreach_add_(kernels, moves, alpha=-rate * max(1.0, outputs / inputs) ** 0.5)


def moved_together(moving: Moving) -> list[Moving]:
    """Return kernels in groups to move in one call: each alone on a CPU; those of one shape on a GPU."""
    parts: dict[Any, Moving] = {}
    for number, (kernel, gradient) in enumerate(moving):
        parts.setdefault(tuple(kernel.shape) if kernel.is_cuda else number, []).append((kernel, gradient))
    return list(parts.values())


def adamw(parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """Return AdamW (Loshchilov & Hutter 2019)."""
    return torch.optim.AdamW(decayed(parameters, weight_decay), lr=learning_rate, betas=BETAS, fused=True)


def momentum_sgd(
    parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Return AlphaGo Zero's stochastic gradient descent with momentum; weight decay is added to the gradient."""
    return torch.optim.SGD(decayed(parameters, weight_decay), lr=learning_rate, momentum=SGD_MOMENTUM, foreach=True)


# (parameters, learning rate, weight decay) -> optimizer
MakeOptimizer = Callable[[Iterable[torch.nn.Parameter], float, float], torch.optim.Optimizer]
OPTIMIZERS: dict[str, MakeOptimizer] = {"muon": MuonAdamW, "adamw": adamw, "sgd": momentum_sgd}


def decayed(parameters: Iterable[torch.nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Return parameter groups: with weight decay for convolutions and matrices, without for biases and norms."""
    parameters = list(parameters)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.dim() > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.dim() <= 1], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def is_kernel(parameter: torch.Tensor) -> bool:
    """Return whether a parameter is the kernel of a convolution with several outputs."""
    return parameter.dim() == 4 and len(parameter) > 1


def orthogonalised(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices [..., m, n] with singular values moved near 1 by Newton-Schulz steps (Jordan et al. 2024)."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    wide = matrices.mT if tall else matrices
    a, b, c = NEWTON_SCHULZ
    x = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


def cosine(progress: float) -> float:
    """Return the learning rate's factor on a cosine from 1 to LAST_SHARE (Loshchilov & Hutter 2017, no restarts)."""
    return LAST_SHARE + (1 - LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * progress))


def constant(progress: float) -> float:
    """Return the learning rate's factor, always 1."""
    return 1.0


SCHEDULES: dict[str, Callable[[float], float]] = {
    "cosine": cosine,
    "steps": lambda progress: stepped(ALPHAGO_ZERO, progress),
    "constant": constant,
}


def rate_factor(schedule: str | Steps, progress: float) -> float:
    """Return the factor of the learning rate at `progress` (clipped to 0 .. 1) of the run.

    schedule: a name of SCHEDULES, or steps as `check_schedule` returns them.
    """
    progress = min(max(progress, 0.0), 1.0)
    return SCHEDULES[schedule](progress) if isinstance(schedule, str) else stepped(schedule, progress)


def stepped(steps: Steps, progress: float) -> float:
    """Return the factor of the last step that `progress` has reached; 1 before the first."""
    return next((share for begin, share in reversed(steps) if progress >= begin), 1.0)


def check_schedule(schedule: object) -> str | Steps:
    """Return a schedule as settings keep it: a name or a tuple of steps; raise ValueError for anything else."""
    if isinstance(schedule, str):
        if schedule in SCHEDULES:
            return schedule
    elif isinstance(schedule, Sequence) and all(is_step(step) for step in schedule):
        steps = tuple((float(begin), float(share)) for begin, share in schedule)
        if all(one[0] < other[0] for one, other in pairwise(steps)):
            return steps
    raise ValueError(
        f"schedule must be {', '.join(map(repr, SCHEDULES))}, or pairs (progress from 0 to 1, factor >= 0) with rising "
        f"progress, got {schedule!r}"
    )


def is_step(step: object) -> bool:
    """Return whether an object is a step of a schedule: a pair of a progress, 0 to 1, and a factor >= 0."""
    if not isinstance(step, Sequence) or len(step) != 2 or not all(isinstance(number, Real) for number in step):
        return False
    return bool(0 <= step[0] <= 1 and 0 <= step[1] < math.inf)
