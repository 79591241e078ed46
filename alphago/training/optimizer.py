"""The optimizers: Muon for convolutions with AdamW for everything else, AdamW, and momentum SGD."""

from collections.abc import Callable, Iterable
from typing import Any

import torch

BETAS = (0.9, 0.99)
SGD_MOMENTUM = 0.9  # Silver et al. 2017, Methods; AlphaGo.jl and cody2007 too
MOMENTUM = 0.95  # Muon's
MUON_RATE = 2.5  # times AdamW's learning rate
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024: singular values end between 0.7 and 1.2
NEWTON_SCHULZ_STEPS = 5

Moving = list[tuple[torch.nn.Parameter, torch.Tensor]]  # kernels with their gradients


class MuonAdamW(torch.optim.AdamW):
    """AdamW, but convolution kernels move by their orthogonalised momentum (Muon).

    Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks") takes Nesterov's
    momentum of a kernel, as a matrix [outputs, inputs * height * width], and replaces its singular values by about
    1 before each step, so that all directions in which a kernel can change learn at one pace.  Its rate is
    MUON_RATE times the learning rate, times sqrt(outputs / inputs) where there are more outputs than inputs.

    Weight decay is as in `decayed`.  Kernels with a single output are AdamW's.
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
        """One step on the gradients as they are."""
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
        """Moves kernels of one shape."""
        for kernel, _ in moving:
            if not self.state[kernel]:
                self.state[kernel]["momentum"] = torch.zeros_like(kernel)
        kernels: list[torch.Tensor] = [kernel for kernel, _ in moving]
        gradients = [gradient for _, gradient in moving]
        momenta = [self.state[kernel]["momentum"] for kernel in kernels]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
        directions = [d.flatten(1) for d in torch._foreach_lerp(gradients, momenta, MOMENTUM)]
        alone = len(directions) == 1  # a product of stacks of one is slower than one of matrices
        turned = [orthogonalised(directions[0])] if alone else orthogonalised(torch.stack(directions)).unbind()
        outputs, inputs = directions[0].shape
        torch._foreach_mul_(kernels, 1 - rate * weight_decay)
        moves = [matrix.reshape(kernel.shape) for matrix, kernel in zip(turned, kernels, strict=True)]
        torch._foreach_add_(kernels, moves, alpha=-rate * max(1.0, outputs / inputs) ** 0.5)


def moved_together(moving: Moving) -> list[Moving]:
    """Kernels in parts: each alone on a CPU; on a GPU, which many small products keep waiting, all of one shape."""
    parts: dict[Any, Moving] = {}
    for number, (kernel, gradient) in enumerate(moving):
        parts.setdefault(tuple(kernel.shape) if kernel.is_cuda else number, []).append((kernel, gradient))
    return list(parts.values())


def adamw(parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """AdamW (Loshchilov & Hutter 2019)."""
    return torch.optim.AdamW(decayed(parameters, weight_decay), lr=learning_rate, betas=BETAS, fused=True)


def momentum_sgd(
    parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Stochastic gradient descent with momentum, AlphaGo Zero's; weight decay is part of the gradient."""
    return torch.optim.SGD(decayed(parameters, weight_decay), lr=learning_rate, momentum=SGD_MOMENTUM, foreach=True)


# Of parameters, learning rate and weight decay.
MakeOptimizer = Callable[[Iterable[torch.nn.Parameter], float, float], torch.optim.Optimizer]
OPTIMIZERS: dict[str, MakeOptimizer] = {"muon": MuonAdamW, "adamw": adamw, "sgd": momentum_sgd}


def decayed(parameters: Iterable[torch.nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Groups of parameters: weight decay is for convolutions and matrices, not for biases and norms."""
    parameters = list(parameters)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.dim() > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.dim() <= 1], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def is_kernel(parameter: torch.Tensor) -> bool:
    """Whether it is a convolution's kernel with several outputs."""
    return parameter.dim() == 4 and len(parameter) > 1


def orthogonalised(matrices: torch.Tensor) -> torch.Tensor:
    """The matrices [..., m, n] with singular values near 1, by Newton and Schulz's iteration (Jordan et al. 2024)."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    wide = matrices.mT if tall else matrices
    a, b, c = NEWTON_SCHULZ
    x = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x
