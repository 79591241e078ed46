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


class TestLines:
    @pytest.mark.parametrize(
        "moves",
        ["AABBCCD", "ABABABA", "GAGAGAG", "ABBCCDCDDGD", "GFFEEDEDDAD", "FFEEDDC", "AABBDDEEC"],
        ids=["row", "column", "last column", "rising", "falling", "row closed on its left", "five"],
    )
    def test_four_in_a_line_win(self, moves: str) -> None:
        assert not play(moves[:-1]).is_over
        end = play(moves)
        assert (end.is_over, end.result) == (True, 1)
        assert not end.legal_mask.any()

    def test_a_line_does_not_go_round_the_edge(self) -> None:
        """E2 F2 G2 and A1 follow each other in memory."""
        assert not play("AEEFFGG").is_over

    def test_a_full_board_is_a_draw(self) -> None:
        end = play("AAAAAA" + "BBBBBB" + "CCCCCC" + "EDDDDDD" + "EEEEE" + "FFFFFF" + "GGGGGG")
        assert len(end.moves) == 42
        assert (end.is_over, end.result) == (True, 0)


def test_a_full_column() -> None:
    with pytest.raises(IllegalMove, match=r"illegal move A: the column is full, in ConnectFourEnv\(\) after A A A"):
        play("AAAAAAA")
    with pytest.raises(ValueError, match=r"^'H' is not a column of ConnectFourEnv\(\): expected A to G$"):
        play("H")


def test_drawing() -> None:
    assert str(play("DDC")).splitlines() == [
        "    A B C D E F G",
        *(f" {row}  . . . . . . .  {row}" for row in (6, 5, 4, 3)),
        " 2  . . . O . . .  2",
        " 1  . .(X)X . . .  1",
        "    A B C D E F G",
        "   move 3: Yellow (O) to play",
    ]
    assert "move 0: Red (X) to play" in str(play(""))
