"""Positions of random games, on which networks are calibrated and compared."""

import numpy as np

from alphago.env.game import GameEnv


def random_planes(env: GameEnv, count: int) -> np.ndarray:
    """Return the planes of positions of random games, float32 [count, planes, height, width], the same on every call.

    Each position is reached after a random number of plies, at most twice the number of points.  If the game ends
    earlier, the position is the one before its last move.
    """
    generator = np.random.default_rng(1)
    slots, batch = np.arange(count), env.new_batch(count)
    planes = np.zeros((count, env.planes, *env.plane_shape), np.float32)
    last_plies = generator.integers(0, 2 * int(np.prod(env.plane_shape)), count)  # the ply of each game's position
    for ply in range(int(last_plies.max()) + 1):
        going = slots[last_plies >= ply]  # the games that have not reached their positions, or reach them now
        going = going[~batch.is_over(going, np.empty(len(going), np.bool_))]
        planes[going] = batch.planes(going, np.empty((len(going), *planes.shape[1:]), np.float32))
        legal = batch.legal_mask(going, np.empty((len(going), env.action_space), np.bool_))
        random_moves = (generator.random(legal.shape) * legal).argmax(axis=1)  # illegal moves have the number 0
        batch.play(going, random_moves.astype(np.int32))
    return planes
