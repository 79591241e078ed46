"""The loss against numbers worked out by hand."""

import math

import pytest
import torch

from alphago.nn.loss import alphazero_loss


def test_hand_computed_example():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
    target = torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])  # the last action, a pass, is like any other
    value, result = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 1.0])
    cross_entropies = [math.log(4), -math.log(0.8)]
    squares = [0.25, 4.0]

    losses = alphazero_loss(logits, value, target, result)
    assert float(losses.policy) == pytest.approx(sum(cross_entropies) / 2, rel=1e-6)
    assert float(losses.value) == pytest.approx(sum(squares) / 2)
    assert float(losses.total) == pytest.approx((sum(cross_entropies) + sum(squares)) / 2, rel=1e-6)

    weighted = alphazero_loss(logits, value, target, result, weight=torch.tensor([3.0, 1.0]))
    assert float(weighted.policy) == pytest.approx(0.75 * cross_entropies[0] + 0.25 * cross_entropies[1], rel=1e-6)
    assert float(weighted.value) == pytest.approx(0.75 * 0.25 + 0.25 * 4.0)


def test_gradient_is_prediction_minus_target():
    logits = torch.zeros(1, 4, requires_grad=True)
    target = torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    alphazero_loss(logits, torch.zeros(1), target, torch.zeros(1)).total.backward()
    assert logits.grad.tolist() == [[0.25, 0.25, 0.25, -0.75]]


def test_columns_of_values_are_no_trap():
    logits, target = torch.zeros(3, 2), torch.full((3, 2), 0.5)
    value, result = torch.tensor([[1.0], [0.0], [-1.0]]), torch.tensor([1.0, 0.0, -1.0])
    assert float(alphazero_loss(logits, value, target, result).value) == 0


def test_samples_without_weight_teach_nothing():
    logits = torch.zeros(2, 2, requires_grad=True)
    losses = alphazero_loss(logits, torch.ones(2), torch.ones(2, 2) / 2, -torch.ones(2), torch.zeros(2))
    losses.total.backward()
    assert float(losses.total.detach()) == 0
    assert not logits.grad.any()


def test_shapes_that_differ_are_an_error():
    with pytest.raises(ValueError, match=r"logits \[2, 3\] and target_policy \[2, 4\] differ"):
        alphazero_loss(torch.zeros(2, 3), torch.zeros(2), torch.zeros(2, 4), torch.zeros(2))
    with pytest.raises(ValueError, match=r"target_value has shape \[3\], wanted \[2\]"):
        alphazero_loss(torch.zeros(2, 3), torch.zeros(2), torch.zeros(2, 3), torch.zeros(3))
