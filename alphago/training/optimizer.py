"""The optimizer: Muon for convolutions, AdamW for everything else."""

from collections.abc import Iterable
from typing import Any

import torch

BETAS = (0.9, 0.99)
MOMENTUM = 0.95
MUON_RATE = 2.5  # times AdamW's learning rate
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024: singular values end between 0.7 and 1.2
NEWTON_SCHULZ_STEPS = 5


class MuonAdamW(torch.optim.AdamW):
    """AdamW, but convolution kernels move by their orthogonalised momentum (Muon).

    Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks") takes Nesterov's
    momentum of a kernel, as a matrix [outputs, inputs * height * width], and replaces its singular values by about
    1 before each step, so that all directions in which a kernel can change learn at one pace.  Its rate is
    MUON_RATE times the learning rate, times sqrt(outputs / inputs) where there are more outputs than inputs.

    Weight decay is for what has more than one dimension: convolutions and matrices, not biases and norms.
    Kernels with a single output are AdamW's.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float) -> None:
        kernels: list[torch.nn.Parameter] = []
        matrices: list[torch.nn.Parameter] = []
        others: list[torch.nn.Parameter] = []
        for parameter in parameters:
            kind = kernels if is_kernel(parameter) else matrices if parameter.dim() > 1 else others
            kind.append(parameter)
        groups: list[dict[str, Any]] = [
            {"params": kernels, "weight_decay": weight_decay, "muon": True},
            {"params": matrices, "weight_decay": weight_decay, "muon": False},
            {"params": others, "weight_decay": 0.0, "muon": False},
        ]
        super().__init__([group for group in groups if group["params"]], lr=learning_rate, betas=BETAS, fused=True)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One step on the gradients as they are."""
        hidden: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        for group in self.param_groups:
            for kernel in group["params"] if group["muon"] else ():
                if kernel.grad is not None:
                    self._move(kernel, kernel.grad, MUON_RATE * group["lr"], group["weight_decay"])
                    hidden.append((kernel, kernel.grad))
                    kernel.grad = None  # AdamW leaves it alone
        super().step()
        for kernel, gradient in hidden:
            kernel.grad = gradient

    def _move(self, kernel: torch.nn.Parameter, gradient: torch.Tensor, rate: float, weight_decay: float) -> None:
        state = self.state[kernel]
        if not state:
            state["momentum"] = torch.zeros_like(kernel)
        state["momentum"].lerp_(gradient, 1 - MOMENTUM)
        direction = gradient.lerp(state["momentum"], MOMENTUM).flatten(1)
        outputs, inputs = direction.shape
        kernel.mul_(1 - rate * weight_decay)
        kernel.add_(orthogonalised(direction).view(kernel.shape), alpha=-rate * max(1.0, outputs / inputs) ** 0.5)


def is_kernel(parameter: torch.Tensor) -> bool:
    """Whether it is a convolution's kernel with several outputs."""
    return parameter.dim() == 4 and len(parameter) > 1


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """The matrix [m, n] with singular values near 1, by Newton and Schulz's iteration (Jordan et al. 2024)."""
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    a, b, c = NEWTON_SCHULZ
    x = wide / (wide.norm() + 1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if wide is not matrix else x
