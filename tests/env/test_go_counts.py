"""Known numbers of legal boards and games (Tromp and Farnebäck, "Combinatorics of Go")."""

import itertools

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_row as layout
from alphago.system.kernels.jit import kernel
from tests.naive.go import NaiveGoEnv, chain, has_liberty


@pytest.mark.parametrize(("size", "legal"), [(2, 57), (3, 12675)])
def test_legal_boards(size: int, legal: int) -> None:
    """Of all colourings, those in which every chain has a liberty can be set up; no others."""
    batch = GoEnv(size).new_batch(1)
    slot = np.zeros(1, np.int64)
    count = 0
    for colours in itertools.product((-1, 0, 1), repeat=size * size):
        try:
            batch.reset(slot, stones=np.array(colours, np.int8).reshape(size, size))
        except ValueError:
            continue
        count += 1
        shown = np.empty(size * size, np.int8)
        kernels.board(batch.rows[0], shown)
        assert tuple(shown) == colours
    assert count == legal


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
def test_legal_boards_counted_by_a_kernel(size: int, legal: int) -> None:
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
            assert fine
        except ValueError:
            assert not fine
            refused += 1
    assert 100 < refused < 1400


def games(batch, depth: int, ply: int = 0) -> int:
    """Ways to play `depth` plies from slot `ply`; slots below are the plies above (perft)."""
    here, there = np.array([ply]), np.array([ply + 1])
    mask = batch.legal_mask(here, np.empty((1, batch.env.action_space), np.bool_))[0]
    if ply + 1 == depth:
        return int(mask.sum())
    total = 0
    for action in np.flatnonzero(mask):
        batch.copy(here, there)
        batch.play(there, np.array([action], np.int32))
        total += games(batch, depth, ply + 1)
    return total


@pytest.mark.parametrize(
    ("size", "depth", "count"),
    [(2, 2, 4 * 4 + 5), (3, 2, 9 * 9 + 10), (9, 2, 6643), (19, 2, 361 * 361 + 362), (2, 5, 316), (3, 4, 5281)],
)
def test_games_of_a_few_plies(size: int, depth: int, count: int) -> None:
    """Two plies can be counted on paper; more are counted by plain Python, too."""
    assert games(GoEnv(size, max_moves=50).new_batch(depth + 1), depth) == count
    if size <= 3:
        assert games(NaiveGoEnv(size, max_moves=50).new_batch(depth + 1), depth) == count
