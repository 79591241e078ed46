"""PUCT as the paper has it (Silver et al. 2018, pseudocode), without what came later.

An untried action has the value 0, as a draw; the weight of priors grows slowly with a node's visits.  Noise and moves
are those of the package's PUCT (`Puct`), which adds a first-play urgency and the parent's value.

    alphago train --board-size 7 --search examples/rules/paper_puct.py:PaperPuct --readouts 64
"""

import math
from typing import NamedTuple

from alphago.mcts.kernels.nodes import NONE
from alphago.mcts.kernels.waves import select_by
from alphago.mcts.puct import Puct, PuctRule
from alphago.system.kernels.jit import inlined
from alphago.system.validation import setting, settings


class PaperParameters(NamedTuple):
    """What the kernel reads, see PaperPuct."""

    c_base: float
    c_init: float


@inlined
def choose(tree, game, node, rule):
    """Return the child with the greatest score Q + C(N) P sqrt(N) / (1 + n), or NONE if the best untried action has it.

    C(N) = log((N + 1 + c_base) / c_base) + c_init.  N is the number of the node's visits, its own evaluation included,
    and n that of the child.  Simulations on the way count as lost.  Of equal scores the lowest action is chosen.
    """
    visits = tree.visits[game, node] + tree.virtual[game, node]
    weight = (math.log((visits + 1 + rule.c_base) / rule.c_base) + rule.c_init) * math.sqrt(visits)
    best = NONE
    best_action = tree.next_action[game, node]
    best_score = -math.inf
    if best_action != NONE:
        best_score = weight * tree.waiting[game, node, best_action]  # Q = 0 and n = 0
    child = tree.first_child[game, node]
    while child != NONE:
        on_the_way = tree.virtual[game, child]
        tried = tree.visits[game, child] + on_the_way
        mean = (tree.value_sum[game, child] - on_the_way) / tried if tried > 0 else 0.0
        score = mean + weight * tree.prior[game, child] / (1 + tried)
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best = child
            best_action = action
            best_score = score
        child = tree.next_sibling[game, child]
    return best


@settings
class PaperPuct(Puct):
    """Settings of PUCT as the paper has it.  Of the settings of `Puct` it heeds only the noise and `squash`."""

    c_base: float = setting("visits from which the weight of priors grows", default=19652.0, positive=True)
    c_init: float = setting("weight of priors at first", default=1.25, least=0)

    def new_rule(self, games: int, actions: int) -> "PaperRule":
        return PaperRule(self, games)


class PaperRule(PuctRule):
    """PUCT with the paper's choice: all else is the package's."""

    select = staticmethod(select_by(choose))

    def __init__(self, settings: PaperPuct, games: int) -> None:
        super().__init__(settings, games)
        self.parameters = PaperParameters(float(settings.c_base), float(settings.c_init))
