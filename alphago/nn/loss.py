"""What training minimises."""

from typing import NamedTuple

import torch
import torch.nn.functional as F

from alphago.nn.value import Forecast


class Losses(NamedTuple):
    """Scalars, averaged over the batch; `total` carries the gradient of the others' weighted sum."""

    total: torch.Tensor
    policy: torch.Tensor  # cross-entropy in nats
    value: torch.Tensor  # squared error, 0 .. 4


def alphazero_loss(
    logits: torch.Tensor,
    value: torch.Tensor,
    target_policy: torch.Tensor,
    target_value: torch.Tensor,
    weight: torch.Tensor | None = None,
    *,
    value_weight: float = 1.0,
) -> Losses:
    """(z - v)^2 - pi . log p, averaged over the batch (Silver et al. 2017, equation 1).

    The equation's L2 term is the optimizer's weight decay.

    logits: [B, action_space], before the softmax.  Illegal actions are in it and need no mask: their
        target is 0, so the network learns to leave them out.
    value: [B] (or [B, 1]), -1 .. 1 from the mover's view.
    target_policy: [B, action_space], rows that sum to 1, as a rule the search's visit shares; a row of
        zeros teaches nothing about moves.
    target_value: [B] (or [B, 1]), -1 .. 1 from the mover's view, as a rule the game's result.
    weight: [B], how much each sample counts; the losses are weighted means.  None counts all alike.
    value_weight: what (z - v)^2 is multiplied by in the total.
    Raises ValueError for shapes that do not agree.
    """
    value, target_value = value.flatten(), target_value.flatten()
    batch = logits.shape[:1]
    if target_policy.shape != logits.shape or logits.dim() != 2:
        raise ValueError(f"logits {list(logits.shape)} and target_policy {list(target_policy.shape)} differ")
    for name, given in (("value", value), ("target_value", target_value), ("weight", weight)):
        if given is not None and given.shape != batch:
            raise ValueError(f"{name} has shape {list(given.shape)}, wanted {list(batch)}")
    policy_each = -(target_policy * F.log_softmax(logits.float(), dim=1)).sum(dim=1)
    value_each = (value.float() - target_value).square()
    if weight is None:
        policy_loss, value_loss = policy_each.mean(), value_each.mean()
    else:
        share = weight / weight.sum().clamp_min(1e-12)  # all zero: no loss, no gradient
        policy_loss, value_loss = (share * policy_each).sum(), (share * value_each).sum()
    return Losses(policy_loss + value_weight * value_loss, policy_loss, value_loss)


class ForecastLosses(NamedTuple):
    """Scalars, averaged over the batch."""

    total: torch.Tensor  # weighted as below
    ownership: torch.Tensor  # squared error per point, 0 .. 4
    score: torch.Tensor  # Huber loss of the margin in tens of points


OWNERSHIP_WEIGHT, SCORE_WEIGHT = 0.5, 0.3


def forecast_loss(
    forecast: Forecast, ownership: torch.Tensor, score: torch.Tensor, weight: torch.Tensor
) -> ForecastLosses:
    """What a network learns from how a game ended, beside who won it.

    ownership: [B, points], 1 what became the mover's, -1, 0.  score: [B], the mover's margin in points.
    weight: [B], as in `alphazero_loss`.
    """
    share = weight / weight.sum().clamp_min(1e-12)
    owned = (forecast.ownership.float() - ownership).square().mean(dim=1)
    missed = F.huber_loss(forecast.score.float(), score / 10, reduction="none")
    ownership_loss, score_loss = (share * owned).sum(), (share * missed).sum()
    return ForecastLosses(OWNERSHIP_WEIGHT * ownership_loss + SCORE_WEIGHT * score_loss, ownership_loss, score_loss)
