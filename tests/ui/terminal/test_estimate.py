"""The end that a network expects, in words."""

import numpy as np
import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.mcts.evaluator import UniformEvaluator
from alphago.nn.forecasts import PositionForecast
from alphago.ui.terminal.estimate import estimate
from tests.ui.terminal.test_saved_games import talk


class Oracle:
    """A network with a forecast: Black owns the left of a 5x5 board, White the right, nobody the middle."""

    env = GoEnv(5)

    def forecast(self, position):
        columns = np.array([0.9, 0.6, 0.4, -0.6, -0.9], np.float32)
        return PositionForecast(0.731, -2.04, np.tile(columns, (5, 1)))


def test_words_and_owners() -> None:
    sentences, board = estimate(Oracle(), GoEnv(5).position(black="A1 D2 E5", white="B3 C3 E4"))
    assert sentences == (
        "The network expects W+2 in the end, and Black to win with 73%.\n"
        "Dead stones: Black E5 D2; White B3.\n"
        "Expected points of Black (X) and White (O):"
    )
    assert board.splitlines()[1] == " 5  X X . O O  5"


@pytest.mark.parametrize("size_free", [True, False])
def test_networks(size_free: bool) -> None:
    """Also of another board and rule; AlphaGo Zero's value head knows the winner alone."""
    net = NeuralNet(GoEnv(5), tower_height=0, channels=4, size_free=size_free)
    position = GoEnv(5, komi=0.5, ko="simple").position(black="C3")
    assert (estimate(net, position) is not None) == size_free
    if size_free:
        assert estimate(net, GoEnv(7).position()) is not None


def test_at_the_terminal() -> None:
    net = NeuralNet(GoEnv(5), tower_height=0, channels=4)
    for network, sentence in ((net, "The network expects "), (UniformEvaluator(), "this engine makes no forecast")):
        assert sentence in talk(GoEnv(5), "c3", "score", "quit", network=network)[1]
    assert "forecast" not in talk(ConnectFourEnv(), "score", "quit")[1]
