"""Area and score, on drawings: stones, and empty regions beside one colour only."""

import numpy as np
import pytest

from alphago.env.board import result_text
from alphago.env.go import GoEnv
from tests.diagrams import beside, draw, owners, play, position, tidy

# drawing -> owners
AREAS = {
    "the empty board": (". . / . .", ". . / . ."),
    "one stone owns everything": (". . . / . O . / . . .", "O O O / O O O / O O O"),
    "regions of each and one of nobody": beside(
        """
        . X O . .    X X O . .
        X X O . .    X X O . .
        O O . . .    O O . . .
        . . . . X    . . . . X
        O . . X .    O . . X X
        """
    ),
    "dead stones own their points": beside(
        """
        . X . .    X X . .
        X X . .    X X . .
        . . X .    . . X .
        O . . .    O . . .
        """
    ),
    "shared liberties of a seki are nobody's": beside(
        """
        O O X X    O O X X
        O . X X    O . X X
        O O X X    O O X X
        O . X X    O . X X
        """
    ),
    "two eyes": beside(
        """
        . X . O .    X X . O O
        X X X O O    X X X O O
        O O O O .    O O O O O
        . . . . .    O O O O O
        . . . . .    O O O O O
        """
    ),
}


def rows(drawing: str) -> str:
    return drawing.replace("/", "\n")


@pytest.mark.parametrize("mover", ["black", "white"])
@pytest.mark.parametrize(("drawing", "wanted"), AREAS.values(), ids=AREAS.keys())
def test_areas(drawing: str, wanted: str, mover: str) -> None:
    shown = position(rows(drawing), komi=0, to_play=mover)
    assert draw(owners(shown)) == tidy(rows(wanted))
    assert shown.score() == owners(shown).sum()


def test_it_is_the_movers_view() -> None:
    alone = position(". X . / . . . / . . .".replace("/", "\n"))
    ownership = alone.batch.ownership(np.zeros(1, np.int64), np.zeros((1, 9), np.int8))
    assert (ownership == 1).all()
    theirs = play(alone, "B pass").batch.ownership(np.zeros(1, np.int64), np.zeros((1, 9), np.int8))
    assert (theirs == -1).all()


def test_it_follows_captures_and_does_not_change_the_position() -> None:
    taken = position(
        """
        O X .
        . X .
        . X .
        """,
        "B A2",
    )
    assert draw(owners(taken)) == tidy(rows("X X X / X X X / X X X"))
    planes, mask = taken.planes(), taken.legal_mask.copy()
    owners(taken)
    assert np.array_equal(taken.planes(), planes)
    assert np.array_equal(GoEnv(3).position_of(taken.batch, 0).legal_mask, mask)


def test_an_empty_board_is_worth_komi_alone() -> None:
    assert GoEnv(9).position().score() == -7.5
    assert GoEnv(7).position().score() == -9
    assert GoEnv(9, komi=0).position().result == 0
    assert GoEnv(9, komi=-3.5).position().score() == 3.5


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
        expected = 0.7 * np.sign(margin) + 0.3 * np.tanh(margin / 10)
        assert graded.outcome == pytest.approx(expected)
        movers = graded.batch.outcome(np.zeros(1, np.int64), np.empty(1, np.float32))[0]  # White's
        assert movers == pytest.approx(-expected)
