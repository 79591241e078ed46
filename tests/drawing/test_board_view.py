"""How games describe their boards: cells, and where the piece of each action lands."""

from itertools import pairwise

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, check_game
from alphago.drawing.board_view import BoardView, grid_view
from alphago.env.check import GameError
from alphago.env.games import GAMES, make_game
from tests.random_games import random_game
from tests.ui.own_games import LeaningEnv, RingEnv


def test_a_game_that_describes_nothing_is_text() -> None:
    plain = type("PlainEnv", (GameEnv,), {"name": "plain", "config": {}})()
    assert plain.board_view == BoardView("plain")


@pytest.mark.parametrize("env", [*map(make_game, GAMES), LeaningEnv(), RingEnv()], ids=str)
def test_a_stone_lands_where_the_view_says(env: GameEnv) -> None:
    """In random games: a new stone is in the cell that was foretold, and that cell is the last one."""
    view = env.board_view
    for now, after in pairwise(random_game(env, 5, 40)):
        action, before = after.moves[-1], now.contents
        cell = int(view.landing_cells(now.to_play, np.array(before))[action])
        assert after.last_cell == (None if cell < 0 else cell)
        if cell >= 0 and view.surface != "houses":
            assert (before[cell], after.contents[cell]) == (0, now.to_play)
        if view.surface == "houses":
            assert before[cell] > 0
            assert after.contents[cell] == 0 or before[cell] > 11


def test_a_column_fills_from_below_and_is_then_full() -> None:
    view = grid_view("Towers", "holes", (3, 2), ((4, 2, 0), (5, 3, 1)))
    assert view.landing_cells(1, np.zeros(6)).tolist() == [4, 5]
    assert view.landing_cells(1, np.array([0, 0, 0, 0, 1, 0])).tolist() == [2, 5]
    assert view.landing_cells(1, np.array([1, 0, -1, 0, 1, 0])).tolist() == [-1, 5]
    assert view.last_cell(1, 0, [0, 0, 1, 0, -1, 0]) == 2
    assert view.last_cell(1, 1, [0, 0, 1, 0, -1, 0]) is None


def test_a_point_stays_the_actions_own_whatever_is_on_it() -> None:
    """A ko, or a stone that was captured, would else be no place."""
    env = GoEnv(3)
    assert env.board_view.landing_cells(-1, np.ones(9)).tolist() == [*range(9), -1]
    assert env.board_view.last_cell(-1, 4, [0] * 9) == 4
    assert env.board_view.last_cell(-1, env.pass_action, [0] * 9) is None


def test_the_names_around_a_board() -> None:
    view = GoEnv(3).board_view
    assert {(0, 2.72, "A"), (0, -0.72, "A"), (-0.72, 0, "3"), (2.72, 2, "1")} <= set(view.labels)
    assert [name for _, _, name in ConnectFourEnv().board_view.labels] == list("ABCDEFG")
    assert grid_view("Wide", "squares", (1, 30), ()).labels == ()


def test_wrong_views_are_refused() -> None:
    with pytest.raises(ValueError, match="surface must be one of lines, squares, holes, houses, text, got 'hexagons'"):
        BoardView("Hex", "hexagons")
    with pytest.raises(ValueError, match="places must have cells from 0 to 1, got 2"):
        BoardView("Two", "lines", cells=((0, 0), (1, 0)), places=(((0,), (2,)), ()))


class TestCheckGame:
    """It says what is wrong with a description, before a page draws it."""

    def test_places_for_each_action(self) -> None:
        view = RingEnv().board_view
        fewer = type("Fewer", (RingEnv,), {"board_view": BoardView("F", "lines", cells=view.cells, places=((), ()))})
        with pytest.raises(
            GameError, match=r"^board_view.places: expected cells for each of 7 actions of Black, got 0"
        ):
            check_game(fewer())

    def test_contents_for_each_cell(self) -> None:
        silent = type("Silent", (RingEnv,), {"make_position": GameEnv.make_position})
        with pytest.raises(GameError, match=r"^Position.contents: expected one number for each of 6 cells, got None"):
            check_game(silent())
