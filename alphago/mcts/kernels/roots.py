"""What roots are told and asked: noise, visits, priors.  `games` is int64 [n]."""

import numpy as np

from alphago.mcts.kernels.nodes import NONE, ROOT, greatest_waiting
from alphago.system.kernels.jit import kernel


@kernel
def mix_noise(tree, games, noise, weight):
    """Root priors become (1 - weight) prior + weight noise; `noise` float32 [n, A], 0 on illegal actions."""
    for i in range(games.shape[0]):
        game = games[i]
        child = tree.first_child[game, ROOT]
        while child != NONE:
            share = weight * noise[i, tree.action[game, child]]
            tree.prior[game, child] = (1 - weight) * tree.prior[game, child] + share
            child = tree.next_sibling[game, child]
        for action in range(noise.shape[1]):
            prior = tree.waiting[game, ROOT, action]
            if prior > 0:
                tree.waiting[game, ROOT, action] = (1 - weight) * prior + weight * noise[i, action]
        tree.next_action[game, ROOT] = greatest_waiting(tree.waiting[game, ROOT])


@kernel
def root_visits(tree, games, out):
    """Visits of the root's actions into `out`, int32 [n, A]."""
    for i in range(games.shape[0]):
        for action in range(out.shape[1]):
            out[i, action] = 0
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            out[i, tree.action[games[i], child]] = tree.visits[games[i], child]
            child = tree.next_sibling[games[i], child]


@kernel
def root_priors(tree, games, out):
    """Priors of the root's actions into `out`, float32 [n, A]."""
    for i in range(games.shape[0]):
        for action in range(out.shape[1]):
            out[i, action] = max(tree.waiting[games[i], ROOT, action], np.float32(0))
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            out[i, tree.action[games[i], child]] = tree.prior[games[i], child]
            child = tree.next_sibling[games[i], child]
