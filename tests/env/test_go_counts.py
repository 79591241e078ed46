"""Known numbers of legal boards and games (Tromp and Farnebäck, "Combinatorics of Go")."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_row as layout
from alphago.system.kernels.jit import kernel
from tests.env.counting import count_games
from tests.naive.go import NaiveGoEnv, chain, has_liberty


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
        legal += kernels.misplaced(row, colours) == layout.NO_ACTION
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


def test_set_up_refuses_what_plain_python_refuses() -> None:
    batch = GoEnv(4).new_batch(1)
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(1500):
        board = tuple(random.choice([-1, 0, 1], 16, p=[0.4, 0.2, 0.4]).tolist())
        fine = all(has_liberty(board, *chain(board, p, 4)) for p in range(16) if board[p])
        try:
            batch.reset(np.zeros(1, np.int64), stones=np.array(board).reshape(4, 4))
        except ValueError:
            assert not fine
            refused += 1
            continue
        assert fine
        shown = np.empty(16, np.int8)
        kernels.board(batch.rows[0], shown)
        assert tuple(shown) == board
    assert 100 < refused < 1400


@pytest.mark.parametrize(
    ("size", "depth", "count"),
    [(2, 2, 4 * 4 + 5), (3, 2, 9 * 9 + 10), (9, 2, 6643), (19, 2, 361 * 361 + 362), (2, 5, 316), (3, 4, 5281)],
)
def test_games_of_a_few_plies(size: int, depth: int, count: int) -> None:
    """Two plies can be counted on paper; more are counted by plain Python, too."""
    assert count_games(GoEnv(size, max_moves=50), depth)[-1] == count
    if size <= 3:
        assert count_games(NaiveGoEnv(size, max_moves=50), depth)[-1] == count
