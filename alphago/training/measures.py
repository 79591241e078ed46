"""Metrics of gradient steps: the network's losses, and statistics that the losses do not show."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import torch

from alphago.nn.loss import legal_alone
from alphago.training.batches import Batch, to_tensors

STEP_METRICS = (
    "policy_loss",
    "value_loss",
    "ownership_loss",
    "score_loss",
    "value_correlation",
    "value_variance",
    "policy_entropy",
    "target_entropy",
    "top_move_agreement",
    "top_probability",
    "gradient_norm",
)


class Outputs(NamedTuple):
    """The network's outputs for n rows of a batch, computed by one thread.

    Attributes:
        losses: scalars by name, each multiplied by the rows' share of the whole batch's weight.
        logits: [n, A], for A actions.
        value: [n], in the mover's view.
    """

    losses: dict[str, torch.Tensor]
    logits: torch.Tensor
    value: torch.Tensor


def batch_metrics(batch: Batch, outputs: Sequence[Outputs]) -> dict[str, torch.Tensor]:
    """Return the mean losses and the statistics of `measure` over a batch, scalars by name.

    Args:
        outputs: the outputs of each thread for its rows, in the order of the rows.
    """
    # Each thread's losses are scaled by its share of the batch's weight, so their sum is the batch's mean.
    losses = {name: reduce(add, (output.losses[name] for output in outputs)) for name in outputs[0].losses}
    logits = torch.cat([output.logits for output in outputs])
    value = torch.cat([output.value for output in outputs])
    targets = to_tensors(batch)
    return losses | measure(logits, value, targets.policy, targets.value)


@torch.no_grad()
def measure(
    logits: torch.Tensor, value: torch.Tensor, target_policy: torch.Tensor, target_value: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compare the network's outputs with their targets; return statistics, float64 scalars, by name.

    Args:
        logits: [n, A].
        value: [n], in the mover's view.
        target_policy: [n, A]; actions whose target is `alphago.nn.loss.ILLEGAL` are left out.
        target_value: [n], in the mover's view.
    """
    logits, target_policy = legal_alone(logits, target_policy)
    log_policy = torch.log_softmax(logits, dim=1)
    scalars = {
        "value_correlation": pearson(value, target_value),
        "policy_entropy": -(log_policy.exp() * log_policy).sum(dim=1).mean(),
        "target_entropy": -torch.xlogy(target_policy, target_policy).sum(dim=1).mean(),
        "value_variance": target_value.var() if len(target_value) > 1 else target_value.new_zeros(()),
        "top_probability": log_policy.amax(dim=1).exp().mean(),
        "top_move_agreement": (logits.argmax(dim=1) == target_policy.argmax(dim=1)).float().mean(),
    }
    return {name: scalar.double() for name, scalar in scalars.items()}


def pearson(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return Pearson's correlation coefficient of two tensors [n], a float64 scalar; 0 if one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    norm = (a.norm() * b.norm()).double()
    return torch.where(norm > 1e-12, (a * b).sum() / norm, 0.0)


def to_numbers(scalars: Mapping[str, torch.Tensor]) -> dict[str, float]:
    """Return scalar tensors as Python floats, with a single synchronization of their device."""
    values = torch.stack([scalar.double() for scalar in scalars.values()])
    return dict(zip(scalars, values.tolist(), strict=True))


def mean_metrics(rows: Iterable[dict[str, float]]) -> dict[str, float | None]:
    """Return the mean of each metric over the gradient steps that have it.

    The mean of a metric in STEP_METRICS that no step has is None.

    Args:
        rows: the metrics of each step, by name.
    """
    rows = list(rows)
    names = dict.fromkeys([*STEP_METRICS, *(name for row in rows for name in row)])
    columns = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in columns.items()}
