"""Games of random moves."""

from typing import Any

import numpy as np

from alphago.env.game import GameEnv


def random_game(env: GameEnv, seed: int, most: int = 400, **setup: Any) -> list[Any]:
    """The positions of a game of at most `most` random moves, of which few are passes, the same for the same seed."""
    generator, positions = np.random.default_rng(seed), [env.position(**setup)]
    while not positions[-1].is_over and len(positions) <= most:
        legal = np.flatnonzero(positions[-1].legal_mask)
        others = legal[legal != env.pass_action]
        passes = len(others) < len(legal) and (not len(others) or generator.random() < 0.03)
        positions.append(positions[-1].play(env.pass_action if passes else int(generator.choice(others))))
    return positions


def going_on(env: GameEnv, seed: int, most: int) -> Any:
    """The position after `most` random moves; if the game ends before, the last one before its end."""
    return next(position for position in reversed(random_game(env, seed, most)) if not position.is_over)
