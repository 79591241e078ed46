"""What training minimises."""

from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F

from alphago.nn.value import Forecast
from alphago.system.validation import as_plain_numbers, check_bool, checks_keywords, is_finite


@checks_keywords()
@dataclass(frozen=True)
class LossWeights:
    """How much each part of the loss counts.

    policy, value: cross-entropy in nats, and squared error of the value in -1 .. 1.
    ownership, score: squared error per point in -1 .. 1, and Huber loss of the margin in tens of points; for networks
        that make a Forecast.
    l2: times the sum of the squares of all parameters.  (The optimizer's weight decay is another thing where it is
        AdamW or Muon: it does not pass through their moments.)
    kl: tells the policy's loss as the Kullback-Leibler divergence of the network's policy from its target, which is
        the cross-entropy less the target's entropy: 0 where they agree, and the same gradient.
    Raises ValueError for a weight below 0 or not finite.
    """

    policy: float = 1.0
    value: float = 1.0
    ownership: float = 0.5
    score: float = 0.3
    l2: float = 0.0
    kl: bool = False

    def __post_init__(self) -> None:
        check_bool("kl", self.kl)
        for name, weight in asdict(self).items():
            if name != "kl" and not (is_finite(weight) and weight >= 0):
                raise ValueError(f"the loss's weight {name} is 0 or more, got {weight!r}")
        as_plain_numbers(self)


# By name.  AlphaGo.jl: (cross-entropy + squared error) / 100 and L2, of all parameters.  cody2007: his cross-entropy is
# averaged over the 49 points of his board too, and his L2 is half a thousandth of the squares.
LOSSES = {
    "default": LossWeights(),
    "alphago-zero": LossWeights(ownership=0.0, score=0.0, l2=1e-4),  # Silver et al. 2017, Methods, "Optimization"
    "alphago.jl": LossWeights(policy=0.01, value=0.01, ownership=0.0, score=0.0, l2=1e-4),
    "cody2007": LossWeights(policy=1 / 49, value=0.025, ownership=0.0, score=0.0, l2=5e-4),
}


class Losses(NamedTuple):
    """Scalars, averaged over the batch; `total` carries the gradient of the others' weighted sum."""

    total: torch.Tensor
    policy: torch.Tensor  # cross-entropy in nats, or divergence
    value: torch.Tensor  # squared error, 0 .. 4


def alphazero_loss(
    logits: torch.Tensor,
    value: torch.Tensor,
    target_policy: torch.Tensor,
    target_value: torch.Tensor,
    weight: torch.Tensor | None = None,
    *,
    weights: LossWeights = LOSSES["default"],
) -> Losses:
    """(z - v)^2 - pi . log p, averaged over the batch (Silver et al. 2017, equation 1).

    The equation's L2 term, which no sample is needed for, is `add_l2_gradient`.

    logits: [B, action_space], before the softmax.  Illegal actions are in it and need no mask: their
        target is 0, so the network learns to leave them out.
    value: [B] (or [B, 1]), -1 .. 1 from the mover's view.
    target_policy: [B, action_space], rows that sum to 1, as a rule the search's visit shares; a row of
        zeros teaches nothing about moves.
    target_value: [B] (or [B, 1]), -1 .. 1 from the mover's view, as a rule the game's result.
    weight: [B], how much each sample counts; the losses are weighted means.  None counts all alike.
    weights: how much policy and value count in `total`, and what the policy's loss is.
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
    if weights.kl:
        policy_each = policy_each + torch.xlogy(target_policy, target_policy).sum(dim=1)
    value_each = (value.float() - target_value).square()
    if weight is None:
        policy_loss, value_loss = policy_each.mean(), value_each.mean()
    else:
        share = weight / weight.sum().clamp_min(1e-12)  # all zero: no loss, no gradient
        policy_loss, value_loss = (share * policy_each).sum(), (share * value_each).sum()
    return Losses(weights.policy * policy_loss + weights.value * value_loss, policy_loss, value_loss)


class ForecastLosses(NamedTuple):
    """Scalars, averaged over the batch."""

    total: torch.Tensor  # weighted
    ownership: torch.Tensor  # squared error per point, 0 .. 4
    score: torch.Tensor  # Huber loss of the margin in tens of points


def forecast_loss(
    forecast: Forecast,
    ownership: torch.Tensor,
    score: torch.Tensor,
    weight: torch.Tensor,
    ended: torch.Tensor | None = None,
    *,
    weights: LossWeights = LOSSES["default"],
) -> ForecastLosses:
    """What a network learns from how a game ended, beside who won it.

    ownership: [B, points], 1 what became the mover's, -1, 0.  score: [B], the mover's margin in points.
    weight: [B], as in `alphazero_loss`.  weights: how much ownership and score count in `total`.
    ended: [B], 0 for positions of games that were resigned, whose ownership and score nobody knows, else 1; None for 1.
    """
    share = weight / weight.sum().clamp_min(1e-12)
    if ended is not None:
        share = share * ended
    owned = (forecast.ownership.float() - ownership).square().mean(dim=1)
    missed = F.huber_loss(forecast.score.float(), score / 10, reduction="none")
    ownership_loss, score_loss = (share * owned).sum(), (share * missed).sum()
    return ForecastLosses(weights.ownership * ownership_loss + weights.score * score_loss, ownership_loss, score_loss)


@torch.no_grad()
def add_l2_gradient(parameters: list[torch.nn.Parameter], l2: float) -> None:
    """Adds the gradient of l2 times the sum of the parameters' squares to theirs, where they have one."""
    pairs = [(parameter.grad, parameter) for parameter in parameters if parameter.grad is not None]
    if l2 and pairs:
        gradients, moved = zip(*pairs, strict=True)
        torch._foreach_add_(gradients, moved, alpha=2 * l2)
