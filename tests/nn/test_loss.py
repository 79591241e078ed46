"""The loss against numbers worked out by hand."""

import math
from types import SimpleNamespace

import pytest
import torch

from alphago.nn.loss import ILLEGAL, LOSSES, LossWeights, add_l2_gradient, alphazero_loss, forecast_loss
from alphago.nn.value import Forecast

LOGITS = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
TARGET = torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])  # the last action, a pass, is like any other
VALUE, RESULT = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 1.0])


def test_hand_computed_example():
    cross_entropies = [math.log(4), -math.log(0.8)]
    squares = [0.25, 4.0]

    losses = alphazero_loss(LOGITS, VALUE[:, None], TARGET, RESULT)  # a column of values is no trap
    assert float(losses.policy) == pytest.approx(sum(cross_entropies) / 2, rel=1e-6)
    assert float(losses.value) == pytest.approx(sum(squares) / 2)
    assert float(losses.total) == pytest.approx((sum(cross_entropies) + sum(squares)) / 2, rel=1e-6)

    weighted = alphazero_loss(LOGITS, VALUE, TARGET, RESULT, weight=torch.tensor([3.0, 1.0]))
    assert float(weighted.policy) == pytest.approx(0.75 * cross_entropies[0] + 0.25 * cross_entropies[1], rel=1e-6)
    assert float(weighted.value) == pytest.approx(0.75 * 0.25 + 0.25 * 4.0)


def test_what_all_logits_have_in_common_goes_to_zero():
    """In Gomoku, whose policy has no pass, it grew to 99, where bfloat16 has steps of 0.5."""
    logits = (LOGITS + torch.tensor([[3.0], [-5.0]])).requires_grad_()
    losses = alphazero_loss(logits, torch.zeros(2), torch.softmax(logits.detach(), 1), torch.zeros(2))
    losses.total.backward()
    assert float((losses.total - losses.policy).detach()) == pytest.approx(1e-4 * (9 + 25) / 2, rel=1e-2)
    common = logits.grad.sum(dim=1)  # the cross-entropy's gradient has sum 0
    assert common.tolist() == pytest.approx([1e-4 * 3, -1e-4 * 5], rel=1e-3)


def test_samples_without_weight_teach_nothing():
    logits, score = torch.zeros(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    losses = alphazero_loss(logits, torch.ones(2), torch.ones(2, 2) / 2, -torch.ones(2), torch.zeros(2))
    forecast = Forecast(torch.zeros(2), score, torch.zeros(2, 3))
    others = forecast_loss(forecast, ends(torch.ones(2, 3), torch.zeros(2), torch.zeros(2)))
    for total in (losses.total, others.total):
        total.backward()
        assert float(total.detach()) == 0
    assert not logits.grad.any()
    assert not score.grad.any()


def test_shapes_that_differ_are_an_error():
    with pytest.raises(ValueError, match=r"must have the shape of logits, \[2, 3\], got \[2, 4\]"):
        alphazero_loss(torch.zeros(2, 3), torch.zeros(2), torch.zeros(2, 4), torch.zeros(2))
    with pytest.raises(ValueError, match=r"target_value must have shape \[2\], got \[3\]"):
        alphazero_loss(torch.zeros(2, 3), torch.zeros(2), torch.zeros(2, 3), torch.zeros(3))


def huber(distance: float) -> float:
    """Half the square up to 1, straight from there."""
    distance = abs(distance)
    return distance**2 / 2 if distance <= 1 else distance - 0.5


def ends(ownership, score, weight, ended=None):
    """The targets of a forecast; all are known unless it is said."""
    known = torch.ones(len(score)) if ended is None else ended
    return SimpleNamespace(ownership=ownership, score=score, weight=weight, ended=known)


def test_forecasts_against_a_plain_formula():
    """Two games on a board of four points: ownership per point, margins in tens, weights 3 to 1."""
    forecast = Forecast(
        value=torch.zeros(2),
        score=torch.tensor([0.5, -2.0]),
        ownership=torch.tensor([[1.0, 0.5, 0.0, -1.0], [0.0, 0.0, 0.5, 0.25]]),
    )
    ownership = torch.tensor([[1, 1, 0, 1], [-1, 0, 1, 1]], dtype=torch.int8)
    margins = torch.tensor([12.0, 7.5])
    owned = [(0 + 0.25 + 0 + 4) / 4, (1 + 0 + 0.25 + 0.75**2) / 4]
    missed = [huber(0.5 - 1.2), huber(-2 - 0.75)]
    for weight, shares in (([3.0, 1.0], (0.75, 0.25)), ([1.0, 1.0], (0.5, 0.5)), ([0.0, 2.0], (0, 1))):
        losses = forecast_loss(forecast, ends(ownership, margins, torch.tensor(weight)))
        expected_owned, expected_missed = (
            sum(s * x for s, x in zip(shares, each, strict=True)) for each in (owned, missed)
        )
        assert float(losses.ownership) == pytest.approx(expected_owned)
        assert float(losses.score) == pytest.approx(expected_missed)
        total = 0.5 * expected_owned + 0.3 * expected_missed
        assert float(losses.total) == pytest.approx(total)


def test_resigned_games_teach_nothing_about_their_ends():
    """Their weight stays in the mean: the other game still counts for half of it."""
    score = torch.tensor([0.5, -2.0], requires_grad=True)
    ownership = torch.tensor([[1.0, 0.5], [0.0, 0.5]], requires_grad=True)
    forecast = Forecast(torch.zeros(2), score, ownership)
    truth = torch.tensor([[1, 0], [0, 0]]), torch.tensor([9.0, 1.0]), torch.ones(2)
    losses = forecast_loss(forecast, ends(*truth, torch.tensor([1.0, 0.0])))
    assert float(losses.ownership.detach()) == pytest.approx(0.25 / 2 / 2)
    assert float(losses.score.detach()) == pytest.approx(huber(0.5 - 0.9) / 2)
    losses.total.backward()
    assert score.grad[1] == 0
    assert not ownership.grad[1].any()
    assert score.grad[0] != 0


@pytest.mark.parametrize(
    ("name", "policy", "value"),
    [("default", 1, 1), ("alphago-zero", 1, 1), ("alphago.jl", 0.01, 0.01), ("cody2007", 1 / 49, 0.025)],
)
def test_weights_are_of_the_total_only(name, policy, value):
    losses = alphazero_loss(LOGITS, VALUE, TARGET, RESULT, weights=LOSSES[name])
    plain = alphazero_loss(LOGITS, VALUE, TARGET, RESULT)
    assert losses[1:] == plain[1:]
    assert float(losses.total) == pytest.approx(policy * float(plain.policy) + value * float(plain.value))


def test_divergence_is_cross_entropy_less_the_targets_entropy_and_has_its_gradient():
    """By hand: log 4 - log 2 for the first row; a target of one move has no entropy."""
    found = alphazero_loss(LOGITS, VALUE, TARGET, RESULT, weights=LossWeights(kl=True))
    assert float(found.policy) == pytest.approx((math.log(2) - math.log(0.8)) / 2, rel=1e-6)
    exact = alphazero_loss(LOGITS, VALUE, LOGITS.exp(), RESULT, weights=LossWeights(kl=True))
    assert float(exact.policy) == pytest.approx(0, abs=1e-7)
    gradients = []
    for kl in (False, True):
        logits = LOGITS.clone().requires_grad_()
        alphazero_loss(logits, VALUE, TARGET, RESULT, weights=LossWeights(kl=kl)).total.backward()
        gradients.append(logits.grad)
    assert torch.equal(*gradients)


def test_illegal_actions_are_no_part_of_a_masked_softmax():
    """By hand: of a half, a quarter and a quarter without the first remain two halves."""
    logits = LOGITS.clone().requires_grad_()
    target = torch.tensor([[ILLEGAL, 0.75, 0.25], [0.5, 0.5, ILLEGAL]])
    for kl, entropy in ((False, 0.0), (True, -(0.75 * math.log(0.75) + 0.25 * math.log(0.25) + math.log(0.5)) / 2)):
        found = alphazero_loss(logits, VALUE, target, RESULT, weights=LossWeights(masked=True, kl=kl))
        assert float(found.policy.detach()) == pytest.approx(math.log(2) - entropy, rel=1e-6)
    found.policy.backward()
    assert logits.grad.flatten().tolist() == pytest.approx([0, -0.125, 0.125, 0, 0, 0], abs=1e-7)


def test_a_mask_without_illegal_actions_changes_nothing():
    """To the last bit; nor does a logit far above the others where it is illegal."""
    plain, masked = (
        alphazero_loss(LOGITS, VALUE, TARGET, RESULT, weights=LossWeights(masked=m)) for m in (False, True)
    )
    assert float(plain.total) == float(masked.total)
    high = torch.tensor([[1e4, 0.0, 0.0]], requires_grad=True)
    target = torch.tensor([[ILLEGAL, 0.5, 0.5]])
    found = alphazero_loss(high, VALUE[:1], target, RESULT[:1], weights=LossWeights(masked=True))
    found.policy.backward()
    assert float(found.policy.detach()) == pytest.approx(math.log(2))
    assert high.grad.tolist() == [[0, 0, 0]]


def test_l2_is_of_all_parameters_that_learn():
    one, two, idle = (torch.nn.Parameter(torch.tensor([1.0, -3.0])) for _ in range(3))
    one.grad, two.grad = torch.tensor([0.5, 0.5]), torch.zeros(2)
    add_l2_gradient([one, two, idle], 0.1)
    assert one.grad.tolist() == pytest.approx([0.7, -0.1])
    assert two.grad.tolist() == pytest.approx([0.2, -0.6])
    assert idle.grad is None
