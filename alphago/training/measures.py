"""Measure the network in a gradient step: its losses, and statistics that the losses do not show."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from alphago.nn.loss import legal_alone
from alphago.training.batches import Part, weight_sum

METRICS = (
    "policy_loss", "value_loss", "ownership_loss", "score_loss", "value_correlation", "value_variance",
    "policy_entropy", "target_entropy", "top_move_agreement", "top_probability",
    "gradient_norm",
)  # fmt: skip


class Outputs(NamedTuple):
    """The network's outputs for n rows of a batch part, computed by one thread.

    losses: scalars by name, each multiplied by the rows' share of the whole batch's weight.
    logits: [n, A], for A actions.  value: [n], in the mover's view.
    """

    losses: dict[str, torch.Tensor]
    logits: torch.Tensor
    value: torch.Tensor


def batch_metrics(parts: Sequence[Part], outputs: Sequence[Sequence[Outputs | None]]) -> dict[str, torch.Tensor]:
    """Return the mean losses and the statistics of `measure` over a batch, scalars by name.

    If the batch has several parts, also return the metrics of each part, named by its board: `value_loss_7x7`.

    parts: the batch's positions, one part per board size; see batches.py.
    outputs: `outputs[p][t]` is the output of thread t for its rows of part p, None if it had no rows.
    """
    count = sum(len(part.value) for part in parts)
    weight = max(sum(weight_sum(part) for part in parts), 1e-12)
    metrics: dict[str, torch.Tensor] = {}
    apart: dict[str, torch.Tensor] = {}
    for part, of_threads in zip(parts, outputs, strict=True):
        own = [output for output in of_threads if output is not None]
        # Each thread's losses are scaled by its share of the batch's weight, so their sum is the batch's mean.
        losses = {name: add_up(output.losses[name] for output in own) for name in own[0].losses}
        logits, value = torch.cat([output.logits for output in own]), torch.cat([output.value for output in own])
        measured = measure(logits, value, torch.as_tensor(part.policy), torch.as_tensor(part.value))
        for name, loss in losses.items():
            metrics[name] = metrics.get(name, 0.0) + loss
            apart[f"{name}_{board_of(part)}"] = loss * weight / max(weight_sum(part), 1e-12)
        for name, scalar in measured.items():
            metrics[name] = metrics.get(name, 0.0) + scalar * len(part.value) / count
            apart[f"{name}_{board_of(part)}"] = scalar
    return metrics if len(parts) == 1 else metrics | apart


def add_up(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return the sum of one or more tensors."""
    first, *others = tensors
    return sum(others, start=first)


def board_of(part: Part) -> str:
    """Return the board size of a batch part, such as "7x7"."""
    height, width = part.planes.shape[2:]
    return f"{height}x{width}"


@torch.no_grad()
def measure(
    logits: torch.Tensor, value: torch.Tensor, target_policy: torch.Tensor, target_value: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compare logits [n, A] and values [n] with their targets; return measurements, float64 scalars, by name.

    Values and their targets are in the view of the player to move.
    Actions that the targets leave out (`alphago.nn.loss.ILLEGAL`) are left out here too.
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
    return dict(zip(scalars, torch.stack([scalar.double() for scalar in scalars.values()]).tolist(), strict=True))


def mean_metrics(rows: Iterable[dict[str, float]]) -> dict[str, float | None]:
    """Return the mean of each metric over gradient steps.

    rows: the metrics of each step.  A step that lacks a metric is left out of that metric's mean.  The mean of a name
        in METRICS that all steps lack is None.
    """
    rows = list(rows)
    names = dict.fromkeys([*METRICS, *(name for row in rows for name in row)])
    columns = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in columns.items()}
