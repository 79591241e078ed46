"""PUCT, AlphaGo Zero's search (Silver et al. 2017), as a `SearchRule`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphago.env.game import GameBatch
from alphago.mcts.kernels import puct
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.rule import SearchRule, choose_actions, only_child, root_visits
from alphago.mcts.tree import Tree


class PuctParameters(NamedTuple):
    """The constants of the formula; `SearchSettings` explains them."""

    c_puct: float
    parent_value_weight: float
    first_play_reduction: float
    virtual_loss: int


class Puct(SearchRule):
    """PUCT search: keeps its trees, Dirichlet noise at the roots, policies and moves from visits.

    dirichlet_weight, dirichlet_alpha: see `SearchSettings`.
    """

    keeps_trees = True
    select = staticmethod(puct.select)
    parameters: PuctParameters

    def __init__(self, parameters: PuctParameters, dirichlet_weight: float, dirichlet_alpha: float | None) -> None:
        self.parameters = parameters
        self.dirichlet_weight = dirichlet_weight
        self.dirichlet_alpha = dirichlet_alpha

    def add_noise(
        self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        if self.dirichlet_weight == 0:
            return
        noise = np.zeros((len(games), tree.waiting.shape[2]), np.float32)
        alpha = self.dirichlet_alpha or 0.03 * 361 / noise.shape[1]
        legal = batch.legal_mask(games, np.empty(noise.shape, np.bool_))
        for i, generator in enumerate(generators):
            actions = np.flatnonzero(legal[i])
            # Gamma draws of a small shape can all be zero; the tiny addend keeps their sum positive.
            drawn = generator.standard_gamma(alpha, len(actions)) + 1e-30
            noise[i, actions] = drawn / drawn.sum()
        puct.mix_noise(tree, games, noise, np.float32(self.dirichlet_weight))

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Do nothing: simulations create the nodes that they need."""

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return the games (bool [B]) with one legal action, or whose most visited one leads by more than `budget`."""
        games = np.arange(len(budget))
        visits = root_visits(tree, games)
        most = visits.max(axis=1)
        visits[games, visits.argmax(axis=1)] = 0
        one_legal = only_child(tree) & (tree.next_action[:, ROOT] == NONE)
        return one_legal | (most - visits.max(axis=1) > budget)

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        visits = root_visits(tree, games)
        return visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the most visited actions; where `by_chance` is set, actions drawn in proportion to visits."""
        return choose_actions(root_visits(tree, games), by_chance, chance)

    def selfplay_moves(
        self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray]:
        chance = np.array([generator.random() for generator in generators])
        return self.policies(tree, games), self.choose(tree, games, early, chance)
