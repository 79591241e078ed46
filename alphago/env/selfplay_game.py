"""What helps to learn and to compare a game, beside its rules: `SelfPlayGame`."""

from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from alphago.env.game import GameEnv

Env = TypeVar("Env", bound=GameEnv)


class SelfPlayGame(Generic[Env]):
    """How a game is played in self-play and in matches: which variant, which set-ups, which openings.

    This class plays every game unchanged. `alphago.env.games.selfplay_game(env)` makes the object for a game, of a
    subclass if the game has registered one.
    """

    def __init__(self, env: Env) -> None:
        self.env = env

    def variant(self) -> Env:
        """Return the game that self-play plays in order to learn `env`: `env`, or a variant that is learned faster."""
        return self.env

    def player_view(self) -> Env:
        """Return the game that a player's search uses in a match of `env`: by default `env` itself."""
        return self.env

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return a random set-up for a game of self-play, as keywords of `GameBatch.reset` and `GameEnv.position`."""
        return {}

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """The actions from which random openings choose: bool [action_space]; an opening uses those that are legal."""
        return np.ones(self.env.action_space, np.bool_)
