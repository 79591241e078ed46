"""Coordinates, komi, colours, rules and handicaps, as people write them."""

import math
import re
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alphago.env.board import check_player
from alphago.env.go import GoEnv
from alphago.env.go_rules import (
    LONG_NAME,
    NAMED,
    Rules,
    handicap_points,
    named_rules,
    read_rules,
    rules_name,
    why_other_score,
)
from tests.diagrams import draw, play, tidy

FEW = settings(max_examples=80, deadline=None)


@FEW
@given(st.integers(2, 25), st.one_of(st.text(max_size=5), st.from_regex("[A-Za-z][0-9]{1,3}", fullmatch=True)))
@example(9, "i5")
@example(9, "A0")
@example(9, "K1")
@example(9, "D-4")
def test_a_text_is_a_point_or_an_error_with_a_sentence(size: int, text: str) -> None:
    env = GoEnv(size)
    names = [env.to_text(action) for action in range(env.pass_action)]
    written = re.sub("(?<=[A-Z])0(?=[1-9]$)", "", text.strip().upper())  # D04 is D4
    if written in names or written == "PASS":
        assert env.from_text(text) == (env.pass_action if written == "PASS" else names.index(written))
    else:
        with pytest.raises(ValueError, match=re.escape(f"{text!r} is not a point of GoEnv({size})")):
            env.from_text(text)


@FEW
@given(st.one_of(st.floats(), st.integers(-3000, 3000).map(lambda n: n / 2)))
def test_komi_is_kept_or_refused(komi: float) -> None:
    fits = math.isfinite(komi) and abs(komi) <= 1000 and (2 * komi).is_integer()
    if fits:
        assert GoEnv(3, komi=komi).position().komi == komi
    else:
        for make in (GoEnv(3).position, partial(GoEnv, 3)):
            with pytest.raises(ValueError, match=r"komi must be a multiple of 0\.5 from -1000 to 1000"):
                make(komi=komi)


@FEW
@given(st.text(max_size=8))
def test_a_colour_is_one_of_two_or_refused(text: str) -> None:
    if text.lower() in ("b", "black", "w", "white"):
        assert check_player(text) == (1 if text.lower()[0] == "b" else -1)
    else:
        with pytest.raises(ValueError, match="to_play must be 'black' or 'white'"):
            check_player(text)


# --- rules -----------------------------------------------------------------------------------------


def test_names_of_rules() -> None:
    assert rules_name(Rules()) == "Chinese"
    assert rules_name(Rules("positional", True)) == "Tromp-Taylor"
    assert rules_name(Rules("simple", False)) == "koSIMPLEscoreAREAtaxNONEsui0"  # Japanese would say territory
    for spelling in ("NZ", "new zealand", "New_Zealand", "nz"):
        assert read_rules(spelling) == Rules("situational", True)
    for name, rules in NAMED.items():
        assert read_rules(name.lower()) == read_rules(f"{name} Rules") == read_rules(f"{name} rule") == rules
    for text, name in {"chinese-ogs": "Chinese", "中国规则": "Chinese", "bga": "AGA", "日本ルール": "Japanese"}.items():
        assert read_rules(text) == NAMED[name]
    assert all(why_other_score(text) for text in ("日本", "韩国规则", "Japanese Rules"))
    assert not why_other_score("中国")
    for unknown in ("{Chinese", '{"koRule": "SIMPLE"}', '{"ko": "SIMPLE", "komi": 7}'):  # KataGo has no such fields
        assert read_rules(unknown) is None
    assert read_rules("koPOSITIONALscoreAREAtaxNONEsui1whiteHandicapBonus0") == Rules("positional", True)
    for other in ("koSIMPLEscoreTERRITORYtaxSEKIsui0", "koſIMPLEscoreAREAsui0"):  # a long s is no S
        assert read_rules(other) is None
    for other in (
        "koSIMPLEscoreAREAtaxALLsui0",
        "koSIMPLEscoreAREAtaxallsui0",
        "koSIMPLEscoreAREAtaxNONEsui0whiteHandicapBonusN-1",
        '{"tax": "ALL"}',
        "koSIMPLEscoreAREAtaxNONEsui0button1",
        '{"hasButton": true}',
    ):
        with pytest.raises(ValueError, match=r"rules must (have no tax|have no button|give White no bonus)"):
            named_rules(other)
    for no_button in ("koSIMPLEscoreAREAtaxNONEsui0button0", '{"ko": "SIMPLE", "hasButton": false}'):
        assert named_rules(no_button) == Rules("simple", False)
    with pytest.raises(ValueError, match=r"rules must be one of Chinese, Tromp-Taylor, .*, got 'mine'"):
        named_rules("mine")


@FEW
@given(st.text(max_size=30))
def test_any_text_is_rules_or_none(text: str) -> None:
    rules = read_rules(text)
    assert rules is None or read_rules(rules_name(rules)) == rules


@FEW
@given(st.from_regex(LONG_NAME, fullmatch=True))
def test_every_long_name_is_rules(text: str) -> None:
    rules = read_rules(text)
    assert read_rules(rules_name(rules)) == rules


# --- set-ups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "count", "points"),
    [
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K16 K4"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K16 K4 K10"),
        (13, 4, "D4 K10 D10 K4"),
        (7, 4, "C3 E5 C5 E3"),
        (8, 2, "C3 F6"),
    ],
)
def test_handicap_stones_stand_where_gtp_says(size: int, count: int, points: str) -> None:
    env = GoEnv(size)
    assert [env.to_text(action) for action in handicap_points(size, count)] == points.split()
    position = env.position(handicap=count)
    assert position.to_play == -1
    assert (position.board == 1).sum() == count
    assert eval(position.describe()).describe() == position.describe()
    assert env.position(handicap=count, to_play="black").to_play == 1


@pytest.mark.parametrize(("size", "count"), [(19, 1), (19, 10), (7, 5), (8, 5), (6, 2), (19, -1)])
def test_other_handicaps_have_no_place(size: int, count: int) -> None:
    with pytest.raises(ValueError, match="handicap"):
        GoEnv(size).position(handicap=count)


def test_a_position_from_any_board() -> None:
    env = GoEnv(3)
    board = [[1, 0, -1], [0, 1, 0], [-1, 0, 0]]
    position = env.position(board=board, to_play="white", komi=0)
    assert draw(position) == tidy("X . O / . X . / O . .".replace("/", "\n"))
    assert position.to_play == -1
    assert eval(position.describe()).board.tolist() == board
    assert env.position(board=position.board, black="B3").board[0, 1] == 1
    for wrong in ([[1, 0], [0, 1]], [[2, 0, 0], [0, 0, 0], [0, 0, 0]]):
        with pytest.raises(ValueError, match=r"board must be \[3, 3\] points of 1, -1 and 0"):
            env.position(board=wrong)
    with pytest.raises(ValueError, match="two stones were placed at A3"):
        env.position(board=board, black="A3")


def test_numbers_outside_the_board_have_no_text() -> None:
    for action in (-1, 82):
        with pytest.raises(ValueError, match=rf"no action {action} in GoEnv\(9\): actions are 0 to 81"):
            GoEnv(9).to_text(action)


def test_printing_marks_the_last_stone_and_star_points() -> None:
    start = GoEnv(3).position()
    assert str(play(start, "B B2, W C1")) == (
        "    A B C\n 3  . . .  3\n 2  . X .  2\n 1  . .(O) 1\n    A B C\n   move 2: Black (X) to play, komi 7.5\n"
        "   captures: X 0, O 0"
    )
    assert "(X)." in repr(play(start, "B B2"))
    for size, stars in ((7, 0), (9, 5), (13, 5), (19, 9)):
        assert str(GoEnv(size).position()).count("+") == stars
    assert str(GoEnv(9).position(black="C3 E5")).count("+") == 3
    assert "move 1: White (O) to play, last move pass, komi 7.5\n" in str(play(start, "B pass"))
