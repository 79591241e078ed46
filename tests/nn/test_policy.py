"""Policy heads, held to their formulas."""

import numpy as np
import pytest
import torch

from alphago.nn.policy import FlatPolicy, PointPolicy
from tests.nn.boards import randomised
from tests.nn.formulas import BOARDS, CHANNELS, features, linear, points, relu, whole


@BOARDS
@pytest.mark.parametrize("has_pass", [True, False])
def test_point_policy(height, width, has_pass):
    policy, board = randomised(PointPolicy(CHANNELS, has_pass)), features(height, width)
    squeezed = points(torch.relu(policy.squeeze(board)))
    biased = relu(squeezed + linear(policy.pooled, whole(squeezed))[:, None])
    expected = biased @ policy.points.weight.double().numpy().ravel()
    if has_pass:
        expected = np.concatenate([expected, linear(policy.last, whole(squeezed))], axis=1)
    logits = policy(board)
    assert logits.shape == (3, height * width + has_pass)
    np.testing.assert_allclose(logits, expected, atol=1e-4)


@pytest.mark.parametrize("hidden", [0, 7])
def test_flat_policy(hidden):
    policy, given = randomised(FlatPolicy(5, 3, hidden)), torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
    before = relu(linear(policy.hidden, given.double().numpy())) if hidden else given.double().numpy()
    np.testing.assert_allclose(policy(given).detach(), linear(policy.last, before), atol=1e-5)
    assert policy.last.in_features == (hidden or 5)
    assert set(dict(policy.named_children())) == ({"hidden", "last"} if hidden else {"last"})


def test_a_new_flat_policy_is_near_uniform():
    logits = FlatPolicy(5, 6, 32)(torch.randn(50, 5))
    assert torch.softmax(logits, 1).detach().numpy() == pytest.approx(1 / 6, abs=0.05)
