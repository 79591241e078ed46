"""`NetEvaluator` with forecasts: the network's own numbers, in every form and symmetry."""

import numpy as np
import pytest
import torch

from alphago import ConnectFourEnv, GameEnv, GoEnv, NeuralNet, Position
from alphago.nn.forecasts import stack
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.value import AddedForecast, DenseValue
from tests.nn.boards import randomised, snapshot

ENV = GoEnv(5, komi=1.5)
GAME = ("C3", "C2", "D2", "D3", "pass", "B3")


def positions() -> list[Position]:
    return list(ENV.position().after(GAME).replay())


def network(**slots: torch.nn.Module) -> NeuralNet:
    return randomised(NeuralNet(ENV, tower_height=2, channels=8, **slots))


def evaluate(
    evaluator: NetEvaluator, many: list[Position], symmetries: tuple[int, ...] = (0,)
) -> tuple[np.ndarray, ...]:
    env: GameEnv = many[0].env
    priors, values = np.empty((len(many), env.action_space), np.float32), np.empty(len(many), np.float32)
    scores, owners = np.empty(len(many), np.float32), np.empty((len(many), env.N**2), np.float32)
    slots = np.arange(len(many))
    evaluator.evaluate(stack(many, env), slots, priors, values, (scores, owners), symmetries)
    return priors, values, scores, owners


@pytest.mark.parametrize("where", ["cpu", "host", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("head", ["size-free", "added"])
def test_it_says_what_the_network_says(where: str, head: str) -> None:
    slots = {} if head == "size-free" else {"value": AddedForecast(DenseValue(8, (5, 5)), 8)}
    net, many = network(**slots), positions()
    priors, values, scores, owners = evaluate(snapshot(net, "float32", forecasts=True, where=where), many)
    policy, black = net(many)
    coarse = 100 if where == "cuda" else 1  # its float32 convolutions are TF32
    assert priors == pytest.approx(policy, abs=1e-4 * coarse)
    for i, position in enumerate(many):
        expected, side = net.forecast(position), position.to_play
        assert values[i] == pytest.approx(side * black[i], abs=1e-4 * coarse)
        assert scores[i] == pytest.approx(side * expected.score, abs=1e-2 * coarse)
        assert owners[i] == pytest.approx(side * expected.ownership.ravel(), abs=1e-3 * coarse)
    assert np.ptp(scores) > 0.1


def test_symmetries_are_the_mean_over_turned_games() -> None:
    """Against games that are turned by their moves: as if the board itself lay in another direction."""
    net, many = network(), positions()
    evaluator = snapshot(net, "float32", forecasts=True)
    chosen = (0, 1, 5)
    priors, values, scores, owners = evaluate(evaluator, many, chosen)
    turned = []
    for symmetry in chosen:
        back = np.argsort(ENV.symmetries.actions[symmetry])
        moves = [int(back[ENV.from_text(move)]) for move in GAME]
        one = evaluate(evaluator, list(ENV.position().after(moves).replay()))
        turned.append((one[0][:, back], one[1], one[2], one[3][:, np.argsort(ENV.symmetries.points[symmetry])]))
    assert np.abs(turned[0][0] - turned[1][0]).max() > 1e-3
    for mean, parts in zip((priors, values, scores, owners), zip(*turned, strict=True), strict=True):
        assert mean == pytest.approx(np.mean(parts, axis=0), abs=1e-4)


def test_a_network_without_forecasts() -> None:
    net = NeuralNet(ENV, size_free=False, tower_height=1, channels=8)
    evaluator = net.forecast_evaluator()
    assert not evaluator.makes_forecasts
    many = positions()
    priors, values = np.empty((len(many), 26), np.float32), np.empty(len(many), np.float32)
    evaluator.evaluate(stack(many, ENV), np.arange(len(many)), priors, values, None, tuple(range(8)))
    assert priors.sum(axis=1) == pytest.approx(1, abs=1e-4)
    with pytest.raises(ValueError, match="makes no forecasts"):
        evaluate(evaluator, many)
    four = ConnectFourEnv()
    assert not NeuralNet(four, tower_height=1, channels=8).forecast_evaluator().makes_forecasts
