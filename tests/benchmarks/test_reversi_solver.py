"""The solver of benchmarks/reversi.py beside the package's alpha-beta search, and on the published line of 6x6."""

import importlib
from types import ModuleType

import pytest

from alphago import ReversiEnv
from alphago.arena.alphabeta import best_move
from tests.benchmarks.bench import BENCHMARKS
from tests.env.test_reversi import best_line


@pytest.fixture
def reversi(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("reversi")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "most"), [(4, 12), (6, 8)])
def test_agrees_with_the_package(reversi: ModuleType, size: int, most: int) -> None:
    env = ReversiEnv(size)
    solver = reversi.Solver(env)
    for position in reversi.random_positions(env, 15, 2, most, seed=3):
        margin = best_move(position).margin
        assert solver.solve(position) == margin, position
        assert (solver.solve(position, -1, 1) > 0) == (margin > 0)
        after = position.play(solver.best(position))
        assert solver.solve(after) * position.to_play * after.to_play == margin


def test_white_wins_6x6_by_4_from_18_empty_points_on(reversi: ModuleType) -> None:
    """Each position of the line with best play by both sides has the same margin."""
    positions = [position for position in best_line() if reversi.empty_points(position) <= 18]
    solver = reversi.Solver(positions[0].env)
    assert {solver.solve(position) * position.to_play for position in positions} == {-4}
