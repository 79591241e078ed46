"""Random games of the small games: they end, follow the rules, and follow from the seed."""

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.env.kernels.rows import PLY
from benchmarks.row_playouts import PLAYOUTS
from tests.naive.playouts import Stream

ENVS = [OwareEnv(), OwareEnv(rules="cgzero"), ReversiEnv(6), ReversiEnv(10), GomokuEnv(5, 4), ConnectFourEnv()]


def played(env: GameEnv, seed: int, games: int = 30) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows and outcomes of finished games, and the number of moves."""
    batch, slots = env.new_batch(games), np.arange(games)
    mask = np.zeros(env.action_space, np.bool_)
    moves = PLAYOUTS[env.name](batch.rows, slots, mask, np.array([seed], np.int64))
    assert batch.is_over(slots, np.empty(games, np.bool_)).all()
    return batch.rows, batch.outcome(slots, np.empty(games, np.float32)), moves


@pytest.mark.parametrize("env", ENVS, ids=repr)
def test_every_legal_action_is_as_likely(env: GameEnv) -> None:
    """The same games in plain Python: the action is the one whose number among the legal ones is drawn."""
    rows, _, moves = played(env, 7, games=3)
    assert moves == rows[:, PLY].sum()
    random = Stream(7)
    for row in rows:
        position = env.position()
        while not position.is_over:
            legal = np.flatnonzero(position.legal_mask)
            position = position.play(int(legal[random.below(len(legal))]))
        end = position.batch.rows[0]
        board = 8 + env.plane_shape[0] * env.plane_shape[1] if env.planes != 342 else 20
        np.testing.assert_array_equal(end[:board], row[:board])
