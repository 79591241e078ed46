"""Pictures of analyses: the same from either view, of each position, and of ended games."""

from dataclasses import replace

import numpy as np
import pytest

from alphago import GoEnv, NeuralNet, analyze
from alphago.mcts.analysis_result import join_analyses
from tests.drawing.reading import shapes, texts

GO = GoEnv(5, komi=0.5)


@pytest.fixture(scope="module")
def net() -> NeuralNet:
    return NeuralNet(GO, tower_height=1, channels=8).eval()


FIRST = GO.position(black="B2", white="D4", to_play="white")
POSITIONS = [GO.position(), FIRST, FIRST.play("pass").play("pass")]


def test_of_each_position(net: NeuralNet) -> None:
    found = analyze(POSITIONS, net, 16)
    assert found.positions == tuple(POSITIONS)
    assert len(shapes(found.svg(1), "circle", stroke="#d55e00")) == 1  # the best move is ringed
    told = " ".join(texts(found.svg(1)))
    assert "win rate of the side to move, visits below" in told
    assert "Squares: whose the point becomes" in told
    assert "Squares" not in " ".join(texts(found.svg(1, ownership=False)))
    assert "expected moves" in " ".join(texts(found.svg(1, line=True)))
    assert found._repr_svg_() == found.svg(0)
    assert "game over" in " ".join(texts(found.svg(2)))


def test_the_same_from_either_view_and_of_each_part(net: NeuralNet) -> None:
    found = analyze(POSITIONS, net, 16)
    joined = join_analyses([found.take([0]), found.take([1, 2])])
    for same in (found.as_black(), found.as_white(), joined):
        assert same.svg(1) == found.svg(1)
    assert found.take([1]).svg() == found.as_black().take([1]).svg() == found.svg(1)
    assert found.take(np.array([False, True, True])).positions == tuple(POSITIONS[1:])
    assert "share of the network's policy" in " ".join(texts(analyze(POSITIONS[0], net, 0).svg()))


def test_without_positions(net: NeuralNet) -> None:
    bare = replace(analyze(POSITIONS[0], net, 0), positions=())
    assert bare._repr_svg_() is None
    with pytest.raises(ValueError, match="positions must be known for a picture"):
        bare.svg()
