"""PUCT, AlphaGo Zero's search (Silver et al. 2017), as a `SearchRule`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.kernels import puct
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.rule import SearchRule, choose_actions, only_child, root_visits
from alphago.mcts.tree import Tree


class PuctParameters(NamedTuple):
    """The constants that PUCT's kernel `choose` reads; `SearchSettings` explains them."""

    c_puct: np.ndarray  # float64 [B], c_puct of each game at its present ply
    parent_value_weight: float
    first_play_reduction: float
    virtual_loss: int


class ByPly(NamedTuple):
    """A linear function of the number of plies played: first + growth * plies, bounded by `limit`.

    first: the value at the start of a game.
    growth: the increase per ply; may be negative.
    limit: the upper bound if `growth` is positive, the lower bound if `growth` is negative; None for no bound.
    """

    first: float
    growth: float = 0.0
    limit: float | None = None

    def at(self, plies: np.ndarray) -> np.ndarray:
        """Return the function's values, float64 [n], at numbers of plies (int32 [n])."""
        values = np.full(len(plies), self.first, np.float64)
        if self.growth:
            values += self.growth * plies
            if self.limit is not None:
                (np.minimum if self.growth > 0 else np.maximum)(values, self.limit, out=values)
        return values


class Puct(SearchRule):
    """PUCT search: keeps its trees, adds Dirichlet noise at the roots, and takes policies and moves from visits.

    parameters: the constants of the formula.
    dirichlet_weight: the weight of the noise, a number or a function of the ply.
    dirichlet_alpha, near_best: see `SearchSettings`.
    c_puct: c_puct as a function of the ply; None for `parameters.c_puct` at all plies.
    """

    keeps_trees = True
    select = staticmethod(puct.select)
    parameters: PuctParameters

    def __init__(
        self,
        parameters: PuctParameters,
        dirichlet_weight: float | ByPly,
        dirichlet_alpha: float | None,
        *,
        c_puct: ByPly | None = None,
        near_best: float | None = None,
    ) -> None:
        self.parameters = parameters
        self.c_puct = c_puct
        self.dirichlet_weight = dirichlet_weight if isinstance(dirichlet_weight, ByPly) else ByPly(dirichlet_weight)
        self.dirichlet_alpha = dirichlet_alpha
        self.near_best = None if near_best is None else float(near_best)
        self.plies = np.zeros(len(parameters.c_puct), np.int32)

    def begin_move(self, games: np.ndarray, plies: np.ndarray) -> None:
        self.plies[games] = plies
        if self.c_puct is not None:
            self.parameters.c_puct[games] = self.c_puct.at(plies)

    def add_noise(
        self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        if self.dirichlet_weight.first == 0:
            return
        noise = np.zeros((len(games), tree.waiting.shape[2]), np.float32)
        alpha = self.dirichlet_alpha or 0.03 * 361 / noise.shape[1]
        legal = batch.legal_mask(games, np.empty(noise.shape, np.bool_))
        for i, generator in enumerate(generators):
            actions = np.flatnonzero(legal[i])
            # Gamma draws of a small shape can all be zero; the tiny addend keeps their sum positive.
            drawn = generator.standard_gamma(alpha, len(actions)) + 1e-30
            noise[i, actions] = drawn / drawn.sum()
        puct.mix_noise(tree, games, noise, self.dirichlet_weight.at(self.plies[games]).astype(np.float32))

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Do nothing: simulations create the nodes that they need."""

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return for each game, bool [B], whether its most visited action can no longer change.

        It cannot if it leads by more than `budget` visits, or is the only legal action. With `near_best`, moves do not
        depend on the most visited action, so only a game with a single legal action is settled.
        """
        games = np.arange(len(budget))
        visits = root_visits(tree, games)
        most = visits.max(axis=1)
        visits[games, visits.argmax(axis=1)] = 0
        one_legal = only_child(tree) & (tree.next_action[:, ROOT] == NONE)
        if self.near_best is not None:
            return one_legal
        return one_legal | (most - visits.max(axis=1) > budget)

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        visits = root_visits(tree, games)
        return visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the most visited actions; where `by_chance` is set, actions drawn in proportion to visits.

        With `near_best`, every action is drawn at random, whatever `by_chance` is: all actions whose score is at least
        `near_best` times the best action's score are equally likely (see `SearchSettings`).
        """
        if self.near_best is not None:
            good = np.empty((len(games), tree.waiting.shape[2]), np.float32)
            puct.near_best(tree, games, self.near_best, good)
            return choose_actions(good, np.ones(len(games), np.bool_), chance)
        return choose_actions(root_visits(tree, games), by_chance, chance)

    def selfplay_moves(
        self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray]:
        chance = np.array([generator.random() for generator in generators])
        return self.policies(tree, games), self.choose(tree, games, early, chance)
