"""The networks that a page may choose from: which is usual, which fits, and that each is loaded once."""

from pathlib import Path
from unittest.mock import patch

import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.cli.web import get_ready
from alphago.mcts.analyst import Analyst
from alphago.mcts.questions import Limit
from alphago.mcts.rule import measured_threshold
from alphago.ui.web.engines import PLAYOUTS, Choice, Engines

PACKAGED = [Choice(f"{size}x{size}", f"{size}x{size}", "go", size, named_by_user=False) for size in (7, 9, 13)]
GO = GoEnv(5, komi=0.5)


def offered(*choices: Choice) -> Engines:
    return Engines([*choices, *PACKAGED, Choice(PLAYOUTS, PLAYOUTS, "")], "cpu")


def test_the_usual_network_is_of_the_board_or_the_next_larger_one() -> None:
    engines = offered()
    usual = {size: engines.usual_network(GoEnv(size)) for size in (5, 7, 8, 9, 11, 13, 19)}
    assert usual == {5: "7x7", 7: "7x7", 8: "9x9", 9: "9x9", 11: "13x13", 13: "13x13", 19: "13x13"}
    assert engines.usual_network(ConnectFourEnv()) == PLAYOUTS
    assert Engines([PACKAGED[2], *PACKAGED[:2]]).usual_network(GoEnv(19)) == "13x13"  # whatever their order


def test_the_usual_network_is_the_first_that_was_named_unless_another_fits_the_board() -> None:
    engines = offered(Choice("one", GO, "go", 7), Choice("two", GO, "go", 9), Choice("three", GO, "go", 9))
    assert [engines.usual_network(GoEnv(size)) for size in (7, 9, 13, 19)] == ["one", "two", "13x13", "one"]
    assert offered(Choice("own", GO, "go")).usual_network(GoEnv(9)) == "own"  # made for any board


def test_an_engine_is_loaded_once_and_anew_from_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.safetensors"
    net = NeuralNet(GO, tower_height=0, channels=4)
    net.save(path)
    engines = offered(Choice("own", path, "go"))
    first = engines.engine("own", GO)
    assert engines.engine("own", GO.replace(komi=7.5)) is first
    assert engines.loaded_engine("own", GoEnv(7)) is None
    assert engines.engine("own", GoEnv(7)).env.N == 7
    NeuralNet(GO, tower_height=0, channels=4).save(path)
    assert engines.engine("own", GO) is not first
    monkeypatch.setattr("alphago.ui.web.engines.MOST_ENGINES", 1)
    engines.engine("own", GoEnv(3))
    assert first.analyst.ask(GO, limit=Limit(4)).last().readouts == 4  # who still uses an engine is not disturbed


def test_a_page_that_opens_finds_a_search_that_has_run() -> None:
    with patch.object(Analyst, "ask", autospec=True, side_effect=Analyst.ask) as ask:
        get_ready(offered(Choice("own", NeuralNet(GO, tower_height=0, channels=4), "go")), GO, False)
    assert [asked.args[1].moves for asked in ask.call_args_list] == [GO.position().moves]


def test_a_network_that_does_not_play_the_game_is_a_sentence() -> None:
    engines = offered(Choice("dense", NeuralNet(GO, tower_height=0, channels=4, size_free=False), "go"))
    with pytest.raises(ValueError, match="its heads fit one board size"):
        engines.engine("dense", GoEnv(7))
    with pytest.raises(ValueError, match="9x9 is a network for go, and this game is connect-four"):
        engines.engine("9x9", ConnectFourEnv())


def test_what_was_measured_of_resigning_holds_for_games_like_those() -> None:
    net = NeuralNet(GO, tower_height=0, channels=4)
    net.notes = {"resign_threshold": 1.0}
    engine = offered(Choice("own", net, "go")).engine("own", GO)
    answer = engine.analyst.ask(GO.position(), limit=Limit(64), level=10).last()
    assert answer.found.ownership is not None
    assert measured_threshold(engine.network, answer.position) == 1
    assert measured_threshold(engine.network, GO.position(black=[3])) == -1  # it began on a board that was not empty
