"""How a game of self-play begins: its random generator, set-up, opening, and whether its players may resign."""

from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.training.settings.selfplay_settings import SelfPlaySettings


class Beginning(NamedTuple):
    """The random choices before a game's first move, and the game's random generator in the state after them."""

    generator: np.random.Generator
    setup: dict[str, Any]  # keywords of `GameEnv.position`, such as a random komi
    opening: int  # number of first plies that the policy plays without search
    may_resign: bool


def draw_beginning(env: GameEnv, settings: SelfPlaySettings, seed: int, number: int) -> Beginning:
    """Make the random choices before a game's first move; the same seed and number give the same choices.

    seed: the run's seed.  number: the game's number in the run.
    """
    # The order of the draws below decides every game, so it stays as it is.
    generator = np.random.default_rng([seed, number])
    setup = selfplay_game(env).random_setup(generator)
    mean_opening = settings.opening_plies  # mean number of opening plies
    if mean_opening is None:
        longest = min(env.max_moves, 2 * env.action_space)  # games without a limit have a huge max_moves
        mean_opening = longest / 20  # as the help of `opening_plies` says
    opening = int(generator.exponential(mean_opening))
    may_resign = bool(generator.random() >= settings.no_resign_share)
    return Beginning(generator, setup, opening, may_resign)
