"""Options of GoEnv that are no rules of Go: margins in outcomes, a first ply for passing, what self-play uses."""

import math

import numpy as np
import pytest

from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.player import MCTSPlayer


def test_margin_weight_grades_outcomes_but_not_results() -> None:
    env = GoEnv(5, komi=0.5, margin_weight=0.3)
    position = env.position(black="A1 B1 C1 D1 E1", white="A5")  # 5 points against 1 and komi
    assert position.score() == 3.5
    assert position.outcome == pytest.approx(0.7 + 0.3 * math.tanh(0.35))
    assert position.result == 1
    assert env.position(white="A5").outcome < -0.9
    even = GoEnv(5, komi=25, margin_weight=0.3).position(black="C3")
    assert (even.outcome, even.result) == (0, 0)
    assert GoEnv(5, komi=0.5).position(black="A1").outcome == 1


def test_first_pass() -> None:
    env = GoEnv(3, first_pass=2)
    position = env.position()
    assert not position.legal_mask[env.pass_action]
    with pytest.raises(IllegalMove, match="illegal move pass: passing is allowed from move 2 on"):
        position.play(env.pass_action)
    later = position.play(env.from_text("B2")).play(env.from_text("A1"))
    assert later.legal_mask[env.pass_action]


def test_a_pass_is_legal_early_where_nothing_else_is() -> None:
    env = GoEnv(2, first_pass=20)
    position = env.position(black="A1 A2 B1")
    assert np.flatnonzero(position.legal_mask).tolist() == [4]  # filling the last point would be suicide
    white = env.position(black="A1 A2 B1", to_play="white")
    assert np.flatnonzero(white.legal_mask).tolist() == [1]  # White takes all three there
    two_eyes = GoEnv(3, first_pass=20).position(black="A2 B2 C2 B1 B3", to_play="white")
    assert np.flatnonzero(two_eyes.legal_mask).tolist() == [9]


@pytest.mark.parametrize(
    "wrong", [{"first_pass": -1}, {"first_pass": 1.5}, {"margin_weight": 2}, {"margin_weight": -0.1}]
)
def test_wrong_options(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GoEnv(9, **wrong)


def test_training_variant() -> None:
    variant = GoEnv(9, komi=5.5, planes=5).training_variant()
    assert (variant.N, variant.komi, variant.planes) == (9, 5.5, 5)
    assert (variant.first_pass, variant.margin_weight) == (72, 0.3)
    chosen = GoEnv(9, first_pass=10, margin_weight=0.5)
    assert chosen.training_variant() == chosen


def test_positions_of_other_komi_are_accepted_and_keep_it() -> None:
    env, other = GoEnv(5), GoEnv(5, komi=0.5, margin_weight=0.3, first_pass=3)
    assert env.accepts(other)
    assert not env.accepts(GoEnv(6))
    assert not env.accepts(GoEnv(5, planes=5))
    assert not env.accepts(GoEnv(5, max_moves=9))
    player = MCTSPlayer(env, HashEvaluator(), num_readouts=4)
    player.initialize_game(other.position(black="C3"))
    for name in ("A1", "B2", "D4", "pass", "pass"):
        player.play_move(env.from_text(name))
    record = player.extract_data()
    assert record.setup["komi"] == 0.5
    assert record.position(env).score() == player.position.score() == record.score
