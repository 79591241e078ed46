"""The rules of Go on drawings."""

import copy
import re

import numpy as np
import pytest

from alphago.env.board import result_text
from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.env.kernels import go_row as layout
from alphago.env.kernels.playouts import is_own_eye, random_action
from tests.diagrams import board, draw, is_legal, play, position, tidy


def after(drawing: str, moves: str, **setup) -> str:
    return draw(position(drawing, moves, **setup))


# --- captures --------------------------------------------------------------------------------------


def test_one_stone_is_captured() -> None:
    came = after(
        """
        . . . . .
        . . X . .
        . X O . .
        . . X . .
        . . . . .
        """,
        "B D3",
    )
    assert came == tidy(
        """
        . . . . .
        . . X . .
        . X . X .
        . . X . .
        . . . . .
        """
    )


def test_a_chain_is_captured_in_the_corner() -> None:
    came = after(
        """
        O O X . .
        O X . . .
        . . . . .
        . . . . .
        . . . . .
        """,
        "B A3",
    )
    assert came == tidy(
        """
        . . X . .
        . X . . .
        X . . . .
        . . . . .
        . . . . .
        """
    )


def test_a_chain_is_captured_on_the_edge() -> None:
    came = after(
        """
        . . . . .
        . . . X O
        . . X O O
        . . . X O
        . . . X O
        """,
        "B E5",
    )
    assert came == tidy(
        """
        . . . . X
        . . . X .
        . . X . .
        . . . X .
        . . . X .
        """
    )


def test_four_chains_are_captured_by_one_stone() -> None:
    drawing = """
        . . X . .
        . X O X .
        X O . O X
        . X O X .
        . . X . .
        """
    captured = position(drawing, "B C3")
    assert draw(captured) == tidy(
        """
        . . X . .
        . X . X .
        X . X . X
        . X . X .
        . . X . .
        """
    )
    # White's stones would be suicide now, each surrounded by Black.
    assert not any(is_legal(captured, point) for point in ("C4", "C2", "B3", "D3"))


def test_a_chain_that_touches_the_stone_three_times_is_captured_once() -> None:
    captured = position(
        """
        X X X X X
        X O O O X
        X O . O X
        X O X O X
        X X . X X
        """,
        "B C3",
    )
    assert draw(captured) == tidy(
        """
        X X X X X
        X . . . X
        X . X . X
        X . X . X
        X X . X X
        """
    )
    assert is_legal(captured, "C4")


def test_of_two_chains_in_atari_the_first_to_move_takes() -> None:
    drawing = """
        X X . . .
        O O X . .
        X . . . .
        . . . . .
        . . . . .
        """
    assert after(drawing, "B B3") == tidy(
        """
        X X . . .
        . . X . .
        X X . . .
        . . . . .
        . . . . .
        """
    )
    assert after(drawing, "W C5", to_play="white") == tidy(
        """
        . . O . .
        O O X . .
        X . . . .
        . . . . .
        . . . . .
        """
    )


# --- suicide ---------------------------------------------------------------------------------------


def test_suicide_is_illegal() -> None:
    single = position(
        """
        . X . . .
        X . . . .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play="white",
    )
    assert not is_legal(single, "A5")
    assert is_legal(single, "B4")
    several = position(
        """
        . O X . .
        X X . . .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play="white",
    )
    assert not is_legal(several, "A5")


def test_a_stone_without_liberty_is_legal_when_it_captures() -> None:
    captured = position(
        """
        . O X . .
        O X X . .
        O X . . .
        X X . . .
        . . . . .
        """,
        "B A5",
    )
    assert draw(captured) == tidy(
        """
        X . X . .
        . X X . .
        . X . . .
        X X . . .
        . . . . .
        """
    )


def test_an_own_eye_may_be_filled_while_another_is_left() -> None:
    two_eyes = """
        . X . X .
        X X X X .
        . . . . .
        . . . . .
        . . . . .
        """
    assert is_legal(position(two_eyes), "A5")
    assert not is_legal(position(two_eyes, to_play="white"), "A5")
    assert not is_legal(position(two_eyes, to_play="white"), "C5")


# --- ko and superko --------------------------------------------------------------------------------

KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    . . . . .
    """


def test_ko_may_not_be_retaken_at_once() -> None:
    taken = position(KO, "B C4")
    assert not is_legal(taken, "B4")
    # After a move elsewhere and an answer it may.
    retaken = play(taken, "W A1, B E1, W B4")
    assert draw(retaken) == tidy(
        """
        . X O . .
        X O . O .
        . X O . .
        . . . . .
        O . . . X
        """
    )
    assert not is_legal(retaken, "C4")


def test_passes_are_no_boards_of_their_own() -> None:
    """Positional superko: the board alone counts, however often and by whom it was passed on."""
    passed = position(KO, "B C4, W pass, B A1, W B4")
    assert not is_legal(passed, "C4")
    assert is_legal(play(passed, "B pass, W E1"), "C4")


def test_sending_two_returning_one_is_illegal() -> None:
    """Three plies after, the same board: simple ko would allow it, and so would situational superko."""
    drawing = """
        . X . X .
        O O X . .
        . . . . .
        . . . . .
        . . . . .
        """
    sent = position(drawing, "B A5, W C5")
    assert draw(sent) == tidy(
        """
        . . O X .
        O O X . .
        . . . . .
        . . . . .
        . . . . .
        """
    )
    assert not is_legal(sent, "B5")
    with pytest.raises(IllegalMove, match="superko, the board would be one that was there before"):
        sent.play(sent.env.from_text("B5"))
    assert is_legal(play(sent, "B E1, W E2"), "B5")


def test_triple_ko_ends_after_six_plies() -> None:
    drawing = """
        . X O . . . . . .
        X O . O . . . . .
        . X O . . . . . .
        . X O . . . . . .
        X . X O . . . . .
        . X O . . . . . .
        . X O . . . . . .
        X O . O . . . . .
        . X O . . . . . .
        """
    round_trip = position(drawing, "B C8, W B5, B C2, W B8, B C5")
    assert not is_legal(round_trip, "B2")
    changed = position(drawing, "B C8, W B5, B C2, W J9, B J1, W B8, B C5")
    assert is_legal(changed, "B2")


def test_superko_counts_a_captured_chain_once_however_often_the_stone_touches_it() -> None:
    """White takes E5 and surrounds it with three chains, one on two sides; taking them back repeats the start."""
    drawing = """
        . . . . . . . . .
        . . . . X . . . .
        . . . X . X . . .
        . . . X . X X . .
        . . X . X . . X .
        . . X . . X X . .
        . . . X X . . . .
        . . . . . . . . .
        . . . . . . . . .
        """
    moves = "W E6, B pass, W F5, B pass, W D5, B pass, W E4, B pass, W E7, B pass, W G5, B pass, W D4"
    surrounded = position(drawing, moves, to_play="white")
    assert draw(surrounded) == tidy(
        """
        . . . . . . . . .
        . . . . X . . . .
        . . . X O X . . .
        . . . X O X X . .
        . . X O . O O X .
        . . X O O X X . .
        . . . X X . . . .
        . . . . . . . . .
        . . . . . . . . .
        """
    )
    assert not is_legal(surrounded, "E5")
    assert (play(surrounded, "B A1, W J9, B E5").board == -1).sum() == 1


def test_superko_remembers_the_set_up_board_but_nothing_before_it() -> None:
    taken = position(KO, "B C4")
    assert not is_legal(taken, "B4")
    assert is_legal(position(draw(taken), to_play="white"), "B4")


# --- shapes ----------------------------------------------------------------------------------------


def test_snapback() -> None:
    drawing = """
        X O . . X
        X O O O X
        . X X X .
        . . . . .
        . . . . .
        """
    thrown_in = position(drawing, "B C5")
    taken = play(thrown_in, "W D5")
    assert draw(taken) == tidy(
        """
        X O . O X
        X O O O X
        . X X X .
        . . . . .
        . . . . .
        """
    )
    assert draw(play(taken, "B C5")) == tidy(
        """
        X . X . X
        X . . . X
        . X X X .
        . . . . .
        . . . . .
        """
    )


SEKI = """
    O O X X
    O . X X
    O O X X
    O . X X
    """


@pytest.mark.parametrize("colour", ["black", "white"])
@pytest.mark.parametrize("point", ["B3", "B1"])
def test_in_a_seki_both_may_fill_and_are_then_taken(colour: str, point: str) -> None:
    seki = position(SEKI, to_play=colour, komi=0)
    assert is_legal(seki, point)
    other = "B1" if point == "B3" else "B3"
    filled = seki.play(seki.env.from_text(point))
    taken = filled.play(seki.env.from_text(other))
    assert (taken.board == seki.to_play).sum() == 0


def test_liberties_shared_in_a_seki_are_nobodys() -> None:
    assert position(SEKI, komi=0).score() == 8 - 6
    assert position(SEKI, komi=0, to_play="white").score() == 2
    assert position(SEKI, komi=2).result == 0


# --- the end of the game ---------------------------------------------------------------------------


def test_two_passes_end_the_game() -> None:
    start = GoEnv(5).position()
    assert not play(start, "B pass").is_over
    ended = play(start, "B pass, W pass")
    assert ended.is_over
    assert not ended.legal_mask.any()
    assert ended.result == -1
    assert ended.score() == -7.5
    assert "game over, W+7.5" in str(ended)


def test_a_move_between_two_passes_keeps_the_game_going() -> None:
    start = GoEnv(5).position()
    going = play(start, "B pass, W C3, B pass, W B2, B pass")
    assert not going.is_over
    assert play(going, "W pass").is_over


def test_the_move_cap_is_seven_fifths_of_the_board() -> None:
    caps = {size: GoEnv(size).max_moves for size in (2, 3, 5, 7, 9, 13, 19)}
    assert caps == {2: 5, 3: 12, 5: 35, 7: 68, 9: 113, 13: 236, 19: 505}


def test_at_the_move_cap_the_game_is_scored_as_it_stands() -> None:
    start = GoEnv(3, max_moves=3, komi=0.5).position()
    going = play(start, "B B2, W pass")
    assert not going.is_over
    ended = play(going, "B A1")
    assert ended.is_over
    assert not ended.legal_mask.any()
    assert ended.score() == 8.5
    assert ended.result == 1
    with pytest.raises(IllegalMove, match=r"illegal move pass: the game is over, in GoEnv\(3, komi=0.5"):
        ended.play(9)


# --- score -----------------------------------------------------------------------------------------


def test_an_empty_board_is_worth_komi_alone() -> None:
    assert GoEnv(9).position().score() == -7.5
    assert GoEnv(7).position().score() == -9
    assert GoEnv(9, komi=0).position().result == 0
    assert GoEnv(9, komi=-3.5).position().score() == 3.5


def test_points_that_reach_both_colours_are_nobodys() -> None:
    drawn = position(
        """
        . X . O .
        X X . O O
        . X . O .
        . X . O .
        . X . O .
        """,
        komi=0.5,
    )
    assert drawn.score() == -0.5
    one_side = position(
        """
        . . . . .
        . . X . .
        . . . . .
        . . . . .
        . . . . .
        """,
        komi=7.5,
    )
    assert one_side.score() == 25 - 7.5


def test_dead_stones_on_the_board_count_as_alive() -> None:
    drawing = """
        . X . . .
        X X . . .
        . . . . .
        X X X X X
        . . O . .
        """
    assert position(drawing, komi=0).score() == 8 + 12 - 1


@pytest.mark.parametrize(
    ("komi", "score", "result", "text"),
    [(8, 1, 1, "B+1"), (9, 0, 0, "draw"), (8.5, 0.5, 1, "B+0.5"), (9.5, -0.5, -1, "W+0.5"), (0, 9, 1, "B+9")],
)
def test_komi_decides(komi: float, score: float, result: int, text: str) -> None:
    drawing = """
        . X .
        . . X
        . . .
        """
    for mover in ("black", "white"):
        ended = position(drawing, komi=komi, to_play=mover)
        assert (ended.score(), ended.result) == (score, result)
        assert str(ended.result) != "-0.0"
        assert str(ended.score()) != "-0.0"
        assert result_text(ended.score()) == text
        assert ended.komi == komi


@pytest.mark.parametrize("mover", ["black", "white"])
@pytest.mark.parametrize(("komi", "text"), [(-9, "draw"), (-8.5, "W+0.5"), (-9.5, "B+0.5"), (-10, "B+1")])
def test_komi_that_black_gets(komi: float, text: str, mover: str) -> None:
    """All of the board is White's: 9 points, which a komi of -9 makes a draw."""
    ended = position(
        """
        . O .
        . . O
        . . .
        """,
        komi=komi,
        to_play=mover,
    )
    while not ended.is_over:
        ended = ended.play(ended.env.pass_action)
    assert result_text(ended.score()) == text
    winner = {"d": 0, "B": 1, "W": -1}[text[0]]
    assert (ended.result, ended.outcome, ended.score()) == (winner, winner, -9 - komi)
    assert str(ended.outcome) != "-0.0"


def test_a_big_komi_and_a_full_19x19_board_score_exactly() -> None:
    env = GoEnv(19)
    full = env.position(black=[a for a in range(361) if a != 180], komi=-999.5)
    assert full.score() == 361 + 999.5


@pytest.mark.parametrize("komi", [7.25, float("nan"), float("inf"), 5000])
def test_komi_is_a_multiple_of_half_a_point(komi: float) -> None:
    with pytest.raises(ValueError, match=r"komi must be a multiple of 0.5 from -1000 to 1000"):
        GoEnv(9, komi=komi)
    with pytest.raises(ValueError, match=r"komi must be a multiple of 0.5"):
        GoEnv(9).position(komi=komi)


def test_outcomes_may_depend_on_the_margin_but_results_do_not() -> None:
    drawing = """
        . X .
        . . X
        . . .
        """
    for komi, margin in ((4, 5), (9, 0), (20.5, -11.5)):
        graded = position(drawing, env=GoEnv(3, margin_weight=0.3), komi=komi, to_play="white")
        assert graded.result == np.sign(margin)
        outcome = graded.batch.outcome(np.zeros(1, np.int64), np.empty(1, np.float32))[0]
        assert outcome == pytest.approx(-(0.7 * np.sign(margin) + 0.3 * np.tanh(margin / 10)))
    with pytest.raises(ValueError, match="margin_weight must be a number from 0 to 1"):
        GoEnv(3, margin_weight=1.5)


# --- texts -----------------------------------------------------------------------------------------


def test_coordinates_start_at_the_lower_left_and_leave_out_i() -> None:
    env = GoEnv(19)
    assert env.to_text(0) == "A19"
    assert env.to_text(18) == "T19"
    assert env.to_text(18 * 19) == "A1"
    assert env.to_text(360) == "T1"
    assert [env.to_text(column) for column in range(6, 10)] == ["G19", "H19", "J19", "K19"]
    assert env.to_text(361) == "pass"


@pytest.mark.parametrize("text", ["D4", "d4", " D4 ", "d4\n"])
def test_points_are_read_in_either_case(text: str) -> None:
    assert GoEnv(9).from_text(text) == 5 * 9 + 3
    assert GoEnv(19).from_text(text) == 15 * 19 + 3


@pytest.mark.parametrize("text", ["pass", "PASS", "Pass "])
def test_pass_is_read_in_either_case(text: str) -> None:
    assert GoEnv(9).from_text(text) == 81


@pytest.mark.parametrize("text", ["", "I5", "i5", "K1", "A0", "A10", "4D", "D", "D4 E5", "D-4", "dd", "resign"])
def test_other_texts_are_refused_in_a_sentence(text: str) -> None:
    expected = f"{text!r} is no point of GoEnv(9): expected A1 to J9 (no column I) or pass"
    with pytest.raises(ValueError, match=re.escape(expected)):
        GoEnv(9).from_text(text)


def test_numbers_outside_the_board_have_no_text() -> None:
    for action in (-1, 82):
        with pytest.raises(ValueError, match=rf"no action {action} in GoEnv\(9\): actions are 0 to 81"):
            GoEnv(9).to_text(action)


def test_printing_marks_the_last_stone() -> None:
    start = GoEnv(3).position()
    assert str(play(start, "B B2, W C1")) == (
        "    A B C\n 3  . . .  3\n 2  . X .  2\n 1  . .(O) 1\n    A B C\n   move 2: Black (X) to play, komi 7.5"
    )
    assert "(X)." in str(play(start, "B B2"))
    assert str(play(start, "B pass")).endswith("move 1: White (O) to play, last move pass, komi 7.5")


# --- planes of boards alone (those of what the rules know: test_go_features.py) --------------------

HISTORY = GoEnv(5, planes=17)


def test_planes_carry_the_history_from_the_movers_view() -> None:
    env = GoEnv(3, planes=17)
    now = play(env.position(), "B A1, W C3, B B2")
    planes = now.planes()
    assert planes.shape == (17, 3, 3)
    assert planes.dtype == np.float32
    black = [board(". . ./. X ./X . .".replace("/", "\n")), board(". . ./. . ./X . .".replace("/", "\n"))]
    white = board(". . O/. . ./. . .".replace("/", "\n"))
    # White moves: own stones first.  Newest board, then one and two plies earlier, then before the start.
    assert np.array_equal(planes[0], white == -1)
    assert np.array_equal(planes[1], black[0] == 1)
    assert np.array_equal(planes[2], white == -1)
    assert np.array_equal(planes[3], black[1] == 1)
    assert not planes[4].any()
    assert np.array_equal(planes[5], black[1] == 1)
    assert not planes[6:16].any()
    assert not planes[16].any()
    # A pass repeats the board; Black's own stones come first now, and the last plane is full.
    passed = play(now, "W pass").planes()
    assert np.array_equal(passed[0], planes[1])
    assert np.array_equal(passed[1], planes[0])
    assert np.array_equal(passed[2:16:2], planes[1:14:2])
    assert np.array_equal(passed[3:16:2], planes[0:14:2])
    assert passed[16].all()


def test_history_holds_eight_boards_and_captured_stones() -> None:
    now = position(KO, "B C4, W A1, B B1, W C1, B D1, W E1, B E2", env=HISTORY)
    planes = now.planes()
    assert np.array_equal(planes[0] - planes[1], -now.board)  # White moves: own stones are White's
    oldest = planes[15] - planes[14]
    assert np.array_equal(oldest, board(KO))
    assert np.array_equal(
        play(now, "W pass").planes()[14] - play(now, "W pass").planes()[15], position(KO, "B C4").board
    )


def test_planes_before_a_set_up_are_empty() -> None:
    planes = position(KO, env=HISTORY, to_play="white").planes()
    assert np.array_equal(planes[0] - planes[1], -board(KO))
    assert not planes[2:].any()


@pytest.mark.parametrize("count", [3, 5, 17, 33])
def test_any_odd_number_of_planes(count: int) -> None:
    env = GoEnv(5, planes=count)
    now = env.position()
    for point in ("A1", "B1", "C1", "D1", "E1"):
        now = now.play(env.from_text(point))
    long = HISTORY.position()
    for point in ("A1", "B1", "C1", "D1", "E1"):
        long = long.play(env.from_text(point))
    same = min(count, 17) - 1
    assert now.planes().shape == (count, 5, 5)
    assert np.array_equal(now.planes()[:same], long.planes()[:same])
    assert np.array_equal(now.planes()[-1], long.planes()[-1])


@pytest.mark.parametrize("count", [0, 1, 2, 16, -3, 17.0, True, "", "rule", "17"])
def test_other_numbers_of_planes_are_refused(count: object) -> None:
    with pytest.raises(ValueError, match=rf"planes must be one of 'rules', .*, got {re.escape(repr(count))}$"):
        GoEnv(9, planes=count)


# --- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "point", "text"),
    [
        ("B C3", "C3", "illegal move C3: Black has a stone there, in GoEnv(5) after B C3"),
        ("B C3, W D4", "D4", "illegal move D4: White has a stone there, in GoEnv(5) after B C3, W D4"),
        ("B A4, W C3, B B5", "A5", "illegal move A5: suicide, in GoEnv(5) after B A4, W C3, B B5"),
        ("B pass, W pass", "C3", "illegal move C3: the game is over, in GoEnv(5) after B pass, W pass"),
    ],
)
def test_illegal_moves_say_why_and_where(moves: str, point: str, text: str) -> None:
    now = play(GoEnv(5).position(), moves)
    with pytest.raises(IllegalMove) as caught:
        now.play(now.env.from_text(point))
    assert str(caught.value) == text


def test_an_illegal_ko_names_the_set_up() -> None:
    taken = position(KO, "B C4", komi=0.5)
    with pytest.raises(IllegalMove) as caught:
        taken.play(taken.env.from_text("B4"))
    start = "GoEnv(5).position(black='B5 A4 B3', white='C5 B4 D4 C3', komi=0.5)"
    assert str(caught.value) == (
        f"illegal move B4: superko, the board would be one that was there before, in {start} after B C4"
    )
    assert draw(eval(start)) == tidy(KO)  # it can be pasted back


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (26, "no action 26 in GoEnv(5): actions are 0 to 25"),
        (-1, "no action -1 in GoEnv(5): actions are 0 to 25"),
        ("C3", "action must be an integer, got 'C3'; env.from_text('…') reads a written move"),
        (None, "action must be an integer, got None; env.from_text('…') reads a written move"),
        (True, "action must be an integer, got True; env.from_text('…') reads a written move"),
        (3.0, "action must be an integer, got 3.0; env.from_text('…') reads a written move"),
    ],
)
def test_what_is_no_action_is_refused(action: object, text: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        GoEnv(5).position().play(action)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"black": "C3", "white": "C3"}, "two stones were placed at C3"),
        ({"black": "C3 C3"}, "two stones were placed at C3"),
        ({"black": "F1"}, "'F1' is no point of GoEnv(5): expected A1 to E5 (no column I) or pass"),
        ({"black": ["pass"]}, "stones must be on points of GoEnv(5), got 'pass'"),
        ({"white": [25]}, "stones must be on points of GoEnv(5), got 25"),
        ({"white": [-1]}, "stones must be on points of GoEnv(5), got -1"),
        ({"black": "A5", "white": "A4 B5"}, "the chain at A5 has no liberty"),
        ({"white": "A5", "black": "A4 B5"}, "the chain at A5 has no liberty"),
        ({"black": range(25)}, "the chain at A5 has no liberty"),
        ({"to_play": "red"}, "to_play must be 'black' or 'white' (or +1, -1), got 'red'"),
        ({"to_play": 0}, "to_play must be 'black' or 'white' (or +1, -1), got 0"),
    ],
)
def test_set_ups_that_cannot_be_are_refused(setup: dict, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        GoEnv(5).position(**setup)


def test_a_batch_refuses_stones_of_another_board() -> None:
    batch = GoEnv(5).new_batch(1)
    with pytest.raises(ValueError, match=re.escape("stones must have shape [5, 5], got [4, 4]")):
        batch.reset(np.zeros(1, np.int64), stones=np.zeros((4, 4), np.int8))


@pytest.mark.parametrize("size", [1, 26, 0, -9])
def test_board_sizes_go_from_2_to_25(size: int) -> None:
    with pytest.raises(ValueError, match=f"board_size must be an integer from 2 to 25, got {size}"):
        GoEnv(size)


@pytest.mark.parametrize("size", ["9", 9.0, None, True])
def test_a_board_size_is_a_whole_number(size: object) -> None:
    with pytest.raises(ValueError, match="board_size must be an integer from 2 to 25"):
        GoEnv(size)


# --- positions and games as values -----------------------------------------------------------------


def test_positions_never_change() -> None:
    start = position(KO)
    before = (draw(start), start.planes(), start.legal_mask.copy(), start.to_play)
    taken = start.play(start.env.from_text("C4"))
    assert draw(taken) != before[0]
    assert draw(start) == before[0]
    assert np.array_equal(start.planes(), before[1])
    assert np.array_equal(start.legal_mask, before[2])
    assert start.to_play == before[3]
    assert start.moves == ()
    for array in (start.board, start.legal_mask):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_set_ups_take_texts_lists_and_actions_alike() -> None:
    env = GoEnv(5)
    ways = [{"black": "C3 d4"}, {"black": ["C3", "D4"]}, {"black": [12, 8]}, {"black": np.array([8, 12])}]
    assert len({draw(env.position(**way)) for way in ways}) == 1
    for mover in ("white", "W", -1):
        assert env.position(to_play=mover).to_play == -1
    assert repr(env.position(black="C3", to_play="w")) == "<GoEnv(5).position(black='C3', to_play='white')>"


def test_games_are_equal_when_their_rules_are() -> None:
    assert GoEnv(9) == GoEnv(9, komi=7.5, planes=None, max_moves=113)
    assert GoEnv(9) != GoEnv(9, planes=17)
    assert GoEnv(7) == GoEnv(7, komi=9)
    assert len({GoEnv(9), GoEnv(9, komi=7.5), GoEnv(9, komi=6.5), GoEnv(9, planes=3), GoEnv(8)}) == 4
    assert GoEnv(9) != 9
    assert repr(GoEnv(9)) == "GoEnv(9)"
    assert repr(GoEnv(9, komi=6, planes=3)) == "GoEnv(9, komi=6.0, planes=3)"
    for env in (GoEnv(7), GoEnv(9, komi=6, max_moves=50), GoEnv(5, planes=17, komi_spread=0.5)):
        assert eval(repr(env)) == env
        assert GoEnv(**env.config) == env


def test_the_smallest_board() -> None:
    env = GoEnv(2, komi=0)
    taken = play(env.position(), "B A1, W A2, B B2")
    assert draw(taken) == ". X\nX ."
    assert not is_legal(taken, "A2")
    assert not is_legal(taken, "B1")
    assert taken.legal_mask.tolist() == [False, False, False, False, True]
    assert play(taken, "W pass, B pass").is_over
    assert taken.score() == 4


# --- what went wrong in earlier programs -----------------------------------------------------------


def test_deep_copies_keep_history_ko_and_the_end() -> None:
    ended = position(KO, "B C4, W pass, B pass")
    assert copy.deepcopy(ended).is_over
    taken = copy.deepcopy(position(KO, "B C4", env=HISTORY))
    assert np.array_equal(taken.planes(), position(KO, "B C4", env=HISTORY).planes())
    assert taken.planes()[2:16].any()
    assert not is_legal(taken, "B4")
    assert play(taken, "W pass, B pass").is_over


@pytest.mark.parametrize("planes", [None, 17])
def test_copying_back_undoes_captures_of_both_colours(planes: int | None) -> None:
    """Elsewhere a copy brought back only one player's captures, and lost the planes of earlier boards."""
    taken = position(KO, "B C4", env=GoEnv(5, planes=planes))
    batch = taken.env.new_batch(2)
    game, spare = np.array([0]), np.array([1])
    batch.copy(np.array([0]), game, of=taken.batch)
    batch.copy(game, spare)
    for point in ("A1", "E3", "B4", "D5"):  # White retakes the ko
        batch.play(game, np.array([taken.env.from_text(point)], np.int32))
    moved = taken.env.position_of(batch, 0)
    assert (moved.board != taken.board).sum() == 5
    batch.copy(spare, game)
    back = taken.env.position_of(batch, 0)
    assert draw(back) == draw(taken)
    assert np.array_equal(back.planes(), taken.planes())
    assert np.array_equal(back.legal_mask, taken.legal_mask)
    assert back.score() == taken.score()


def test_random_play_chooses_every_legal_point_equally_often() -> None:
    """Elsewhere the lowest-numbered legal point was never played, and a single one ended in an error."""
    state = np.array([1], np.int64)
    row = position(
        """
        . X . .
        X X X X
        O O O O
        O O . O
        """
    ).batch.rows[0]
    counts = np.bincount([random_action(row, state, True) for _ in range(3000)], minlength=17)
    assert set(np.flatnonzero(counts)) == {0, 2, 3, 14}
    assert counts[[0, 2, 3, 14]].min() > 650
    single = position("X . / . O".replace("/", "\n"), to_play="black").batch.rows[0]
    assert {random_action(single, state, True) for _ in range(50)} == {1, 2}
    nothing = play(GoEnv(2).position(), "B A1, W A2, B B2").batch.rows[0]
    assert random_action(nothing, state, True) == 4


@pytest.mark.parametrize(
    ("corners", "is_eye"), [("XXXX", True), ("X...", True), ("O...", True), ("OXXO", False), (".OO.", False)]
)
def test_light_random_play_fills_no_eyes(corners: str, is_eye: bool) -> None:
    """An eye is false with two enemy stones at its corners, on the edge of the board with one."""
    centre = """
        . . . . .
        . {} X {} .
        . X . X .
        . {} X {} .
        . . . . .
        """
    row = position(centre.format(*corners)).batch.rows[0]
    assert is_own_eye(row, layout.point_of(row, 12), layout.BLACK) == is_eye
    side = position(
        """
        X . X . .
        {} X {} . .
        . . . . .
        . . . . .
        . . . . .
        """.format(*corners[:2])
    ).batch.rows[0]
    assert is_own_eye(side, layout.point_of(side, 1), layout.BLACK) == ("O" not in corners[:2])


def test_pass_is_the_last_action_like_any_other() -> None:
    env = GoEnv(5)
    assert env.from_text(env.to_text(25)) == 25 == env.pass_action == env.action_space - 1
    assert env.position().legal_mask[25]
    assert play(env.position(), "B pass").moves == (25,)
