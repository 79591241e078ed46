"""Optimizers (Muon with AdamW, AdamW, SGD with momentum) and schedules of the learning rate over a run."""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import torch

from alphago.system.validation import check_float

BETAS = (0.9, 0.99)
SGD_MOMENTUM = 0.9  # Silver et al. 2017, Methods; also in AlphaGo.jl and cody2007's code
MOMENTUM = 0.95  # momentum of Muon
MUON_RATE = 2.5  # Muon's learning rate divided by AdamW's
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024; moves singular values to 0.7 .. 1.2
NEWTON_SCHULZ_STEPS = 5

LAST_SHARE = 0.05  # factor of the learning rate at the end of the cosine schedule
# Silver et al. 2017, Methods: 0.01, then 0.001 and 0.0001 after 400 000 and 600 000 of 700 000 steps.
ALPHAGO_ZERO = ((4 / 7, 0.1), (6 / 7, 0.01))
Steps = tuple[tuple[float, float], ...]  # of a schedule: pairs (progress, factor from this progress on), in order
Schedule = Callable[[float], float]  # from a run's progress, 0 .. 1, to the learning rate's factor

KernelGradients = list[tuple[torch.nn.Parameter, torch.Tensor]]  # pairs of a convolution kernel and its gradient


class MuonAdamW(torch.optim.AdamW):
    """Muon for convolution kernels, AdamW for all other parameters.

    Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks") reshapes a kernel's Nesterov
    momentum to a matrix [outputs, inputs * height * width], replaces its singular values by about 1, and uses the
    result as the step's direction.  The step size is MUON_RATE times the learning rate, times sqrt(rows / columns) of
    the matrix if it has more rows than columns.  Kernels with a single output are optimized by AdamW.

    Args:
        weight_decay: as in `decay_groups`.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> None:
        parameters = list(parameters)
        kernels = [parameter for parameter in parameters if is_kernel(parameter)]
        others = [parameter for parameter in parameters if not is_kernel(parameter)]
        groups = [group | {"muon": True} for group in decay_groups(kernels, weight_decay)]
        groups += [group | {"muon": False} for group in decay_groups(others, weight_decay)]
        super().__init__(groups, lr=learning_rate, betas=BETAS, fused=True, capturable=on_gpu(parameters))

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one step with the parameters' current gradients; `closure` is not supported."""
        updated: KernelGradients = []
        for group in self.param_groups:
            if group["muon"]:
                pairs = [(kernel, kernel.grad) for kernel in group["params"] if kernel.grad is not None]
                for same_shape in group_by_shape(pairs):
                    self._update_kernels(same_shape, MUON_RATE * group["lr"], group["weight_decay"])
                updated += pairs
        for kernel, _ in updated:
            kernel.grad = None  # AdamW skips parameters without a gradient
        super().step()
        for kernel, gradient in updated:
            kernel.grad = gradient

    def _update_kernels(self, pairs: KernelGradients, rate: float | torch.Tensor, weight_decay: float) -> None:
        """Update kernels of one shape in place by their orthogonalised momenta.

        pairs: the kernels and their gradients.
        rate: MUON_RATE times the learning rate; a tensor on a GPU, whose CUDA graphs are captured once for all rates.
        """
        for kernel, _ in pairs:
            if not self.state[kernel]:
                self.state[kernel]["momentum"] = torch.zeros_like(kernel)
        kernels: list[torch.Tensor] = [kernel for kernel, _ in pairs]
        gradients = [gradient for _, gradient in pairs]
        momenta = [self.state[kernel]["momentum"] for kernel in kernels]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
        # Nesterov's momenta: (1 - MOMENTUM) gradient + MOMENTUM momentum.
        nesterov = torch._foreach_lerp(gradients, momenta, MOMENTUM)
        matrices = [momentum.flatten(1) for momentum in nesterov]  # [outputs, inputs * height * width]
        if len(matrices) == 1:  # a batched matrix product is slower for a single matrix
            directions = [orthogonalise(matrices[0])]
        else:
            directions = list(orthogonalise(torch.stack(matrices)).unbind())
        rows, columns = matrices[0].shape
        torch._foreach_mul_(kernels, 1 - rate * weight_decay)
        moves = [direction.reshape(kernel.shape) for direction, kernel in zip(directions, kernels, strict=True)]
        step_size = rate * max(1.0, rows / columns) ** 0.5
        if isinstance(step_size, torch.Tensor):  # then `alpha` below cannot be used, which must be a number
            torch._foreach_sub_(kernels, torch._foreach_mul(moves, step_size))
        else:
            torch._foreach_add_(kernels, moves, alpha=-step_size)


def on_gpu(parameters: Sequence[torch.nn.Parameter]) -> bool:
    """Return whether any parameter is on a GPU."""
    return any(parameter.is_cuda for parameter in parameters)


def group_by_shape(pairs: KernelGradients) -> list[KernelGradients]:
    """Group kernels on a GPU by their shapes; on a CPU, where this is no faster, each kernel is a group of its own."""
    groups: dict[Any, KernelGradients] = {}
    for number, (kernel, gradient) in enumerate(pairs):
        key = tuple(kernel.shape) if kernel.is_cuda else number
        groups.setdefault(key, []).append((kernel, gradient))
    return list(groups.values())


def adamw(parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """Return an AdamW optimizer (Loshchilov & Hutter 2019), with weight decay as in `decay_groups`."""
    parameters = list(parameters)
    groups = decay_groups(parameters, weight_decay)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=BETAS, fused=True, capturable=on_gpu(parameters))


def momentum_sgd(
    parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Return SGD with momentum, as in AlphaGo Zero; weight decay, as in `decay_groups`, is added to the gradient."""
    groups = decay_groups(parameters, weight_decay)
    return torch.optim.SGD(groups, lr=learning_rate, momentum=SGD_MOMENTUM, foreach=True)


# (parameters, learning rate, weight decay) -> optimizer
MakeOptimizer = Callable[[Iterable[torch.nn.Parameter], float, float], torch.optim.Optimizer]
OPTIMIZERS: dict[str, MakeOptimizer] = {"muon": MuonAdamW, "adamw": adamw, "sgd": momentum_sgd}


def decay_groups(parameters: Iterable[torch.nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Split parameters into two groups: matrices and convolutions with weight decay, biases and norms without decay.

    A group without parameters is left out.
    """
    parameters = list(parameters)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.dim() > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.dim() <= 1], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def slow_down_dense(optimizer: torch.optim.Optimizer, share: float) -> None:
    """Give the weights of dense layers groups of their own in the optimizer, in place, with `share` as an entry.

    The learner multiplies the learning rate of such a group by `share`.

    The reason: Adam moves every weight by about the learning rate.  The inputs of a dense layer after a relu are all
    positive, so a step moves a unit's output by the learning rate times the sum of the inputs.  While targets are
    hardly predictable, steps are noise.  At the rate that kernels need, some hundred such steps move every unit below 0
    for all positions.  The unit then stays below 0, since relu has no gradient there.
    """
    for group in list(optimizer.param_groups):
        dense = [parameter for parameter in group["params"] if parameter.dim() == 2]
        if dense:
            group["params"] = [parameter for parameter in group["params"] if parameter.dim() != 2]
            optimizer.add_param_group({**group, "params": dense, "share": share})


def is_kernel(parameter: torch.Tensor) -> bool:
    """Return whether a parameter is the kernel of a convolution with several outputs."""
    return parameter.dim() == 4 and len(parameter) > 1


def orthogonalise(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices [..., m, n] with their singular values moved close to 1.

    The method is the Newton-Schulz iteration of Jordan et al. 2024.
    """
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    wide = matrices.mT if is_tall else matrices  # so that the product `gram` is small
    a, b, c = NEWTON_SCHULZ
    x = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)  # singular values of at most 1; no division by 0
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if is_tall else x


def cosine(progress: float) -> float:
    """Return the learning rate's factor, a cosine from 1 to LAST_SHARE (Loshchilov & Hutter 2017, without restarts).

    Args:
        progress: the run's progress, 0 .. 1.
    """
    return LAST_SHARE + (1 - LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * progress))


SCHEDULES: dict[str, Steps | Schedule] = {"cosine": cosine, "steps": ALPHAGO_ZERO, "constant": ()}


def rate_factor(schedule: str | Steps | Schedule, progress: float) -> float:
    """Return the learning rate's factor at a run's progress, which is clipped to 0 .. 1.

    Args:
        schedule: a name in SCHEDULES, or a function or steps from `check_schedule`.
    """
    progress = min(max(progress, 0.0), 1.0)
    chosen = SCHEDULES[schedule] if isinstance(schedule, str) else schedule
    if isinstance(chosen, tuple):  # the factor of the last step that has begun; 1 before the first
        return next((factor for begin, factor in reversed(chosen) if progress >= begin), 1.0)
    factor = chosen(progress)
    if not 0 <= factor < math.inf:
        raise ValueError(f"schedule must give a factor >= 0, got {factor} at progress {progress:g}")
    return factor


def check_schedule(schedule: object) -> str | Steps | Schedule:
    """Return the setting `schedule`: a name, a function, or steps, which become tuples.

    Raises:
        ValueError: for anything else.
    """
    if callable(schedule) and hasattr(schedule, "__qualname__"):  # a run's config.json has the function's name
        return schedule
    if isinstance(schedule, str) and schedule in SCHEDULES:
        return schedule
    if isinstance(schedule, Sequence) and not isinstance(schedule, str):
        with suppress(TypeError, ValueError):  # raised for anything but pairs of numbers
            # At progress `at` the learning rate is multiplied by `by`.
            steps = tuple((check_float("progress", at, 0, 1), check_float("factor", by, 0)) for at, by in schedule)
            progresses = [progress for progress, _ in steps]
            if all(earlier < later for earlier, later in pairwise(progresses)):
                return steps
    raise ValueError(
        f"schedule must be {', '.join(map(repr, SCHEDULES))}, or pairs (progress from 0 to 1, factor >= 0) with rising "
        f"progress, or a function, got {schedule!r}"
    )
