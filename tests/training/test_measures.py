"""What a gradient step shows of the network."""

import numpy as np
import pytest
import torch

from alphago.nn.loss import ILLEGAL
from alphago.training.measures import STEP_METRICS, mean_metrics, measure, pearson


def test_pearson() -> None:
    assert pearson(torch.tensor([1.0, 2, 3]), torch.tensor([2.0, 4, 6])) == pytest.approx(1)
    assert pearson(torch.tensor([1.0, 2, 3]), torch.tensor([3.0, 2, 1])) == pytest.approx(-1)
    assert pearson(torch.tensor([1.0, 2, 3, 4]), torch.tensor([1.0, -1, -1, 1])) == pytest.approx(0, abs=1e-6)
    assert pearson(torch.ones(3), torch.tensor([3.0, 2, 1])) == 0


def test_measure() -> None:
    """Two moves of four, evenly; the network is even over all four and right about the first of two best moves."""
    logits = torch.tensor([[0.0, 0, 0, 0], [9.0, 0, 0, 0]])
    policy = torch.tensor([[0.5, 0.5, 0, 0], [0.0, 1, 0, 0]])
    measured = measure(logits, torch.tensor([0.5, -0.5]), policy, torch.tensor([1.0, -1]))
    assert measured["target_entropy"] == pytest.approx(np.log(2) / 2)
    assert measured["policy_entropy"] == pytest.approx(np.log(4) / 2, abs=0.01)
    assert measured["top_move_agreement"] == 0.5
    assert measured["value_correlation"] == pytest.approx(1)


def test_actions_that_are_left_out() -> None:
    """The same as without them, whatever their logits."""
    logits, value = torch.tensor([[1.0, 0.5, 9.0], [0.0, 2.0, 1.0]]), torch.tensor([0.5, -0.5])
    target = torch.tensor([[0.75, 0.25, ILLEGAL], [ILLEGAL, 0.5, 0.5]])
    found = measure(logits, value, target, value)
    alone = measure(torch.tensor([[1.0, 0.5], [2.0, 1.0]]), value, torch.tensor([[0.75, 0.25], [0.5, 0.5]]), value)
    assert {name: float(one) for name, one in found.items()} == pytest.approx(
        {name: float(one) for name, one in alone.items()}
    )
    assert float(found["top_move_agreement"]) == 1


def test_means() -> None:
    """Over the steps that have a metric; None where no step has it."""
    means = mean_metrics([{"policy_loss": 1.0, "own": 3.0}, {"policy_loss": 2.0}])
    assert means.keys() == {*STEP_METRICS, "own"}
    assert (means["policy_loss"], means["own"], means["ownership_loss"]) == (1.5, 3.0, None)
    assert mean_metrics([]) == dict.fromkeys(STEP_METRICS)
