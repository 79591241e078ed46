"""The end that a network expects, in words."""

import numpy as np

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.mcts.analyst import Analyst
from alphago.ui.terminal.estimate import estimate
from tests.ui.own_games import OwnedByBlack
from tests.ui.terminal.test_saved_games import talk


class Oracle(OwnedByBlack):
    """Black owns the left of a 5x5 board, White the right, nobody the middle."""

    owners = np.tile([0.9, 0.6, 0.4, -0.6, -0.9], 5)
    score, value = -2.04, 0.462


def test_words_and_owners() -> None:
    with Analyst(Oracle()) as analyst:
        sentences, board = estimate(analyst, GoEnv(5).position(black="A1 D2 E5", white="B3 C3 E4"))
    assert sentences == (
        "The network expects W+2 in the end, and Black to win with 73%.\n"
        "Dead stones: Black E5 D2; White B3.\n"
        "Expected points of Black (X) and White (O):"
    )
    assert board.splitlines()[1] == " 5  X X . O O  5"


def test_at_the_terminal() -> None:
    """AlphaGo Zero's value head knows the winner alone."""
    for size_free, sentence in ((True, "The network expects "), (False, "this engine makes no forecast")):
        net = NeuralNet(GoEnv(5), tower_height=0, channels=4, size_free=size_free)
        assert sentence in talk(GoEnv(5), "c3", "score", "quit", network=net)[1]
    assert "forecast" not in talk(ConnectFourEnv(), "score", "quit")[1]
