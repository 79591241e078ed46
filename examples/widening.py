"""Progressive widening (Coulom 2007) as a search rule: a node tries another action once it has enough visits.

docs/search_rule.md explains it step by step.  It is UCT in the order of the priors: a node of N visits has at most
`width` sqrt(N) actions, those with the greatest priors, and goes on by UCB1 among them.
"""

import math
from typing import NamedTuple

import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.kernels.nodes import NONE
from alphago.mcts.kernels.puct import mix_noise
from alphago.mcts.kernels.waves import select_by
from alphago.mcts.rule import Generators, SearchRule, SearchSettings
from alphago.mcts.tree import Tree
from alphago.system.kernels.jit import inlined
from alphago.system.validation import setting, settings


class WideningParameters(NamedTuple):
    """What the kernel reads: numbers, or arrays of the games."""

    width: float
    explore: float


@inlined
def choose(tree, game, node, rule):
    """Return the child to follow, or NONE for the untried action with the greatest prior."""
    visits = tree.visits[game, node] + tree.virtual[game, node]
    children = 0
    best = NONE
    best_score = -math.inf
    child = tree.first_child[game, node]
    while child != NONE:
        children += 1
        on_the_way = tree.virtual[game, child]  # simulations of this wave, which count as lost until they are evaluated
        tried = max(tree.visits[game, child] + on_the_way, 1)
        mean = (tree.value_sum[game, child] - on_the_way) / tried
        score = mean + rule.explore * math.sqrt(math.log(visits + 1) / tried)
        if score > best_score:
            best_score = score
            best = child
        child = tree.next_sibling[game, child]
    has_room = children < rule.width * math.sqrt(visits)
    if tree.next_action[game, node] != NONE and (best == NONE or has_room):
        return NONE
    return best


@settings
class Widening(SearchSettings):
    """Settings of progressive widening."""

    width: float = setting(
        "actions that a node tries, as a multiple of the square root of its visits", default=1.0, positive=True
    )
    explore: float = setting("weight of rarely tried actions, in UCB1", default=0.3, least=0)

    def new_rule(self, games: int, actions: int) -> "WideningRule":
        return WideningRule(self)


class WideningRule(SearchRule):
    """Keeps its trees; policies and moves come from the visits, as `SearchRule` takes them."""

    keeps_trees = True
    select = staticmethod(select_by(choose))

    def __init__(self, settings: Widening) -> None:
        self.parameters = WideningParameters(float(settings.width), float(settings.explore))

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Mix a quarter of Dirichlet noise into the priors, so that other actions come first."""
        legal = batch.legal_mask(games, np.empty((len(games), tree.waiting.shape[2]), np.bool_))
        noise = np.zeros(legal.shape, np.float32)
        for row, mask, generator in zip(noise, legal, generators, strict=True):
            row[mask] = generator.dirichlet(np.full(mask.sum(), 10 / mask.sum()))
        mix_noise(tree, games, noise, np.float32(0.25))
