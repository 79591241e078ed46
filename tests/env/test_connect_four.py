"""Connect Four: the fast game and the plain one of alphago/examples/, which docs/add_a_game.md explains."""

import pytest

from alphago import ConnectFourEnv, IllegalMove, check_game
from alphago.examples.plain_connect_four import PlainConnectFourEnv
from tests.env.counting import count_games


def play(moves: str):
    return ConnectFourEnv().position().after(moves)


def test_agrees_with_the_plain_game() -> None:
    check_game(ConnectFourEnv(), PlainConnectFourEnv(), games=4)


def test_numbers_of_games() -> None:
    """7 to the power of the ply, but for the 7 ways to put a seventh stone into one column."""
    assert count_games(ConnectFourEnv(), 7) == [7, 49, 343, 2401, 16807, 117649, 823536]
    assert count_games(PlainConnectFourEnv(), 4) == [7, 49, 343, 2401]


def test_a_full_column() -> None:
    with pytest.raises(IllegalMove, match=r"illegal move A: the column is full, in ConnectFourEnv\(\) after A A A"):
        play("AAAAAAA")
    with pytest.raises(ValueError, match=r"^'H' is not a column of ConnectFourEnv\(\): expected A to G$"):
        play("H")
