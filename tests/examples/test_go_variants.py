"""Go by other rules: the same as Go where the rules are the same, and each rule where they differ."""

import numpy as np
import pytest
from go_variants import CaptureGoEnv, GraphGoEnv, OutlineGoEnv, TorusGoEnv, TwoStonesGoEnv

from alphago import GoEnv, IllegalMove, check_game

VARIANTS = [TorusGoEnv(4), CaptureGoEnv(4), TwoStonesGoEnv(4), OutlineGoEnv(3, 5, "C2"), OutlineGoEnv(4, 4, "B2")]


class PlainGoEnv(GraphGoEnv):
    """Go without any other rule."""

    name = "plain-go"


@pytest.mark.parametrize("env", VARIANTS, ids=repr)
def test_contract(env: GraphGoEnv) -> None:
    check_game(env, games=1)
    assert env.replace() == env


def test_without_other_rules_it_is_go() -> None:
    """Random games: the same moves, boards, captures and scores as those of the package's Go."""
    plain, go, random = PlainGoEnv(4, 1.5), GoEnv(4, komi=1.5, max_moves=48, first_pass=8), np.random.default_rng(0)
    for _ in range(5):
        one, other = plain.position(), go.position()
        while not other.is_over:
            assert np.array_equal(one.legal_mask, other.legal_mask)
            moves = np.flatnonzero(other.legal_mask)
            action = int(random.choice(moves[:-1] if len(moves) > 1 else moves))
            one, other = one.play(action), other.play(action)
            assert np.array_equal(one.board, other.board)
        assert (one.is_over, one.captures, one.score()) == (True, other.captures, other.score())


def test_a_torus_has_no_corner() -> None:
    """A stone in the corner is taken by four; the board has all shifts and turns as symmetries."""
    position = TorusGoEnv(5).position()
    position = position.after(["A1", "A2", "C3", "B1", "C4", "E1", "D3"])
    assert position.board[4, 0] == 1
    position = position.play("A5")
    assert position.board[4, 0] == 0
    assert position.captures == (0, 1)
    assert len(TorusGoEnv(5).symmetries.points) == 25 * 8


def test_the_first_capture_wins() -> None:
    position = CaptureGoEnv(5).position().after(["C3", "A5", "A4", "E1", "B5"])
    assert (position.is_over, position.result) == (True, 1)
    with pytest.raises(ValueError, match="is not a point"):
        position.env.from_text("pass")


def test_two_stones_a_turn() -> None:
    """Nobody passes early; a pass ends a turn of one stone too, and two passes end the game."""
    start = TwoStonesGoEnv(5).position()
    with pytest.raises(IllegalMove, match="passing is allowed from move 13 on"):
        start.play("pass")
    position = start.after(["C3", "A1", "B1", "D3", "D4", "A5", "B5", "E1", "E2", "A3", "B3", "E5", "pass"])
    assert position.movers == (1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1)
    assert position.to_play == -1
    assert position.play("pass").is_over


def test_a_board_of_any_outline() -> None:
    """A missing point is no liberty and no territory, and nobody plays there."""
    env = OutlineGoEnv(2, 3, "B1 C1", komi=0.0)
    position = env.position().after(["A2", "B2"])
    with pytest.raises(IllegalMove, match="there is no point"):
        position.play("B1")
    after = position.play("C2")  # White's stone had liberties A2 and C2 only
    assert after.board.tolist() == [[1, 0, 1], [0, 0, 0]]
    assert after.score() == 4
    assert str(after).count(".") == 2
    assert env.board_view.lines == ((0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 2, 0))
    with pytest.raises(ValueError, match="only one board size, got 4"):
        env.resized(4)
