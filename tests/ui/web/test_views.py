"""Positions as plain data: what a page can draw of any game."""

from alphago import GoEnv, GomokuEnv, ReversiEnv
from alphago.ui.web.views import game_view, result_view
from tests.ui.own_games import NimEnv
from tests.ui.web.desks import Guest


def test_a_game_without_a_board_is_played_by_buttons() -> None:
    """Its only plane is drawn; who can take the last match is found by playouts."""
    with Guest(NimEnv()) as guest:
        state = guest.play("0 1 1")
        assert game_view(NimEnv())["surface"] == "text"
        assert state["view"]["drawing"] == "X X . . . . .\nmove 3: White to play; X is White"
        guest.post("move")
        state = guest.until("state", lambda state: not state["busy"])
        assert state["result"] == {"text": "White wins", "winner": -1, "short": "W+1"}


def test_territory_is_of_games_whose_stones_do_not_fill_the_board() -> None:
    told = [game_view(env)["territory"] for env in (GoEnv(5), ReversiEnv(), GomokuEnv())]
    assert told == [True, False, False]


def test_results() -> None:
    assert result_view(GoEnv(5, komi=0.5).position(), 0)["text"] == "White wins by 0.5"
    assert result_view(GoEnv(5, komi=0).position(), 0) == {"text": "A draw", "winner": 0, "short": "draw"}
    assert result_view(GoEnv(5).position(), -1) == {"text": "Black wins by resignation", "winner": 1, "short": "B+R"}
