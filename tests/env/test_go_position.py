"""Readable positions of Go: what they refuse, and that they never change."""

import re

import numpy as np
import pytest

from alphago import GoEnv, IllegalMove
from tests.diagrams import draw, position, tidy
from tests.env.test_go_ko import KO

EMPTY = np.zeros((5, 5), np.int8)


def test_an_illegal_ko_names_the_set_up() -> None:
    taken = position(KO, "B C4", komi=0.5)
    with pytest.raises(IllegalMove) as caught:
        taken.play(taken.env.from_text("B4"))
    start = "GoEnv(5).position(black='B5 A4 B3', white='C5 B4 D4 C3', komi=0.5)"
    reason = "superko, the board would repeat an earlier one"
    assert str(caught.value) == f"illegal move B4: {reason}, in {start} after B C4"
    assert draw(eval(start)) == tidy(KO)  # it can be pasted back


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"black": "C3", "white": "C3"}, "two stones were placed at C3"),
        ({"black": "F1"}, "'F1' is not a point of GoEnv(5): expected A1 to E5 (no column I) or pass"),
        ({"black": ["pass"]}, "stones must be on points of GoEnv(5), got 'pass'"),
        ({"white": [25]}, "stones must be on points of GoEnv(5), got 25"),
        ({"black": [3.7]}, "stones must be"),
        ({"white": 5}, "stones must be"),
        ({"black": "A5", "white": "A4 B5"}, "the chain at A5 has no liberty"),
        ({"black": range(25)}, "the chain at A5 has no liberty"),
        ({"history": [EMPTY, np.eye(5)]}, "history must have a legal move between its boards, got none from"),
        ({"history": [EMPTY], "black": "A1", "to_play": 1}, "to_play must be 'white' after this history, got 'black'"),
        ({"history": [np.zeros((4, 4))]}, "board must be [5, 5] points of 1, -1 and 0, got [4, 4]"),
        ({"history": [EMPTY], "ko": "A1"}, "ko must be None with a history"),
        ({"history": [EMPTY], "move_number": 0}, "move_number must be at least 1, the number of boards"),
        ({"board": [[0], [0, 1]]}, "board must be [5, 5] points of 1, -1 and 0"),
    ],
)
def test_set_ups_that_cannot_be_are_refused(setup: dict, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        GoEnv(5).position(**setup)


def test_the_arguments_are_alphago_jls() -> None:
    assert GoEnv() == GoEnv(19)
    assert GoEnv(9, 17) == GoEnv(board_size=9, planes=17)
    for komi in (7.5, 6):
        with pytest.raises(ValueError, match=rf"planes must be .*, got {komi}; a komi is given as komi={komi}$"):
            GoEnv(9, komi)


def test_positions_never_change() -> None:
    start = position(KO)
    for array in (start.board, start.legal_mask, start.pass_alive):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_set_ups_take_texts_lists_and_actions_alike() -> None:
    env = GoEnv(5)
    ways = [{"black": "C3 d4"}, {"black": ["C3", "D4"]}, {"black": [12, 8]}, {"black": np.array([8, 12])}]
    assert len({draw(env.position(**way)) for way in ways}) == 1
    for mover in ("white", "W", -1):
        assert env.position(to_play=mover).to_play == -1
    assert env.position(black="C3", to_play="w").describe() == "GoEnv(5).position(black='C3', to_play='white')"


def test_games_are_equal_when_their_rules_are() -> None:
    assert GoEnv(9) == GoEnv(9, komi=7.5, planes=None, max_moves=113)
    assert GoEnv(9) != GoEnv(9, planes=17)
    assert GoEnv(7) == GoEnv(7, komi=9)
    assert len({GoEnv(9), GoEnv(9, komi=7.5), GoEnv(9, komi=6.5), GoEnv(9, planes=3), GoEnv(8)}) == 4
    assert GoEnv(9) != 9
    assert repr(GoEnv(9)) == "GoEnv(9)"
    assert repr(GoEnv(9, komi=6, planes=3)) == "GoEnv(9, komi=6.0, planes=3)"
