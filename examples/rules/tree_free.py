"""Gumbel search without a tree: two batches of evaluations a move, however the network answers.

The `considered` root actions with the greatest logit + Gumbel noise are evaluated in one batch.  For the best of them,
`survivors` in number, their likeliest replies are evaluated in a second batch; their values are the means of both.
Policy and move are those of Gumbel search (Danihelka et al. 2022).  This is one round of sequential halving, "1sh" of
nanoAlphaZero (github.com/wtedw/nanoAlphaZero, 2026).

    alphago train --board-size 7 --search examples/rules/tree_free.py:TreeFree --leaves 8 --readouts 12
"""

import math
from typing import NamedTuple

import numpy as np

from alphago.mcts.gumbel import Gumbel, GumbelRule
from alphago.mcts.kernels.gumbel import add_candidates, root_score
from alphago.mcts.kernels.nodes import NONE, ROOT, WAIT
from alphago.mcts.kernels.waves import select_by
from alphago.mcts.rule import PolicyMoves
from alphago.mcts.tree import Tree
from alphago.system.kernels.jit import inlined
from alphago.system.validation import setting, settings


class TreeFreeParameters(NamedTuple):
    """What the kernels read, see TreeFree and `alphago.Gumbel`."""

    c_visit: float
    c_scale: float
    survivors: int
    noise: np.ndarray  # float32 [B, A], added to the logits of the roots' actions


@inlined
def choose(tree, game, node, rule):
    """Return the action to evaluate next.

    Below the root it is NONE, the likeliest reply.  At the root it is a child without a visit, as long as there is one.
    Then it is WAIT until the first batch has values, and then the best child with one visit, until there are enough
    survivors, those with two.  At last it is WAIT, which ends the search.
    """
    if node != ROOT:
        return NONE
    scale = (rule.c_visit + 1) * rule.c_scale / 2  # of the first batch's values, which have one visit each
    waits = False
    survivors = 0  # that have their reply
    best = WAIT
    best_score = -math.inf
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child]
        started = visits + tree.virtual[game, child]
        if started == 0:
            return child
        if visits == 0:
            waits = True
        elif started == 1:
            score = root_score(tree, game, child, rule.noise, scale)
            if score > best_score:
                best_score = score
                best = child
        else:
            survivors += 1
        child = tree.next_sibling[game, child]
    return WAIT if waits or survivors >= rule.survivors else best


@settings
class TreeFree(Gumbel):
    """Settings of Gumbel search without a tree; readouts above `considered` + `survivors` are not used."""

    considered: int = setting("root actions in the first batch", default=8, least=1)
    survivors: int = setting("of them, those with a reply in the second batch", default=4, least=0)

    @property
    def independent_leaves(self) -> bool:
        return True

    def new_rule(self, games: int, actions: int) -> "TreeFreeRule":
        return TreeFreeRule(self, games, actions)


class TreeFreeRule(GumbelRule):
    """Gumbel search in two batches; the move is the best by the completed values, visited or not."""

    select = staticmethod(select_by(choose, spreads=False))

    def __init__(self, settings: TreeFree, games: int, actions: int) -> None:
        super().__init__(settings, games, actions)
        self.parameters = TreeFreeParameters(
            float(settings.c_visit), float(settings.c_scale), settings.survivors, self.noise
        )

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Make the root actions to consider children of the roots."""
        scores = np.empty(self.noise.shape[1])  # scratch memory
        add_candidates(tree, games, self.noise, np.minimum(self.considered, readouts), scores)

    def _improved(self, tree: Tree, games: np.ndarray) -> PolicyMoves:
        """Return the improved policies, float32 [n, A], and the actions with the greatest noise + log policy."""
        policies, _ = super()._improved(tree, games)
        with np.errstate(divide="ignore"):  # illegal actions: the logarithm of 0
            return policies, (self.noise[games] + np.log(policies)).argmax(axis=1).astype(np.int32)
