"""PUCT, AlphaGo Zero's search (Silver et al. 2017): its settings, and the `SearchRule` that they make."""

from typing import NamedTuple

import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.kernels import puct
from alphago.mcts.rule import Generators, PolicyMoves, SearchRule, SearchSettings, choose_actions
from alphago.mcts.tree import Tree, root_visits
from alphago.system.validation import setting, settings


class PuctParameters(NamedTuple):
    """The constants that PUCT's kernel `choose` reads; `Puct` explains them."""

    c_puct: np.ndarray  # float64 [B], c_puct of each game
    parent_value_weight: float
    first_play_reduction: float
    virtual_loss: int


@settings
class Puct(SearchSettings):
    """Settings of PUCT search; the defaults are AlphaGo.jl's, except `first_play_reduction` and `squash`."""

    c_puct: float = setting("weight of prior against value", default=0.96)
    parent_value_weight: float = setting(
        "number of visits for which a node's own value counts in the mean value of each of its actions; 1 is "
        "AlphaGo.jl's, 0 gives untried actions the value 0 as in AlphaGo Zero",
        default=1.0,
        path_only=True,
    )
    first_play_reduction: float = setting(
        "difference between a node's own value and the value of an untried action once nearly all actions are tried; "
        "it grows with the square root of the sum of the tried actions' priors (Leela Zero, KataGo). 0 is AlphaGo.jl's "
        "and AlphaGo Zero's; 0.2, KataGo's, won 65 % of its games against 0 on 9x9 "
        "(docs/experiments/20-search-options.md)",
        default=0.2,
        path_only=True,
    )
    virtual_loss: int = setting(
        "losses that a simulation adds to the nodes on its path until its leaf is evaluated",
        default=1,
        path_only=True,
        least=1,
    )
    dirichlet_weight: float = setting(
        "weight of the Dirichlet noise at the root in self-play (0.25 in the paper)", default=0.25, most=1
    )
    dirichlet_alpha: float | None = setting(
        "concentration of the Dirichlet noise; None for 0.03 * 361 / actions, AlphaGo.jl's scaling of the paper's 0.03 "
        "for 19x19",
        default=None,
        path_only=True,
        positive=True,
    )
    squash: float = setting(
        "power of the visits from which self-play draws its first moves, and which are the "
        "targets there; below 1 they are more equal (AlphaGo.jl: 0.98)",
        default=1.0,
        path_only=True,
        positive=True,
        most=1,
    )

    def new_rule(self, games: int, actions: int) -> "PuctRule":
        """Return the rule for a search of `games` games; it does not need the number of actions."""
        return PuctRule(self, games)


class PuctRule(SearchRule):
    """PUCT search: keeps its trees, adds Dirichlet noise at the roots, and takes policies and moves from visits."""

    keeps_trees = True
    select = staticmethod(puct.select)
    device_select = "select_puct"
    parameters: PuctParameters

    def __init__(self, settings: Puct, games: int) -> None:
        """Make the rule for a search of `games` games."""
        self.settings = settings
        numbers = settings.parent_value_weight, settings.first_play_reduction, settings.virtual_loss
        self.parameters = PuctParameters(np.full(games, settings.c_puct, np.float64), *numbers)

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Mix Dirichlet noise over the legal actions into the priors at the roots, as AlphaGo Zero does."""
        if self.settings.dirichlet_weight == 0:
            return
        noise = np.zeros((len(games), tree.actions), np.float32)
        alpha = self.settings.dirichlet_alpha or 0.03 * 361 / tree.actions  # see the setting `dirichlet_alpha`
        legal = batch.legal_mask(games, np.empty(noise.shape, np.bool_))
        for i, generator in enumerate(generators):
            actions = np.flatnonzero(legal[i])
            # Gamma draws of a small shape can all be zero; the tiny addend keeps their sum positive.
            drawn = generator.standard_gamma(alpha, len(actions)) + 1e-30
            noise[i, actions] = drawn / drawn.sum()
        tree.launch(puct.mix_noise, games, noise, np.float32(self.settings.dirichlet_weight))

    def selfplay_moves(self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return each action's share of the visits, and the most visited actions.

        In `early` games the visits are raised to the power `squash` first, and the action is drawn in proportion to
        them.
        """
        if self.settings.squash == 1:
            return super().selfplay_moves(tree, games, early, generators)
        chance = np.array([generator.random() for generator in generators])
        squashed = root_visits(tree, games) ** np.where(early, self.settings.squash, 1)[:, None]
        return squashed / squashed.sum(axis=1, keepdims=True), choose_actions(squashed, early, chance)
