"""What a network receives, on drawings; random games hold it to plain Go in test_go_agreement.py."""

import re

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go_planes as features
from tests.diagrams import board, owners, play, position
from tests.env.test_go_ko import KO as ONE_KO
from tests.naive.go import random_board
from tests.random_games import random_game


def marked(shown: GoPosition, plane: int) -> str:
    """The points of a plane that are 1, in order; every other one has to be 0."""
    values = shown.planes()[place(shown.env, plane)].ravel()
    assert np.isin(values, (0, 1)).all()
    return " ".join(shown.env.to_text(int(action)) for action in np.flatnonzero(values))


def constant(shown: GoPosition, plane: int) -> float:
    """The number that all points of a plane hold."""
    values = np.unique(shown.planes()[place(shown.env, plane)])
    assert len(values) == 1
    return float(values[0])


def place(env: GoEnv, plane: int) -> int:
    """Where a plane stands in the environment's set."""
    return features.SETS[str(env.plane_set)].index(plane)


def test_stones_are_the_movers_and_the_enemys() -> None:
    drawing = """
        X . .
        . O .
        . . X
        """
    black, white = position(drawing), position(drawing, to_play="white")
    assert black.planes().shape == (16, 3, 3)
    assert black.planes().dtype == np.float32
    assert (marked(black, features.OWN), marked(black, features.ENEMY)) == ("A3 C1", "B2")
    assert (marked(white, features.OWN), marked(white, features.ENEMY)) == ("B2", "A3 C1")
    assert constant(black, features.ON_BOARD) == constant(white, features.ON_BOARD) == 1


def test_liberties_of_chains_of_either_colour() -> None:
    drawing = """
        X O . . . .
        . X O . . .
        . . . . O .
        X X . X . .
        O X . X X .
        . O . . . X
        """
    for mover in ("black", "white"):
        shown = position(drawing, to_play=mover)
        # A6's neighbours are B6 and A5: one liberty.
        assert marked(shown, features.ONE_LIBERTY) == "A6 B6 A2"
        assert marked(shown, features.TWO_LIBERTIES) == "B5 B1 F1"
        stones = np.abs(shown.board).sum()
        assert sum(len(marked(shown, plane).split()) for plane in (2, 3, 4)) == stones


@pytest.mark.parametrize(
    ("drawing", "liberties"),
    [
        ("X X X O / X . X O / X X X O / O O O .", 1),  # one inside, which four stones touch
        ("X X X . / X . X O / X X X O / O O O .", 2),
        ("X X X . / X . X . / X X X O / O O O .", 3),
        ("X X X . / X . X . / X X X . / O O O .", 4),
    ],
)
def test_a_liberty_is_counted_once(drawing: str, liberties: int) -> None:
    shown = position(drawing.replace("/", "\n"))
    black = {plane: marked(shown, plane) for plane in (2, 3, 4)}
    stones = marked(shown, features.OWN)
    assert set(stones.split()) <= set(black[1 + min(liberties, 3)].split())


KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    O X . . .
    """


def test_forbidden_points_are_suicides_and_superko() -> None:
    before = position(KO)
    assert marked(before, features.FORBIDDEN) == ""
    taken = play(before, "B C4")
    assert marked(taken, features.FORBIDDEN) == "A5 B4"  # White: suicide in the corner, and the ko
    later = play(taken, "W E1, B E3")
    assert marked(later, features.FORBIDDEN) == "A5"
    assert marked(play(later, "W B4"), features.FORBIDDEN) == "C4"  # Black's turn: the ko the other way round
    assert marked(position(KO, to_play="white"), features.FORBIDDEN) == ""  # White takes B5 there


def test_the_latest_three_moves() -> None:
    start = GoEnv(3).position()
    ages = [features.LAST_MOVE + age for age in range(3)]
    assert [marked(start, plane) for plane in ages] == ["", "", ""]
    assert [marked(play(start, "B A1"), plane) for plane in ages] == ["A1", "", ""]
    now = play(start, "B A1, W C3, B B2, W A3")
    assert [marked(now, plane) for plane in ages] == ["A3", "B2", "C3"]
    passed = play(now, "B pass, W C1")
    assert [marked(passed, plane) for plane in ages] == ["C1", "", "A3"]  # a pass has a place in the order, no point
    drawn = position("X . . / . . . / . . O".replace("/", "\n"))
    assert [marked(drawn, plane) for plane in ages] == ["", "", ""]  # a set-up has no past
    taken = position("O X . / . . . / . . .".replace("/", "\n"), "B A2, W C1, B C3")
    assert [marked(taken, plane) for plane in ages] == ["C3", "C1", "A2"]
    gone = position("X . O / . O . / . . .".replace("/", "\n"), "B B3, W A2")
    assert [marked(gone, plane) for plane in ages] == ["A2", "B3", ""]  # the stone at B3 is gone, the move is not


def test_a_pass_and_what_it_ends() -> None:
    start = GoEnv(3).position()
    assert constant(start, features.PASSED) == 0
    passed = play(start, "B pass")
    assert constant(passed, features.PASSED) == 1
    assert constant(play(passed, "W B2"), features.PASSED) == 0
    assert constant(play(passed, "W pass"), features.PASSED) == 1


def test_regions_are_empty_points_that_touch_one_colour() -> None:
    drawing = """
        . X . O .
        X X X O O
        O O O . .
        . . . . .
        . O . . .
        """
    black, white = position(drawing), position(drawing, to_play="white")
    assert marked(black, features.OWN_REGION) == marked(white, features.ENEMY_REGION) == "A5"
    theirs = marked(black, features.ENEMY_REGION)
    assert theirs == marked(white, features.OWN_REGION)
    assert theirs.startswith("E5 D3 E3 A2")
    assert "C5" not in theirs
    empty = GoEnv(3).position()
    assert marked(empty, features.OWN_REGION) == marked(empty, features.ENEMY_REGION) == ""


@pytest.mark.parametrize(
    ("komi", "margin"), [(0, 9), (7.5, 1.5), (9, 0), (9.5, -0.5), (-3, 12), (-40, 49), (60, -51), (-21, 30)]
)
def test_komi_score_and_who_is_ahead(komi: float, margin: float) -> None:
    """In tens of points, the mover's; the score is cut off at 30 points."""
    for mover, sign in (("black", 1), ("white", -1)):
        shown = position(". . . / . X . / . . .".replace("/", "\n"), komi=komi, to_play=mover)
        assert shown.score() == margin
        assert constant(shown, features.KOMI) == pytest.approx(-sign * komi / 10)
        assert constant(shown, features.SCORE) == pytest.approx(sign * min(max(margin / 10, -3), 3))
        assert constant(shown, features.AHEAD) == sign * np.sign(margin)


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_colours_exchanged_give_the_same_planes(size: int) -> None:
    """Every plane is the mover's: with White first and komi turned round it is the same game."""
    env = GoEnv(size, max_moves=60)
    passes = 0
    for seed in range(3):
        one = random_game(env, seed, komi=2.5)
        other = random_game(env, seed, komi=-2.5, to_play="white")
        assert len(one) == len(other)
        for here, there in zip(one, other, strict=True):
            assert here.to_play == -there.to_play
            assert np.array_equal(here.planes(), there.planes())
            assert np.array_equal(owners(here), -owners(there))
            assert here.score() == -there.score()
        passes += one[-1].moves.count(env.pass_action)
    assert passes > 0


# --- sets of planes --------------------------------------------------------------------------------


def test_a_networks_input_tells_its_set() -> None:
    """Every set has another even number of planes, boards alone an odd one; each begins with what all know."""
    counts = [len(planes) for planes in features.SETS.values()]
    assert len(set(counts)) == len(counts)
    for name, planes in features.SETS.items():
        assert len(planes) == len(set(planes)) == GoEnv(5, planes=name).planes
        assert len(planes) % 2 == 0
        assert max(planes) < features.PLANES
    assert features.SETS["rules"] == tuple(range(16))  # what the networks that come with the package see
    assert set().union(*features.SETS.values()) == set(range(features.PLANES))


@pytest.mark.parametrize("name", ["turns", "alive"])
def test_sets_hold_the_same_planes(name: str) -> None:
    """A plane is the same in every set, wherever it stands; what is not of a set leaves no trace."""
    start = {"board": random_board(5, [0.3, 0.4, 0.3], np.random.default_rng(3)), "komi": 3.5}
    everything = GoEnv(5, planes="alive")
    for moves in range(4):
        shown, known = (env.position(**start) for env in (GoEnv(5, planes=name), everything))
        for action in np.flatnonzero(shown.legal_mask)[:moves]:
            if shown.legal_mask[action]:
                shown, known = shown.play(int(action)), known.play(int(action))
        planes, all_planes = shown.planes(), known.planes()
        for plane in features.SETS[name]:
            assert np.array_equal(planes[place(shown.env, plane)], all_planes[place(everything, plane)])


def test_ko_apart_from_suicide() -> None:
    env = GoEnv(5, planes="turns")
    taken = position(KO, "B C4", env=env)
    assert marked(taken, features.FORBIDDEN) == "A5 B4"
    assert marked(taken, features.KO) == "B4"
    allowed = position(KO, "B C4", env=env.replace(suicide=True))
    assert marked(allowed, features.FORBIDDEN) == marked(allowed, features.KO) == "A5 B4"


def test_pass_alive_planes() -> None:
    drawing = """
        . X . X O
        X X X X O
        O O O O O
        . O . . .
        O O . . .
        """
    sides = (features.OWN_ALIVE, features.ENEMY_ALIVE)
    for mover, own, enemy in (("black", *sides), ("white", *reversed(sides))):
        shown = position(drawing, env=GoEnv(5, planes="alive"), to_play=mover)
        assert marked(shown, own) == "A5 B5 C5 D5 A4 B4 C4 D4"
        assert marked(shown, enemy) == ""  # a second eye is not closed yet
        closed = position(drawing.replace("O O . . .", "O O O . ."), env=shown.env, to_play=mover)
        assert marked(closed, enemy) == ""
        larger = drawing.replace("O O . . .", "O O O O .").replace(". O . . .", ". O O O .")
        lives = position(larger, env=shown.env, to_play=mover)
        assert marked(lives, enemy) == "E5 E4 A3 B3 C3 D3 E3 A2 B2 C2 D2 E2 A1 B1 C1 D1 E1"


def test_how_much_of_a_game_is_left() -> None:
    """In shares of two plies per point."""
    start = GoEnv(3, planes="turns", turns=3).position()
    assert constant(start, features.PLIES_LEFT) == pytest.approx(6 / 18)
    assert constant(play(start, "B B2, W A1, B pass"), features.PLIES_LEFT) == pytest.approx(3 / 18)
    assert constant(GoEnv(3, planes="turns", max_moves=0).position(), features.PLIES_LEFT) == 1


def test_boards_alone_tell_the_colour_to_move() -> None:
    """AlphaGo Zero's planes do not: the last one says whether Black is to move."""
    env = GoEnv(3, planes=17)
    black, white = env.position().planes(), env.position(to_play="white").planes()
    assert black[-1].all()
    assert not white.any()


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
    now = position(ONE_KO, "B C4, W A1, B B1, W C1, B D1, W E1, B E2", env=HISTORY)
    planes = now.planes()
    assert np.array_equal(planes[0] - planes[1], -now.board)  # White moves: own stones are White's
    oldest = planes[15] - planes[14]
    assert np.array_equal(oldest, board(ONE_KO))
    assert np.array_equal(
        play(now, "W pass").planes()[14] - play(now, "W pass").planes()[15], position(ONE_KO, "B C4").board
    )


def test_planes_before_a_set_up_are_empty() -> None:
    planes = position(ONE_KO, env=HISTORY, to_play="white").planes()
    assert np.array_equal(planes[0] - planes[1], -board(ONE_KO))
    assert not planes[2:].any()


@pytest.mark.parametrize("count", [3, 5, 17, 33])
def test_any_odd_number_of_planes(count: int) -> None:
    moves = ("A1", "B1", "C1", "D1", "E1")
    now, long = GoEnv(5, planes=count).position().after(moves), HISTORY.position().after(moves)
    same = min(count, 17) - 1
    assert now.planes().shape == (count, 5, 5)
    assert np.array_equal(now.planes()[:same], long.planes()[:same])
    assert np.array_equal(now.planes()[-1], long.planes()[-1])


@pytest.mark.parametrize("count", [0, 1, 2, 16, -3, 17.0, True, "", "rule", "17"])
def test_other_numbers_of_planes_are_refused(count: object) -> None:
    with pytest.raises(ValueError, match=rf"planes must be one of 'rules', .*, got {re.escape(repr(count))}"):
        GoEnv(9, planes=count)
