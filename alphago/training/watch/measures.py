"""What a gradient step tells about the network: losses, and what they do not say."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from alphago.training.batches import Part, mass

METRICS = (
    "policy_loss", "value_loss", "ownership_loss", "score_loss", "value_correlation", "value_variance",
    "policy_entropy", "target_entropy", "top_move_agreement", "top_probability",
    "gradient_norm",
)  # fmt: skip


class Share(NamedTuple):
    """What the network said to one thread's share of a part of a batch."""

    losses: dict[str, torch.Tensor]  # scalars, each times the part's share of the batch's weight
    logits: torch.Tensor
    value: torch.Tensor


def told_of_batch(parts: Sequence[Part], shares: Sequence[Sequence[Share | None]]) -> dict[str, torch.Tensor]:
    """Mean losses and measurements of a batch, scalars; where it has several parts, of each of them too."""
    count = sum(len(part.value) for part in parts)
    weight = max(sum(mass(part) for part in parts), 1e-12)
    told: dict[str, torch.Tensor] = {}
    apart: dict[str, torch.Tensor] = {}
    for part, of_threads in zip(parts, shares, strict=True):
        said = [share for share in of_threads if share is not None]
        # Losses are the share's of the batch's mean: they count as much as their weights.
        losses = {name: sum_of(share.losses[name] for share in said) for name in said[0].losses}
        logits, value = torch.cat([share.logits for share in said]), torch.cat([share.value for share in said])
        measured = measure(logits, value, torch.as_tensor(part.policy), torch.as_tensor(part.value))
        for name, loss in losses.items():
            told[name] = told.get(name, 0.0) + loss
            apart[f"{name}_{board_of(part)}"] = loss * weight / max(mass(part), 1e-12)
        for name, found in measured.items():
            told[name] = told.get(name, 0.0) + found * len(part.value) / count
            apart[f"{name}_{board_of(part)}"] = found
    return told if len(parts) == 1 else told | apart


def sum_of(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    first, *others = tensors
    return sum(others, start=first)


def board_of(part: Part) -> str:
    """The size of a part's board, as "7x7"."""
    height, width = part.planes.shape[2:]
    return f"{height}x{width}"


@torch.no_grad()
def measure(
    logits: torch.Tensor, value: torch.Tensor, target_policy: torch.Tensor, target_value: torch.Tensor
) -> dict[str, torch.Tensor]:
    """What the losses do not say: correlation of values, entropies in nats, agreement on the best move; float64 []."""
    log_policy = torch.log_softmax(logits, dim=1)
    found = {
        "value_correlation": pearson(value, target_value),
        "policy_entropy": -(log_policy.exp() * log_policy).sum(dim=1).mean(),
        "target_entropy": -torch.xlogy(target_policy, target_policy).sum(dim=1).mean(),
        "value_variance": target_value.var() if len(target_value) > 1 else target_value.new_zeros(()),
        "top_probability": log_policy.amax(dim=1).exp().mean(),
        "top_move_agreement": (logits.argmax(dim=1) == target_policy.argmax(dim=1)).float().mean(),
    }
    return {name: scalar.double() for name, scalar in found.items()}


def pearson(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Pearson's r, float64 []; 0 where one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    norm = (a.norm() * b.norm()).double()
    return torch.where(norm > 1e-12, (a * b).sum() / norm, 0.0)


def in_numbers(scalars: Mapping[str, torch.Tensor]) -> dict[str, float]:
    """The scalars as numbers, for which a device is waited for once."""
    return dict(zip(scalars, torch.stack([scalar.double() for scalar in scalars.values()]).tolist(), strict=True))


def mean_metrics(rows: Iterable[dict[str, float]]) -> dict[str, float | None]:
    """The mean of each metric over the steps that have it; None for those of METRICS that no step has."""
    rows = list(rows)
    names = dict.fromkeys([*METRICS, *(name for row in rows for name in row)])
    told = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in told.items()}
