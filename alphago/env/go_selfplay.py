"""What helps to learn Go: varied komi, late passes, outcomes that depend on the margin, openings off the edge."""

from functools import cached_property
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_rules import USUAL_SPREAD
from alphago.env.selfplay_game import SelfPlayGame


class GoSelfPlayGame(SelfPlayGame[GoEnv]):
    """Go as it is played in self-play and matches, with options of `GoEnv` that differ from the game's."""

    def variant(self) -> GoEnv:
        """Return the game with options that make self-play learn faster.

        margin_weight becomes 0.3, komi_spread 1 and first_pass 0.9 N^2, each only if it is 0 in this game.
        """
        env = self.env
        return env.replace(
            margin_weight=env.margin_weight or 0.3,
            komi_spread=env.komi_spread or USUAL_SPREAD,
            first_pass=env.first_pass or 9 * env.N * env.N // 10,
        )

    def player_view(self) -> GoEnv:
        """Return the game; if it has fixed turns, the game in which a pass is legal only if there is no other move."""
        return self.env if self.env.turns is None else self.env.replace(first_pass=self.env.max_moves)

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return a random komi for a game of self-play as {"komi": …}; {} if `komi_spread` is 0.

        The komi is normally distributed: in half of the games around `komi`, with a standard deviation of 2
        `komi_spread`; in the other half around `komi` / 2, with a standard deviation of 5 `komi_spread`. While networks
        are weak, Black needs these smaller komis.
        """
        env = self.env
        if env.komi_spread == 0:
            return {}
        around_komi = generator.random() < 0.5
        mean, spreads = (env.komi, 2.0) if around_komi else (env.komi / 2, 5.0)
        drawn = generator.normal(mean, spreads * env.komi_spread)
        points = env.N * env.N
        return {"komi": float(np.clip(np.round(2 * drawn) / 2, -points, points))}  # a multiple of 0.5

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """The actions from which random openings choose: the points off the edge, bool [action_space]."""
        inner = np.zeros(self.env.plane_shape, np.bool_)
        inner[1:-1, 1:-1] = True
        return np.append(inner.ravel(), False)  # no pass
