"""PUCT: AlphaGo Zero's formula for the action that a simulation follows."""

import math

from alphago.mcts.kernels.nodes import NONE, ROOT, greatest_waiting
from alphago.mcts.kernels.waves import select_by
from alphago.system.kernels.jit import inlined, kernel


@inlined
def choose(tree, game, node, rule):
    """Return the child to follow, or NONE for a new child, of the untried action with the greatest prior.

    The chosen action maximises Q(a) + c_puct P(a) sqrt(N) / (1 + N(a)) (Silver et al. 2017, Methods "Select"), where N
    is the node's number of visits, its own evaluation included. Q(a) = (sum of backed-up values + w v) / (N(a) + w),
    where v is the node's own value and w = `parent_value_weight` (1: AlphaGo.jl, 0: AlphaGo Zero). An untried action
    has Q = v (0 if w = 0) minus `first_play_reduction` sqrt(sum of tried priors). A simulation of the current wave
    counts as `virtual_loss` losses in each node that it has passed. Values are from the view of the node's mover. Of
    equally good actions the lowest is chosen.

    The prior of an untried action is in `tree.waiting`. The untried action with the greatest prior is in
    `tree.next_action`.

    Args:
        rule: a PuctParameters, with a c_puct for each game.
    """
    explore = rule.c_puct[game] * math.sqrt(tree.visits[game, node] + rule.virtual_loss * tree.virtual[game, node])
    parent_part = rule.parent_value_weight * tree.value[game, node]  # w v
    tried_prior = 0.0
    best = NONE
    best_action = tree.waiting.shape[2]  # the number of actions, greater than any action
    best_score = -math.inf
    child = tree.first_child[game, node]
    while child != NONE:
        tried_prior += tree.prior[game, child]
        virtual_losses = rule.virtual_loss * tree.virtual[game, child]
        visits = tree.visits[game, child] + virtual_losses
        weight = visits + rule.parent_value_weight
        mean = (tree.value_sum[game, child] - virtual_losses + parent_part) / weight if weight > 0 else 0.0
        score = mean + explore * tree.prior[game, child] / (1.0 + visits)
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best_score = score
            best_action = action
            best = child
        child = tree.next_sibling[game, child]
    action = tree.next_action[game, node]
    if action != NONE:
        mean = parent_part / rule.parent_value_weight if rule.parent_value_weight > 0 else 0.0
        mean -= rule.first_play_reduction * math.sqrt(tried_prior)
        score = mean + explore * tree.waiting[game, node, action]
        if score > best_score or (score == best_score and action < best_action):
            best = NONE
    return best


select = select_by(choose)


@kernel
def mix_noise(tree, games, noise, weight):
    """Set the priors at the roots of `games` (int64 [n]) to (1 - weight) prior + weight noise.

    Args:
        noise: float32 [n, A], 0 on illegal actions.
        weight: float32.
    """
    for i in range(games.shape[0]):
        game = games[i]
        child = tree.first_child[game, ROOT]
        while child != NONE:
            share = weight * noise[i, tree.action[game, child]]
            tree.prior[game, child] = (1 - weight) * tree.prior[game, child] + share
            child = tree.next_sibling[game, child]
        for action in range(noise.shape[1]):
            prior = tree.waiting[game, ROOT, action]
            if prior > 0:  # an untried legal action
                tree.waiting[game, ROOT, action] = (1 - weight) * prior + weight * noise[i, action]
        tree.next_action[game, ROOT] = greatest_waiting(tree.waiting[game, ROOT])
