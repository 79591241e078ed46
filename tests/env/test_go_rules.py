"""The rules of Go in a few positions; test_go_agreement.py holds the kernels to plain Go in thousands."""

import numpy as np

from alphago import GoEnv
from alphago.env.kernels.playouts import random_action
from tests.diagrams import play, position


def test_the_move_cap_is_seven_fifths_of_the_board() -> None:
    caps = {size: GoEnv(size).max_moves for size in (2, 3, 5, 7, 9, 13, 19)}
    assert caps == {2: 5, 3: 12, 5: 35, 7: 68, 9: 113, 13: 236, 19: 505}


def test_random_play_chooses_every_legal_point_equally_often() -> None:
    """Elsewhere the lowest-numbered legal point was never played, and a single one ended in an error."""
    state = np.array([1], np.int64)
    row = position(
        """
        . X . .
        X X X X
        O O O O
        O O . O
        """
    ).batch.rows[0]
    counts = np.bincount([random_action(row, state, True) for _ in range(3000)], minlength=17)
    assert set(np.flatnonzero(counts)) == {0, 2, 3, 14}
    assert counts[[0, 2, 3, 14]].min() > 650
    single = position("X . / . O".replace("/", "\n"), to_play="black").batch.rows[0]
    assert {random_action(single, state, True) for _ in range(50)} == {1, 2}
    nothing = play(GoEnv(2).position(), "B A1, W A2, B B2").batch.rows[0]
    assert random_action(nothing, state, True) == 4
