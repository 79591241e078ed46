"""Positions of any game: what an illegal move tells."""

import pickle

import pytest

from alphago import GoEnv, IllegalMove, OwareEnv
from alphago.env.position import UnknownMove
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.diagrams import play
from tests.mcts.games import Counting, CountingEnv
from tests.ui.own_games import NimEnv


def refused(position: object, move: object) -> IllegalMove:
    with pytest.raises(IllegalMove) as caught:
        position.play(move)  # type: ignore[attr-defined]
    return caught.value


@pytest.mark.parametrize(
    ("moves", "point", "reason"),
    [
        ("B C3", "c3", "Black has a stone there"),
        ("B C3, W D4", "D4", "White has a stone there"),
        ("B A4, W C3, B B5", "A5", "suicide"),
        ("B pass, W pass", "C3", "the game is over"),
    ],
)
def test_an_illegal_move_has_the_move_the_reason_and_the_position(moves: str, point: str, reason: str) -> None:
    now = play(GoEnv(5).position(), moves)
    error = refused(now, point)
    assert (error.move, error.reason, error.position) == (point.upper(), reason, now)
    assert error.sentence == f"illegal move {point.upper()}: {reason}"
    assert str(error) == f"{error.sentence}, in GoEnv(5) after {moves}"


@pytest.mark.parametrize(
    ("move", "text"),
    [
        ("I3", "'I3' is not a point of GoEnv(5): expected A1 to E5 (no column I) or pass"),
        (None, "action must be an integer or a text, got None"),
        (26, "no action 26 in GoEnv(5): actions are 0 to 25"),
        (-1, "no action -1 in GoEnv(5): actions are 0 to 25"),
        (True, "action must be an integer or a text, got True"),
        (2.5, "action must be an integer or a text, got 2.5"),
    ],
)
def test_what_is_no_move_at_all_says_only_that(move: object, text: str) -> None:
    now = GoEnv(5).position()
    error = refused(now, move)
    assert type(error) is UnknownMove
    assert str(error) == error.sentence == error.reason == text
    assert (error.move, error.position) == (str(move), now)


def test_errors_travel_between_processes() -> None:
    error = refused(OwareEnv().position(houses=[0, 2] + [1] * 10), "A")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.reason) == (IllegalMove, str(error), "the house is empty")


def test_whether_a_game_is_even() -> None:
    assert TicTacToeEnv().position().play("B2").is_even
    assert GoEnv(5).position(komi=0.5).is_even
    assert not GoEnv(9).position(handicap=2).is_even
    assert not GoEnv(9).position(to_play="white").is_even
    assert GoEnv(9).position().after(["C3", "D4"]).is_even
    assert not GoEnv(9).position().after(["C3", "D4"], [1, 1]).is_even
    assert not OwareEnv().position(margin=2, houses=[0, 2] + [4] * 10).is_even


def test_a_game_without_cells_has_no_contents() -> None:
    now = NimEnv().position().play(0)
    assert (now.contents, now.last_cell, now.captures, now.ko_points) == (None, None, None, ())


def test_a_game_without_a_board_writes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    position = CountingEnv(9).position().play(0)
    assert str(position) == "<CountingEnv(pile=9) after 0>"
    monkeypatch.setattr(Counting, "__str__", lambda state: f"{state.pile} left", raising=False)
    assert str(position) == "8 left"
