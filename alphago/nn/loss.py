"""The losses of training."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F

from alphago.nn.value import POINTS_PER_SCORE_UNIT, Forecast
from alphago.system.validation import check_ranges, setting, settings


@settings
class LossWeights:
    """The weight of each term of the loss."""

    policy: float = setting("weight of the policy's cross-entropy, in nats", default=1.0, path_only=True)
    value: float = setting("weight of the squared error of the value, -1 .. 1", default=1.0)
    ownership: float = setting(
        "weight of the mean squared error of the points' owners, -1 .. 1, if the network predicts them", default=0.5
    )
    score: float = setting(
        "weight of the Huber loss of the margin, in tens of points, if the network predicts it", default=0.3
    )
    l2: float = setting(
        "weight of the sum of the squares of all parameters; unlike the optimizer's weight decay in AdamW and Muon, "
        "its gradient passes through the optimizer's moments",
        default=0.0,
        path_only=True,
    )
    log_sum: float = setting(
        "weight of the square of the logarithm of the sum of exp(logits), which keeps logits near 0 (the z-loss of "
        "Chowdhery et al. 2022, PaLM, section 5).  The softmax does not depend on what all logits have in common, so "
        "without it this part may drift away until bfloat16 is too coarse for the differences.  Training leaves it out "
        "for policy heads in which nothing drifts",
        default=1e-4,
        path_only=True,
    )
    kl: bool = setting(
        "whether the policy's loss is the Kullback-Leibler divergence of the network's policy from the target instead "
        "of the cross-entropy; it is 0 for equal policies, and has the cross-entropy's gradient",
        default=False,
        path_only=True,
    )
    masked: bool = setting(
        "whether to leave illegal actions out of the policy's softmax, as search does (CGZero); otherwise the network "
        "learns that illegal actions are never played",
        default=False,
        path_only=True,
    )

    def __post_init__(self) -> None:
        check_ranges(self, "the loss's weight ")


# AlphaGo.jl: (cross-entropy + squared error) / 100, and L2 of all parameters.  cody2007: the cross-entropy is divided
# by the board's 49 points, and L2 is 0.0005 times the sum of squares.  CGZero (marchete/CGZero): divergence over legal
# moves plus squared error, with equal weights and without L2.
LOSSES = {
    "default": LossWeights(),
    "alphago-zero": LossWeights(ownership=0.0, score=0.0, l2=1e-4, log_sum=0.0),  # Silver et al. 2017, Methods
    "alphago.jl": LossWeights(policy=0.01, value=0.01, ownership=0.0, score=0.0, l2=1e-4, log_sum=0.0),
    "cody2007": LossWeights(policy=1 / 49, value=0.025, ownership=0.0, score=0.0, l2=5e-4, log_sum=0.0),
    "cgzero": LossWeights(ownership=0.0, score=0.0, log_sum=0.0, kl=True, masked=True),
}

ILLEGAL = -1.0  # entry of a target policy for an action to leave out of the softmax, unlike 0, a probability
# Logit of an action to leave out.  Its exponential is 0; it is finite, so that its product with a target of 0 is 0 too.
LEFT_OUT = -1e9


class Losses(NamedTuple):
    """Scalar losses, averaged over the batch."""

    total: torch.Tensor  # the weighted sum of `policy`, `value` and the `log_sum` term, to call `backward` on
    policy: torch.Tensor  # cross-entropy in nats, or Kullback-Leibler divergence with `LossWeights.kl`
    value: torch.Tensor  # squared error, 0 .. 4


# (logits, value, target_policy, target_value, weight) -> Losses, with tensors as in `alphazero_loss`
LossFunction = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Losses]


def alphazero_loss(
    logits: torch.Tensor,
    value: torch.Tensor,
    target_policy: torch.Tensor,
    target_value: torch.Tensor,
    weight: torch.Tensor | None = None,
    *,
    weights: LossWeights = LOSSES["default"],
) -> Losses:
    """Return AlphaGo Zero's loss (z - v)^2 - pi . log p, averaged over the batch (Silver et al. 2017, equation 1).

    `add_l2_gradient` adds the gradient of the equation's L2 term.

    Args:
        logits: [B, action_space], before the softmax.  Illegal actions need no mask: their target is 0, so the network
            learns to leave them out.  With `weights.masked`, the softmax leaves out actions whose target is ILLEGAL.
        value: [B] or [B, 1], -1 .. 1, from the view of the player about to move.
        target_policy: [B, action_space], probabilities, usually the search's shares of visits; with `weights.masked`
            also ILLEGAL.  A row of zeros gives no policy loss.
        target_value: [B] or [B, 1], -1 .. 1, from the view of the player about to move, usually the game's result.
        weight: [B], the weight of each sample in the means over the batch; None for equal weights.
        weights: the settings of the loss itself.  `policy`, `value` and `log_sum` are factors of the loss's terms in
            `total`; `kl` and `masked` choose the form of the policy's loss.

    Raises:
        ValueError: for tensors of other shapes.
    """
    value, target_value = value.flatten(), target_value.flatten()
    batch = logits.shape[:1]
    if target_policy.shape != logits.shape or logits.dim() != 2:
        expected, shape = list(logits.shape), list(target_policy.shape)
        raise ValueError(f"target_policy must have the shape of logits, {expected}, got {shape}")
    for name, tensor in (("value", value), ("target_value", target_value), ("weight", weight)):
        if tensor is not None and tensor.shape != batch:
            raise ValueError(f"{name} must have shape {list(batch)}, got {list(tensor.shape)}")
    logits = logits.float()
    if weights.masked:
        logits, target_policy = legal_alone(logits, target_policy)
    policy_each = -(target_policy * F.log_softmax(logits, dim=1)).sum(dim=1)
    if weights.kl:  # the cross-entropy less the target's entropy
        policy_each = policy_each + torch.xlogy(target_policy, target_policy).sum(dim=1)
    value_each = (value.float() - target_value).square()
    sample_weights = torch.ones_like(value_each) if weight is None else weight
    # If all samples have the weight 0, the loss and its gradient are 0.
    share = sample_weights / sample_weights.sum().clamp_min(1e-12)
    policy_loss, value_loss = (share * policy_each).sum(), (share * value_each).sum()
    total = weights.policy * policy_loss + weights.value * value_loss
    if weights.log_sum:
        total = total + weights.log_sum * (share * torch.logsumexp(logits, dim=1).square()).sum()
    return Losses(total, policy_loss, value_loss)


def legal_alone(logits: torch.Tensor, target_policy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return copies of `logits` and `target_policy`, both [B, A], for a softmax over the legal actions only.

    An action whose target is ILLEGAL gets the logit LEFT_OUT and the target 0.
    """
    return logits.masked_fill(target_policy < 0, LEFT_OUT), target_policy.clamp_min(0)


class ForecastLosses(NamedTuple):
    """Scalar losses, averaged over the batch; `ownership` or `score` is None if the network does not predict it."""

    total: torch.Tensor  # the weighted sum of `ownership` and `score`
    ownership: torch.Tensor | None = None  # squared error per point, 0 .. 4
    score: torch.Tensor | None = None  # Huber loss of the margin in tens of points

    def metrics(self) -> dict[str, torch.Tensor]:
        """Return the losses that are not None, by their names in metrics: "ownership_loss", "score_loss"."""
        losses = {"ownership_loss": self.ownership, "score_loss": self.score}
        return {name: loss for name, loss in losses.items() if loss is not None}


class EndTargets(Protocol):
    """What is known of the ends of the games of B positions, from the view of the player about to move."""

    @property
    def ownership(self) -> torch.Tensor:
        """The owner of each point, [B, points]: 1 the player about to move, -1 the opponent, 0 neither.

        [B, 0] in games without ownership.
        """

    @property
    def score(self) -> torch.Tensor:
        """The final margin in points, [B]."""

    @property
    def weight(self) -> torch.Tensor:
        """The weight of each sample in the means over the batch, [B]."""

    @property
    def ended(self) -> torch.Tensor:
        """Whether ownership and score of a game's end are known, [B]: 1, or 0 if the game ended by resignation."""


def forecast_loss(
    forecast: Forecast, targets: EndTargets, *, weights: LossWeights = LOSSES["default"]
) -> ForecastLosses:
    """Return the losses of a network's predictions of ownership and score, averaged over the batch.

    A position whose end is unknown counts in the mean as a loss of 0.

    Args:
        weights: the weights of ownership and score in `total`.
    """
    # The sum has the weights of all samples, also of those whose end is unknown and whose share is 0.
    share = targets.weight / targets.weight.sum().clamp_min(1e-12) * targets.ended
    losses = {}  # by the names of their weights in LossWeights
    has_owners = targets.ownership.shape[1] > 0
    if forecast.ownership is not None and has_owners:
        losses["ownership"] = (share * (forecast.ownership.float() - targets.ownership).square().mean(dim=1)).sum()
    if forecast.score is not None:
        error = F.huber_loss(forecast.score.float(), targets.score / POINTS_PER_SCORE_UNIT, reduction="none")
        losses["score"] = (share * error).sum()
    zero = share.new_zeros(())  # so that the sum is a tensor even if there are no losses
    total = sum((getattr(weights, name) * loss for name, loss in losses.items()), start=zero)
    return ForecastLosses(total, **losses)


@torch.no_grad()
def add_l2_gradient(parameters: list[torch.nn.Parameter], l2: float) -> None:
    """Add the gradient of `l2` times the sum of the parameters' squares to the parameters' gradients.

    Parameters without a gradient are left out.
    """
    pairs = [(parameter.grad, parameter) for parameter in parameters if parameter.grad is not None]
    if l2 and pairs:
        gradients, weights = zip(*pairs, strict=True)
        torch._foreach_add_(gradients, weights, alpha=2 * l2)
