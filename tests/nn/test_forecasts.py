"""A network's forecast as people read it: Black's view, points, the shape of the board."""

import numpy as np
import pytest
import torch

from alphago import ConnectFourEnv, GoEnv, GomokuEnv, NeuralNet, ReversiEnv, load_model
from tests.nn.boards import lived_in

ENV = GoEnv(5)


def small(env=ENV, **options) -> NeuralNet:
    return NeuralNet(env, tower_height=1, channels=8, **options)


@pytest.mark.parametrize("to_play", ["black", "white"])
def test_it_is_blacks_whoever_is_to_move(to_play):
    net = lived_in(small(), sharpness=2)
    position = ENV.position(black="B3 C3 D2", white="C4 A1", to_play=to_play)
    planes = torch.from_numpy(position.planes())[None]
    (logits, value), (_, _, forecast) = net(planes), net.forecast(planes)
    assert (logits.shape, value.shape) == ((1, 26), (1,))
    read, side = net.forecast(position), position.to_play
    assert 2 * read.win_probability - 1 == pytest.approx(net(position)[1], abs=1e-6)
    assert net(position)[1] == pytest.approx(side * float(value.detach()), abs=1e-6)
    assert read.score == pytest.approx(10 * side * float(forecast.score.detach()), abs=1e-4)
    assert read.ownership.shape == (5, 5)
    np.testing.assert_allclose(read.ownership.ravel(), side * forecast.ownership[0].detach().numpy(), atol=1e-6)


def test_a_trained_network_knows_whose_the_points_are():
    """A wall on the third column: all to its left is Black's, all to its right White's."""
    env = GoEnv(7)
    position = env.position(black="C1 C2 C3 C4 C5 C6 C7", white="D1 D2 D3 D4 D5 D6 D7", komi=0.5)
    read = load_model("7x7", env).forecast(position)
    assert (read.ownership[:, :3] > 0.6).all()
    assert (read.ownership[:, 3:] < -0.6).all()
    assert read.score == pytest.approx(-7.5, abs=4)
    assert read.win_probability < 0.25
    assert repr(read).startswith("Black wins with ")
    assert "expected result W+" in repr(read)


@pytest.mark.parametrize(
    ("net", "position", "sentence"),
    [
        (small(), GoEnv(7).position(), r"GoEnv\(5\).*GoEnv\(7\)"),
        (small(size_free=False), ENV.position(), "a value head that makes one, such as ForecastValue, got DenseValue"),
        (small(GomokuEnv(5)), GomokuEnv(5).position(), "a game that is won by them, got GomokuEnv"),
        (small(ConnectFourEnv()), ConnectFourEnv().position(), "a game that is won by them"),
    ],
)
def test_what_cannot_be_forecast(net, position, sentence):
    with pytest.raises(ValueError, match=sentence):
        net.forecast(position)


def test_what_is_no_position():
    with pytest.raises(TypeError, match="must be of a Position or a tensor of planes, got 'D4'"):
        small().forecast("D4")


def test_other_games_with_points():
    env = ReversiEnv(6)
    assert small(env).forecast(env.position()).ownership.shape == (6, 6)
