"""Known numbers of legal boards and games (Tromp and Farnebäck, "Combinatorics of Go")."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_row as layout
from alphago.system.kernels.jit import kernel
from tests.env.counting import count_games
from tests.naive.go import naive_go


@kernel
def legal_boards(row, start, colours):
    """How many colourings of the board can be set up; `colours` int8 [N * N] counts through them in base 3."""
    points = len(colours)
    for i in range(points):
        colours[i] = -1
    legal = 0
    while True:
        layout.copy(start, row)
        kernels.set_up(row, colours, layout.BLACK)
        legal += kernels.find_misplaced(row, colours) == layout.NO_ACTION
        i = 0
        while i < points and colours[i] == 1:
            colours[i] = -1
            i += 1
        if i == points:
            return legal
        colours[i] += 1


@pytest.mark.parametrize(("size", "legal"), [(2, 57), (3, 12_675), pytest.param(4, 24_318_165, marks=pytest.mark.slow)])
def test_legal_boards(size: int, legal: int) -> None:
    """Of all colourings, those in which every chain has a liberty can be set up; no others."""
    start = GoEnv(size, ko="simple").start.row
    assert legal_boards(start.copy(), start, np.zeros(size * size, np.int8)) == legal


@pytest.mark.parametrize(
    ("size", "depth", "count"),
    [(2, 2, 4 * 4 + 5), (3, 2, 9 * 9 + 10), (9, 2, 6643), (19, 2, 361 * 361 + 362), (2, 5, 316), (3, 4, 5281)],
)
def test_games_of_a_few_plies(size: int, depth: int, count: int) -> None:
    """Two plies can be counted on paper; more are counted by plain Python, too."""
    assert count_games(GoEnv(size, max_moves=50), depth)[-1] == count
    if size <= 3:
        assert count_games(naive_go(size, max_moves=50), depth)[-1] == count
