"""CGZero's search: PUCT whose c_puct changes with the ply, with noise on values, and moves that are nearly the best."""

from collections.abc import Sequence
from typing import NamedTuple

import kernels
import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.puct import Puct, PuctRule
from alphago.mcts.rule import choose_actions, only_legal
from alphago.mcts.tree import Tree, Wave
from alphago.system.validation import setting, settings

SEEDS = 2**63  # upper bound of the seeds of a move's value noise


@settings
class CGZeroPuct(Puct):
    """Settings of PUCT search, and those of CGZero (2020), which are off by default."""

    c_puct_growth: float = setting(
        "increase of `c_puct` with each ply of the game; may be negative (CGZero: 0.0034)", default=0.0, least=-np.inf
    )
    c_puct_limit: float | None = setting(
        "upper bound of `c_puct` or, if `c_puct_growth` is negative, lower bound (CGZero: 2.975); None for no upper "
        "bound, or for the lower bound 0",
        default=None,
        least=0,
    )
    value_noise: float = setting(
        "in self-play, largest relative change of the network's values: each value is multiplied by 1 + u, with u "
        "uniform between minus and plus this number, and clipped to -1 .. 1 (CGZero: 0.02)",
        default=0.0,
        least=0,
        most=1,
    )
    near_best: float | None = setting(
        "choose moves uniformly among the actions whose score, mean value + ln(visits + 3), is at least this share of "
        "the greatest score (CGZero: 0.95, and 0.98 in matches); None to choose moves by visits",
        default=None,
        least=0,
        most=1,
    )

    def new_rule(self, games: int, actions: int) -> "CGZeroRule":
        return CGZeroRule(self, games)


class ValueNoise(NamedTuple):
    """The noise on leaves' values, which turns a value v into v (1 + spread u) with u uniform from -1 to 1."""

    seeds: np.ndarray  # int64 [B], the seed of each game's present move; 0 for no noise
    spread: float  # `CGZeroPuct.value_noise`


class CGZeroRule(PuctRule):
    """CGZero's search."""

    settings: CGZeroPuct

    def __init__(self, settings: CGZeroPuct, games: int) -> None:
        """Make the rule for a search of `games` games."""
        super().__init__(settings, games)
        self.noise = ValueNoise(np.zeros(games, np.int64), float(settings.value_noise))
        self.begin_move(np.arange(games), np.zeros(games, np.int32))

    def begin_move(self, games: np.ndarray, plies: np.ndarray) -> None:
        """Set c_puct for the next move of games.

        Args:
            games: int64 [n].
            plies: int32 [n], the number of plies played in each of them.
        """
        settings = self.settings
        c_puct = settings.c_puct + settings.c_puct_growth * np.asarray(plies, np.float64)
        if settings.c_puct_growth < 0:
            c_puct = np.maximum(c_puct, settings.c_puct_limit or 0.0)
        elif settings.c_puct_limit is not None:
            c_puct = np.minimum(c_puct, settings.c_puct_limit)
        self.parameters.c_puct[games] = c_puct

    def add_noise(
        self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Add PUCT's noise to the games' roots, and draw the seeds of the noise on values."""
        super().add_noise(tree, batch, games, generators)
        if self.noise.spread:
            self.noise.seeds[games] = [generator.integers(1, SEEDS) for generator in generators]

    def change_values(self, wave: Wave, over: np.ndarray, values: np.ndarray) -> None:
        """Add the noise to the values of a wave's leaves, in place."""
        if self.noise.spread:
            kernels.add_value_noise(wave, over, self.noise, values)

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return for each game, bool [B], whether its move can no longer change.

        With `near_best`, moves do not depend on the most visited action, so only a single legal action is certain.
        """
        if self.settings.near_best is None:
            return super().settled(tree, budget)
        return only_legal(tree, np.arange(len(budget)))

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return each game's action: with `near_best` drawn among the nearly best actions, otherwise as PUCT does.

        Args:
            by_chance: bool [n], whether PUCT draws the move by visits; not used with `near_best`.
            chance: [n], the random numbers of the draws, in [0, 1).
        """
        if self.settings.near_best is None:
            return super().choose(tree, games, by_chance, chance)
        weights = np.empty((len(games), tree.waiting.shape[2]), np.float32)  # 1 for nearly best actions, otherwise 0
        kernels.near_best(tree, games, self.settings.near_best, weights)
        return choose_actions(weights, np.ones(len(games), np.bool_), chance)
