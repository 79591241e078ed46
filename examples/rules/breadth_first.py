"""Search in breadth: visits are dealt out by the priors, level by level, and policies computed from the leaves up.

Of a node's n visits one is its own evaluation; the priors share out the rest among its actions, whatever their values,
so that a level is one batch.  A node's value is the mean of its evaluation and of its actions' values, weighted by the
policy that best trades values against the distance from the prior (Grill et al. 2020): RMCTS (arXiv 2601.01301, 2026).

    alphago train --board-size 7 --search examples/rules/breadth_first.py:BreadthFirst --leaves 16 --readouts 16
"""

import math
from typing import NamedTuple

import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.kernels.nodes import EXPANDED, NEW, NONE, ROOT, WAIT, add_child
from alphago.mcts.kernels.waves import select_by
from alphago.mcts.puct import Puct, PuctRule
from alphago.mcts.rule import Generators, choose_actions, only_legal
from alphago.mcts.tree import Tree
from alphago.system.kernels.jit import inlined
from alphago.system.validation import settings


class BreadthParameters(NamedTuple):
    """What the kernels read; they write `quota`."""

    weight: float  # of the distance from the prior
    quota: np.ndarray  # int32 [B, N], the visits that each node gets
    offset: np.ndarray  # float64 [B], 0 .. 1, which rounds the quotas of a search


@inlined
def deal(tree, game, node, rule):
    """Make children of an evaluated node, and share out its quota less one in proportion to the priors, rounded."""
    visits = rule.quota[game, node] - 1
    dealt = rule.offset[game]
    for action in range(tree.waiting.shape[2]):
        prior = tree.waiting[game, node, action]
        if prior > 0:
            share = math.floor(dealt + visits * prior) - math.floor(dealt)
            dealt += visits * prior
            if share > 0:
                rule.quota[game, add_child(tree, game, node, action)] = share


@inlined
def choose(tree, game, node, rule):
    """Return the child that leads to the first node not evaluated yet, or WAIT if the level has none.

    Nodes are in the order of their levels.  At the root, first the nodes that the last wave evaluated get children.
    """
    if node == ROOT:
        for other in range(tree.used[game]):
            is_leaf = tree.state[game, other] == EXPANDED and tree.first_child[game, other] == NONE
            if is_leaf and rule.quota[game, other] > 1:
                deal(tree, game, other, rule)
    for leaf in range(node + 1, tree.used[game]):
        if tree.state[game, leaf] == NEW:
            child = leaf
            while child != ROOT and tree.parent[game, child] != node:
                child = tree.parent[game, child]
            if child != ROOT:
                return child
    return WAIT


def best_policies(priors: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return pi(a) = w p(a) / (u - q(a)), float64 [n, K], with u > max q such that it sums to 1 (by Newton's method).

    Args:
        priors, values: p and q, [n, K]; p = 0 and q = -inf for an entry that is not an action.
        weights: w, [n, 1].
    """
    greatest = values.max(axis=1, keepdims=True)
    gaps = (weights * priors * (values == greatest)).max(axis=1, keepdims=True)  # u - max q, at first too small
    for _ in range(30):
        below = greatest + gaps - values
        policies = weights * priors / below
        excess = np.maximum(policies.sum(axis=1, keepdims=True) - 1, 0)
        gaps += excess / (policies / below).sum(axis=1, keepdims=True)
    return policies


@settings
class BreadthFirst(Puct):
    """Settings of search in breadth.  Of the settings of `Puct` it heeds noise, `squash` and `c_puct`, the weight w."""

    @property
    def independent_leaves(self) -> bool:
        return False  # trees begin empty: no evaluations are kept from the move before

    def new_rule(self, games: int, actions: int) -> "BreadthRule":
        return BreadthRule(self, games)


class BreadthRule(PuctRule):
    """Search in breadth, with the policies of `best_policies` as targets, from which moves are drawn."""

    keeps_trees = False
    select = staticmethod(select_by(choose, spreads=False))

    def __init__(self, settings: BreadthFirst, games: int) -> None:
        super().__init__(settings, games)
        quota, offset = np.zeros((games, 1), np.int32), np.full(games, 0.5)
        self.parameters = BreadthParameters(float(settings.c_puct), quota, offset)

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Add PUCT's noise, and draw offsets not too near 0 and 1, where rounding in the sum of priors would matter."""
        super().add_noise(tree, batch, games, generators)
        self.parameters.offset[games] = [0.01 + 0.98 * generator.random() for generator in generators]

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Give each root a quota of its readouts and its own evaluation."""
        quota = self.parameters.quota
        quota = np.pad(quota, ((0, 0), (0, max(0, tree.parent.shape[1] - quota.shape[1]))))
        quota[games] = 0
        quota[games, ROOT] = readouts + 1
        self.parameters = self.parameters._replace(quota=quota)

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return whether there is only one legal action; otherwise all readouts are done."""
        return only_legal(tree, np.arange(len(budget)))

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the roots' best policies, float32 [n, A], computed from the leaves up, children before parents."""
        used = slice(tree.used[games].max())
        parents, priors, movers, actions = (
            array[games, used] for array in (tree.parent, tree.prior, tree.mover, tree.action)
        )
        parents = np.where(np.arange(used.stop) < tree.used[games, None], parents, NONE)
        quota = np.maximum(self.parameters.quota[games, used], 2)
        values = tree.value[games, used].astype(np.float64)  # in the view of each node's mover
        out = np.zeros((len(games), tree.waiting.shape[2]), np.float32)
        for node in range(used.stop - 1, -1, -1):
            rows = np.flatnonzero((parents == node).any(axis=1))  # of the games in which this node has children
            is_child = parents[rows] == node
            q = np.where(is_child, values[rows], -np.inf)
            weights = self.parameters.weight / np.sqrt(quota[rows, node, None] - 1)
            policies = best_policies(priors[rows] * is_child, q, weights)
            means = np.where(is_child, policies * values[rows], 0).sum(axis=1)
            values[rows, node] += (means - values[rows, node]) * (1 - 1 / quota[rows, node])
            parent_movers = movers[np.arange(len(games)), parents[:, node]]
            values[:, node] *= np.where(parent_movers == movers[:, node], 1, -1)  # now in the view of who moved there
        row, child = np.nonzero(is_child)  # children of the root, the last node of the loop
        out[rows[row], actions[rows[row], child]] = policies[row, child]
        return out

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        return choose_actions(self.policies(tree, games), by_chance, chance)
