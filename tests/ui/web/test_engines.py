"""The networks that a page may choose from: which is usual, which fits, and that each is loaded once."""

from pathlib import Path
from typing import Any

import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet, Position
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


def test_an_engine_is_loaded_once_for_all_komis_and_anew_when_its_file_changes(tmp_path: Path) -> None:
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


def test_a_page_that_opens_finds_a_search_that_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Position] = []
    ask = Analyst.ask

    def note_and_ask(analyst: Analyst, position: Position, **options: Any) -> Any:
        asked.append(position)
        return ask(analyst, position, **options)

    monkeypatch.setattr(Analyst, "ask", note_and_ask)
    get_ready(offered(Choice("own", NeuralNet(GO, tower_height=0, channels=4), "go")), GO, False)
    assert [position.moves for position in asked] == [GO.position().moves]


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
