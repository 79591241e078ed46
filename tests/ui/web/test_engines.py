"""The networks that a page may choose from: which is usual, which fits, and that each is loaded once."""

from pathlib import Path

import numpy as np
import pytest

from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet
from alphago.system.cores import available_cores
from alphago.ui.web.engines import PLAYOUTS, Choice, Engines
from alphago.ui.web.game_tree import GameTree
from alphago.ui.web.thinking import Thinker

PACKAGED = [Choice(name, name, "go") for name in ("7x7", "9x9", "13x13")]
GO = GoEnv(5, komi=0.5)


def offered(*choices: Choice) -> Engines:
    return Engines([*choices, *PACKAGED, Choice(PLAYOUTS, PLAYOUTS, "")], "cpu")


def test_the_usual_network_is_of_the_board_or_the_next_larger_one() -> None:
    engines = offered()
    usual = {size: engines.usual(GoEnv(size)) for size in (5, 7, 8, 9, 11, 13, 19)}
    assert usual == {5: "7x7", 7: "7x7", 8: "9x9", 9: "9x9", 11: "13x13", 13: "13x13", 19: "13x13"}
    assert engines.usual(ConnectFourEnv()) == PLAYOUTS
    assert Engines([PACKAGED[2], *PACKAGED[:2]]).usual(GoEnv(19)) == "13x13"  # whatever their order
    assert offered(Choice("own", GO, "go")).usual(GoEnv(9)) == "own"


def test_an_engine_is_loaded_once_for_all_komis_and_anew_when_its_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    net = NeuralNet(GO, tower_height=0, channels=4)
    net.save(path)
    engines = offered(Choice("own", path, "go"))
    first = engines.engine("own", GO)
    assert engines.engine("own", GO.replace(komi=7.5)) is first
    assert engines.ready("own", GoEnv(7)) is None
    assert engines.engine("own", GoEnv(7)).env.N == 7
    NeuralNet(GO, tower_height=0, channels=4).save(path)
    assert engines.engine("own", GO) is not first


def test_a_network_that_does_not_play_the_game_is_a_sentence() -> None:
    engines = offered(Choice("dense", NeuralNet(GO, tower_height=0, channels=4, size_free=False), "go"))
    with pytest.raises(ValueError, match="its heads fit one board size"):
        engines.engine("dense", GoEnv(7))
    with pytest.raises(ValueError, match="9x9 is a network for go, and this game is connect-four"):
        engines.engine("9x9", ConnectFourEnv())


def think_whole(thinker: Thinker, readouts: int) -> None:
    """Search in as many slices of time as it takes, with exactly that many readouts."""
    while readouts > 0:
        readouts -= thinker.think(readouts)
    assert readouts == 0


def test_waves_grow_with_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 leaves at first, and from 400 visits on a leaf for each 50, at most 32."""
    engine = offered(Choice("own", NeuralNet(GO, tower_height=0, channels=4), "go")).engine("own", GO)
    thinker, tree = Thinker(), GameTree(GO, GO.position())
    search = thinker.move_to(engine, tree, 0)
    sizes: dict[int, int] = {}
    wave = search.wave

    def watched(budget: np.ndarray, leaves: int | None = None) -> int:
        sizes[thinker.visits] = leaves or 0
        return wave(budget, leaves)

    monkeypatch.setattr(search, "wave", watched)
    think_whole(thinker, 2500)
    assert all(leaves == min(max(8, visits // 50), 32) for visits, leaves in sizes.items())
    assert {8, 32} < set(sizes.values())
    assert engine.turns.free == available_cores() + 1


def test_a_search_follows_the_board_and_keeps_its_tree() -> None:
    """After the move that it holds for the best, the search goes on with what it knows; elsewhere it begins anew."""
    engine = offered(Choice("own", NeuralNet(GO, tower_height=0, channels=4), "go")).engine("own", GO)
    tree, thinker = GameTree(GO, GO.position()), Thinker()
    thinker.move_to(engine, tree, 0)
    think_whole(thinker, 64)
    assert thinker.visits == 65
    found = thinker.analysis()
    best = thinker.best()
    assert found["moves"][0][:2] == [best, max(move[1] for move in found["moves"])]
    assert len(found["ownership"]) == 25
    tree.play(best)
    thinker.move_to(engine, tree, tree.current)
    assert thinker.visits == found["moves"][0][1]
    tree.go_to(0)
    thinker.move_to(engine, tree, 0)
    assert thinker.visits == 1


def test_a_network_that_sees_other_planes_plays_on_the_same_board() -> None:
    boards = GoEnv(5, 5, komi=0.5)
    engine = offered(Choice("boards", NeuralNet(boards, tower_height=0, channels=4), "go")).engine("boards", GO)
    tree, thinker = GameTree(GO, GO.position()), Thinker()
    for move in ("C3", "D3", "C2"):
        tree.play(move)
    assert engine.env.planes == 5
    thinker.move_to(engine, tree, 3)
    think_whole(thinker, 8)
    assert thinker.analysis()["mover"] == -1
