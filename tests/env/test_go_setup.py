"""Go positions with a past: captures, ko, move numbers and earlier boards, counted and set up."""

import json

import numpy as np
import pytest

from alphago.env.go import GoEnv
from tests.diagrams import draw, is_legal, play, position
from tests.env.test_go_ko import KO, KO_RULES
from tests.random_games import random_game


class TestCaptures:
    def test_suicide_is_the_other_sides_capture(self) -> None:
        lost = GoEnv(3, suicide=True, komi=0).position(black="A3", white="A2 B2 C3").play("B3")
        assert lost.board[0].tolist() == [0, 0, -1]
        assert lost.captures == (0, 2)

    def test_a_random_game(self) -> None:
        """Stones are on the board or taken, in every position of a game with a handicap."""
        for now in random_game(GoEnv(5), 1, handicap=0, black="B2 D4", to_play="white"):
            blacks = 2 + sum(action != 25 for action in now.moves[1::2])
            whites = sum(action != 25 for action in now.moves[::2])
            assert now.captures == (whites - (now.board == -1).sum(), blacks - (now.board == 1).sum())
        assert sum(now.captures) > 0


class TestKo:
    @pytest.mark.parametrize("rule", KO_RULES)
    def test_the_point_is_marked_and_set_up(self, rule: str) -> None:
        """As if the stone had just been taken, and free again two moves later as far as the rule goes."""
        env = GoEnv(5, ko=rule)
        taken = position(KO, "B C4", env=env)
        assert taken.ko_points == (env.from_text("B4"),)
        lines = str(taken).splitlines()
        assert (lines[2][6], lines[-1]) == ("*", "   captures: X 1, O 0, * forbidden by ko")
        assert position(KO, env=env).ko_points == ()
        again = env.position(board=taken.board, to_play="white", ko="B4", move_number=30, captures=(3, 2))
        assert np.array_equal(again.legal_mask, taken.legal_mask)
        assert (again.ko_points, again.captures, again.move_number) == (taken.ko_points, (3, 2), 30)
        later = play(again, "W A1, B E1")
        assert (later.ko_points, is_legal(later, "B4")) == ((), True)

    @pytest.mark.parametrize("point", ["A1", "C4", "pass", "Z9"])
    def test_other_points_are_none(self, point: str) -> None:
        taken = position(KO, "B C4")
        with pytest.raises(ValueError, match=f"ko must be a point where White would take one stone, got '{point}'"):
            taken.env.position(board=taken.board, to_play="white", ko=point)


class TestHistory:
    def test_a_game_is_set_up_from_its_boards(self) -> None:
        """Planes, ko, captures and moves are the game's."""
        env = GoEnv(5, planes=9)
        game = play(env.position(komi=0.5), "B C4, W B4, B B3, W C3, B A4, W D4, B B5, W pass, B E1")
        boards = [one.board for one in game.replay()]
        again = env.position(board=boards[-1], history=boards[:-1], komi=0.5)
        assert (again.moves, again.setup, again.to_play) == (game.moves, {"komi": 0.5}, -1)
        assert np.array_equal(again.planes(), game.planes())
        assert (again.captures, again.move_number) == (game.captures, 9)
        assert game.captures == (1, 0)
        late = env.position(board=boards[-1], history=boards[6:-1], move_number=30, captures=(5, 5), to_play="white")
        assert (late.moves, late.move_number, late.captures) == (game.moves[6:], 30, (5, 5))
        assert late.setup["captures"] == (4, 5)

    def test_captures_that_the_history_shows(self) -> None:
        taken = position(KO, "B C4")
        with pytest.raises(ValueError, match="at least 1 and 0 as the boards show, got \\(0, 2\\)"):
            taken.env.position(board=taken.board, to_play="white", ko="B4", captures=(0, 2))


def test_a_move_number_counts_for_the_end() -> None:
    late = GoEnv(5, max_moves=40).position(black="C3", move_number=38)
    assert not late.play("A1").is_over
    assert late.play("A1").play("B1").is_over
    assert "\n   move 38: " in str(late)


def test_a_set_up_can_be_saved_and_pasted_back() -> None:
    taken = position(KO, "B C4")
    again = taken.env.position(board=taken.board, to_play="white", ko="B4", move_number=7, captures=(2, 1))
    setup = json.loads(json.dumps(again.setup))
    from_file = taken.env.position(**setup).play(again.moves[0])
    pasted = eval(again.describe().split(" after ")[0]).play(again.moves[0])
    for one in (from_file, pasted):
        assert (draw(one), one.captures, one.move_number) == (draw(again), (2, 1), 7)
        assert np.array_equal(one.legal_mask, again.legal_mask)
