"""Benson's pass-alive chains and regions, on drawings; random boards and games hold them to plain Go."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from tests.diagrams import draw, play, position
from tests.naive.go import pass_alive, random_board

# White has stones in two holes of one empty point each.
TWO_HOLES = """
    X X X X X X X X X
    X X . X X X X X X
    X O O O X X X X X
    X X O X X X X X X
    X X X X X X X X X
    X X X X X X . X X
    X X X X X O O O X
    X X X X X X O X X
    X X X X X X X X X
"""


def test_stones_that_may_take_themselves_off_leave_room() -> None:
    """Where suicide is allowed White empties a hole, in which a point is out of Black's reach, and takes everything."""
    assert (position(TWO_HOLES).pass_alive == 1).all()
    shown = position(TWO_HOLES, env=GoEnv(9, suicide=True), to_play="white")
    assert not shown.pass_alive.any()
    left = play(shown, ", B pass, ".join(f"W {point}" for point in ("C8", "C8", "C6", "B7", "D7", "G4")))
    assert (left.board <= 0).all()


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(("size", "boards"), [(2, 40), (3, 60), (4, 100), (5, 100), (9, 20)])
def test_random_boards_agree_with_plain_go(size: int, boards: int, suicide: bool) -> None:
    random = np.random.default_rng(size)
    env = GoEnv(size, suicide=suicide)
    batch, found = env.new_batch(1), 0
    for number in range(boards):
        shares = [[0.06, 0.2, 0.74], [0.35, 0.3, 0.35], [0.74, 0.2, 0.06]][number % 3]
        stones = random_board(size, shares, random)
        batch.reset(np.zeros(1, np.int64), stones=stones, to_play=[1, -1][number % 2])
        out = batch.pass_alive(np.zeros(1, np.int64), np.full((1, size * size), 7, np.int8))[0]
        cells = tuple(stones.ravel().tolist())
        expected = np.zeros(size * size, np.int8)
        for colour in (1, -1):
            expected[list(pass_alive(cells, colour, size, suicide))] = colour
        assert np.array_equal(out * [1, -1][number % 2], expected), f"\n{draw(stones)}"
        found += int(expected.any())
    assert found >= boards // 40
