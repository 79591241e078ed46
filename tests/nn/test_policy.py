"""The policy head for any board, held to its formula."""

import numpy as np
import pytest
import torch

from alphago.nn.policy import PointPolicy
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
