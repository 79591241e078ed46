"""Heads: held to their formulas, the forecasts that some make, and one that is not the package's."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GoEnv, NeuralNet, load_model
from alphago.nn.loss import LossWeights, forecast_loss
from alphago.nn.parts import register_part
from alphago.nn.policy import FlatPolicy, PointPolicy
from alphago.nn.value import AddedForecast, DenseValue, Forecast, ForecastHead, ForecastValue
from tests.nn.boards import assert_reads_alike, randomised
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


def test_a_new_flat_policy_is_near_uniform():
    logits = FlatPolicy(5, 6, 32)(torch.randn(50, 5))
    assert torch.softmax(logits, 1).detach().numpy() == pytest.approx(1 / 6, abs=0.05)


@BOARDS
def test_forecast_value(height, width):
    head, board = randomised(ForecastValue(CHANNELS)), features(height, width)
    squeezed = points(torch.relu(head.squeeze(board)))
    owner = head.owner.weight.double().numpy().ravel()
    ownership = np.tanh(squeezed @ owner + float(head.owner.bias))
    mean = squeezed.mean(axis=1)
    read = [mean, mean * (width - 8) / 8, squeezed.max(axis=1), ownership.sum(axis=1, keepdims=True) / 10]
    both = linear(head.last, relu(linear(head.hidden, np.concatenate(read, axis=1))))
    forecast = head.forecast(board)
    assert (forecast.value.shape, forecast.score.shape) == ((3,), (3,))
    assert forecast.ownership.shape == (3, height * width)
    np.testing.assert_allclose(forecast.ownership, ownership, atol=1e-5)
    np.testing.assert_allclose(forecast.score, both[:, 1], atol=1e-3, rtol=1e-4)
    np.testing.assert_allclose(forecast.value, np.tanh(both[:, 0]), atol=1e-4)
    value = head(board)
    assert value.shape == (3, 1)
    assert torch.equal(value[:, 0], forecast.value)


def test_added_forecasts_leave_the_value_alone():
    value = randomised(DenseValue(4, (5, 3)))
    head = randomised(AddedForecast(DenseValue(4, (5, 3)), 4), seed=5)
    head.value.load_state_dict(value.state_dict())
    board = torch.randn(2, 4, 5, 3)
    assert torch.equal(head(board), value(board))
    forecast = head.forecast(board)
    assert torch.equal(forecast.value, value(board)[:, 0])
    ownership = torch.tanh((board * head.owner.weight[0].view(1, -1, 1, 1)).sum(dim=1) + head.owner.bias)
    torch.testing.assert_close(forecast.ownership, ownership.flatten(1))
    whole = torch.cat([board.mean(dim=(2, 3)), board.amax(dim=(2, 3)), ownership.sum(dim=(1, 2))[:, None] / 10], dim=1)
    torch.testing.assert_close(forecast.score, (whole @ head.score.weight.T + head.score.bias)[:, 0])


@register_part
class ScoreValue(ForecastHead):
    """A head that is nowhere in the package: the winner and the margin, from the mean of the features."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.last = nn.Linear(channels, 2)

    def forward(self, features):
        return torch.tanh(self.last(features.mean(dim=(2, 3)))[:, :1])

    def forecast(self, features):
        value, score = self.last(features.mean(dim=(2, 3))).unbind(1)
        return Forecast(torch.tanh(value), score)


def test_a_head_that_predicts_the_score_is_one_class(tmp_path):
    """It is trained on the score alone, and saved and loaded without being passed."""
    env = GoEnv(5)
    net = NeuralNet(env, value=ScoreValue(8), tower_height=1, channels=8)
    with torch.no_grad():
        _, value, forecast = net.forecast(torch.rand(3, env.planes, 5, 5))
    assert torch.equal(value, forecast.value)
    ends = SimpleNamespace(ownership=torch.ones(3, 25), score=torch.ones(3), weight=torch.ones(3), ended=torch.ones(3))
    losses = forecast_loss(forecast, ends, weights=LossWeights(score=2.0))
    assert list(losses.metrics()) == ["score_loss"]
    assert float(losses.total) == pytest.approx(2 * float(losses.score))
    net.save(tmp_path / "net")
    again = load_model(tmp_path / "net")
    assert isinstance(again.value, ScoreValue)
    assert_reads_alike(again, net, env.position())
