"""Nodes of the tree, their links and counts.  The fields are explained in alphago/mcts/tree.py."""

import numpy as np

from alphago.system.kernels.jit import inlined, kernel

ROOT = 0
NONE = -1  # no parent, no child, no sibling, no action
WAIT = -2  # instead of a child: the choice depends on values that the current wave has not computed yet

# Values of `state`.
NEW = 0  # not evaluated
PENDING = 1  # a leaf of the current wave, not evaluated yet
EXPANDED = 2
TERMINAL = 3  # the game is over here
CACHED = 4  # evaluated by an earlier search, and not yet reached by this one

TAKEN = -1.0  # in `waiting`, the mark of an action that has a child; an illegal action has the prior 0


@kernel
def greatest_waiting(waiting):
    """Return the untried action with the greatest prior, the first of equals; NONE if all actions are tried.

    Args:
        waiting: float32 [A], the priors of the untried actions (see Tree.waiting).
    """
    best = NONE
    best_prior = np.float32(0)
    for action in range(waiting.shape[0]):
        if waiting[action] > best_prior:
            best_prior = waiting[action]
            best = action
    return best


@inlined
def make_new(tree, game, node, parent, action):
    """Make `node` a node without visits, evaluation or children, reached from `parent` by `action`."""
    tree.parent[game, node] = parent
    tree.first_child[game, node] = NONE
    tree.next_sibling[game, node] = NONE
    tree.cached[game, node] = NONE
    tree.action[game, node] = action
    tree.state[game, node] = NEW
    forget_visits(tree, game, node)


@inlined
def forget_visits(tree, game, node):
    """Remove all simulations from a node; its evaluation stays."""
    tree.visits[game, node] = 0
    tree.virtual[game, node] = 0
    tree.value_sum[game, node] = 0


@inlined
def take_cached(tree, game, node, action):
    """Remove the child for `action` from the node's cached children (see tree.py), return it; NONE if there is none."""
    before = NONE
    child = tree.cached[game, node]
    while child != NONE and tree.action[game, child] != action:
        before = child
        child = tree.next_sibling[game, child]
    if child != NONE:
        after = tree.next_sibling[game, child]
        if before == NONE:
            tree.cached[game, node] = after
        else:
            tree.next_sibling[game, before] = after
    return child


@inlined
def add_child(tree, game, node, action):
    """Give an untried action a child of `node`, and return it: the action's cached node (see tree.py) or a new one."""
    child = take_cached(tree, game, node, action)
    if child == NONE:
        child = tree.used[game]
        tree.used[game] = child + 1
        make_new(tree, game, child, node, action)
    tree.next_sibling[game, child] = tree.first_child[game, node]
    tree.first_child[game, node] = child
    tree.prior[game, child] = tree.waiting[game, node, action]  # `waiting` has the priors of untried actions
    tree.waiting[game, node, action] = TAKEN
    tree.next_action[game, node] = greatest_waiting(tree.waiting[game, node])
    return child


@inlined
def back_up(tree, game, leaf, value, pending):
    """Count a simulation, which has ended in `leaf`, in every node from there to the root.

    Args:
        value: -1 .. 1, from the view of the player to move at the leaf.
        pending: 1 if `add_virtual` added a virtual visit for this simulation, which is removed; else 0.
    """
    mover = tree.mover[game, leaf]
    node = leaf
    while node != NONE:
        parent = tree.parent[game, node]
        player = tree.mover[game, parent if parent != NONE else node]  # who moved to the node; at the root: its mover
        tree.visits[game, node] += 1
        tree.virtual[game, node] -= pending
        tree.value_sum[game, node] += value if player == mover else -value
        node = parent


@inlined
def add_virtual(tree, game, leaf, count):
    """Add `count` virtual visits (1, or -1 to remove one) to all nodes from `leaf` to the root."""
    node = leaf
    while node != NONE:
        tree.virtual[game, node] += count
        node = tree.parent[game, node]


@inlined
def mean_value(tree, game, node):
    """Return the mean value of a visited node, from the view of the player who moved to it.

    At the root it is from the view of the player to move.
    """
    return tree.value_sum[game, node] / tree.visits[game, node]


@kernel
def read_children(tree, games, field, out):
    """Write a field of each child of the roots to the entry of its action in `out`; other entries stay.

    Args:
        games: int64 [n].
        field: int32 [B, N], a field of the tree, or the bits of a float32 field (see `Tree.bits`).
        out: int32 [n, A].
    """
    for i in range(games.shape[0]):
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            out[i, tree.action[games[i], child]] = field[games[i], child]
            child = tree.next_sibling[games[i], child]
