"""Positions that are gathered in one batch are the positions they were."""

import numpy as np
import pytest

from alphago.env.game import GameEnv
from tests.env.test_pictures import GAMES
from tests.random_games import random_game


@pytest.mark.parametrize("env", GAMES, ids=str)
def test_gathered_positions(env: GameEnv) -> None:
    positions = [random_game(env, seed, moves)[-1] for seed, moves in enumerate((0, 1, 3, 4, 9))]
    batch = env.new_batch(len(positions) + 1)
    batch.gather([position.batch for position in positions])
    slots = np.arange(len(positions))
    expected = np.stack([position.legal_mask for position in positions])
    np.testing.assert_array_equal(batch.legal_mask(slots, np.empty(expected.shape, np.bool_)), expected)
    planes = np.stack([position.planes() for position in positions])
    np.testing.assert_array_equal(batch.planes(slots, np.empty_like(planes)), planes)
    np.testing.assert_array_equal(batch.to_play(slots, np.empty(5, np.int8)), [p.to_play for p in positions])


def test_only_as_many_slots_change() -> None:
    env = GAMES[1]
    batch, last = env.new_batch(3), random_game(env, 1, 5)[-1]
    batch.gather([])
    batch.gather([last.batch] * 2)
    mask = batch.legal_mask(np.arange(3), np.empty((3, env.action_space), np.bool_))
    np.testing.assert_array_equal(mask, [last.legal_mask, last.legal_mask, env.position().legal_mask])
