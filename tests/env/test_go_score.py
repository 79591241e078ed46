"""Area and score, on drawings: stones, and empty regions beside one colour only; test_go_agreement.py plays games."""

import numpy as np
import pytest

from alphago.env.board import result_text
from alphago.env.go import GoEnv
from tests.diagrams import position


@pytest.mark.parametrize("mover", ["black", "white"])
@pytest.mark.parametrize(
    ("colour", "komi", "score", "text"),
    [
        ("X", 8.5, 0.5, "B+0.5"),
        ("X", 9, 0, "draw"),
        ("X", 9.5, -0.5, "W+0.5"),
        ("X", 0, 9, "B+9"),
        ("O", -10, 1, "B+1"),
    ],
)
def test_komi_decides(colour: str, komi: float, score: float, text: str, mover: str) -> None:
    """All of the board is one side's: 9 points."""
    ended = position(f". {colour} .\n. . {colour}\n. . .", komi=komi, to_play=mover)
    while not ended.is_over:
        ended = ended.play(ended.env.pass_action)
    assert (ended.komi, ended.score(), ended.result, ended.outcome) == (komi, score, np.sign(score), np.sign(score))
    assert result_text(ended.score()) == text
    assert "-0.0" not in {str(ended.result), str(ended.score()), str(ended.outcome)}


def test_outcomes_may_depend_on_the_margin_but_results_do_not() -> None:
    for komi, margin in ((4, 5), (9, 0), (20.5, -11.5)):
        graded = position(". X .\n. . X\n. . .", env=GoEnv(3, margin_weight=0.3), komi=komi, to_play="white")
        assert graded.result == np.sign(margin)
        expected = 0.7 * np.sign(margin) + 0.3 * np.tanh(margin / 10)
        assert graded.outcome == pytest.approx(expected)
        movers = graded.batch.outcome(np.zeros(1, np.int64), np.empty(1, np.float32))[0]  # White's
        assert movers == pytest.approx(-expected)
