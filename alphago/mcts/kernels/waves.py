"""A wave: simulations go down to new leaves in all games, the leaves are evaluated together, the values backed up."""

import math
from typing import Any

from alphago.mcts.kernels.nodes import (
    CACHED,
    EXPANDED,
    NONE,
    PENDING,
    ROOT,
    TERMINAL,
    WAIT,
    add_child,
    add_virtual,
    back_up,
    greatest_waiting,
)
from alphago.system.kernels.jit import inlined, kernel, specialise

LIMIT = 1.001  # the greatest value accepted: 1, and some room for rounding

# `select_by` compiles a copy of the next three functions for each rule, with the rule's `choose` in place of the stub,
# and with the rule's value of this constant.
SPREADS = True


def choose(tree, game, node, rule):
    """Choose how a simulation goes on from an evaluated node; a rule replaces this stub.

    Returns:
        The node's child to which the simulation goes; NONE for a new child, for the untried action
        `tree.next_action[game, node]`; or WAIT if the rule cannot choose before the wave's leaves are evaluated.
    """
    raise NotImplementedError


def descend(tree, game, rule, out_path):
    """Follow the rule from the root down to the first node that is not EXPANDED; create the node if it does not exist.

    Args:
        out_path: int32 [plies], where the actions that lead to the node are written.

    Returns:
        The node and its depth, or WAIT and 0 if the rule cannot choose before the wave is evaluated.
    """
    node = ROOT
    depth = 0
    while tree.state[game, node] == EXPANDED:
        child = choose(tree, game, node, rule)
        if child == WAIT:
            return WAIT, 0
        if child == NONE:
            child = add_child(tree, game, node, tree.next_action[game, node])
        out_path[depth] = tree.action[game, child]
        depth += 1
        node = child
    return node, depth


def select(tree, budget, rule, wave):
    """Choose new leaves in the games that have simulations left, and write them to `wave`.

    A simulation that ends in a finished game, or in a node that an earlier search evaluated, is backed up at once.

    A simulation that ends in a leaf already chosen by the same wave is a collision and does not count.  If the rule
    SPREADS, the collision is written to `wave.collisions`, and its virtual visits stay until the wave is evaluated, so
    that later simulations choose other leaves.  Then a game waits for the next wave after 2 L attempts, where L is the
    number of leaves of a game in a wave.  If the rule does not spread, a game waits after its first collision.

    Args:
        budget: int32 [B], the simulations left in each game; reduced by the number that this call starts.
        rule: the parameters of the rule, a NamedTuple that only the rule's `choose` reads.
        wave: buffers with L rows for each game; the chosen leaves are written one after another, without gaps.

    Returns:
        The number of leaves and the number of collisions.
    """
    # `wave` is a NamedTuple, although numba unboxes it array by array at each call: this takes 0.4 us, 4 % of a wave of
    # one game without a network, and nothing measurable from 64 games on.
    leaves = wave.game.shape[0] // budget.shape[0]
    row = 0
    collided = 0  # the next row of `collisions`
    for game in range(budget.shape[0]):
        chosen = 0  # leaves of the game
        attempts = 0
        while chosen < leaves and attempts < 2 * leaves and budget[game] > 0:
            leaf, depth = descend(tree, game, rule, wave.path[row])
            if leaf == WAIT:
                break
            if tree.state[game, leaf] == CACHED or tree.state[game, leaf] == TERMINAL:
                if tree.state[game, leaf] == CACHED:
                    tree.state[game, leaf] = EXPANDED
                back_up(tree, game, leaf, tree.value[game, leaf], 0)  # 0: it has no virtual visit to remove
                budget[game] -= 1
                continue
            collides = tree.state[game, leaf] == PENDING
            if collides and not SPREADS:
                break
            attempts += 1
            add_virtual(tree, game, leaf, 1)
            if collides:
                wave.collisions[collided, 0] = game
                wave.collisions[collided, 1] = leaf
                collided += 1
                continue
            tree.state[game, leaf] = PENDING
            wave.game[row] = game
            wave.leaf[row] = leaf
            wave.length[row] = depth
            row += 1
            chosen += 1
            budget[game] -= 1
    return row, collided


def select_by(choose: Any, spreads: bool = True) -> Any:
    """Return `select` compiled for a rule.

    Args:
        choose: the rule's function; the compiled code is cached with the rule's kernels.
        spreads: the value of SPREADS, see `select`.
    """
    descend_by_rule = inlined(specialise(descend, choose=choose))
    return kernel(specialise(select, descend=descend_by_rule, SPREADS=spreads))


@kernel
def decide(decisive, priors, values):
    """Give a leaf whose mover can win at once the value 1, and all of the prior to the move that wins.

    Args:
        decisive: int32 [n], the action that wins at each leaf, or NONE.
        priors: float32 [n, A], changed in place.
        values: float32 [n], changed in place.
    """
    for i in range(values.shape[0]):
        if decisive[i] != NONE:
            values[i] = 1
            for action in range(priors.shape[1]):
                priors[i, action] = 1 if action == decisive[i] else 0


@kernel
def expand(tree, wave, reached, priors, values):
    """Write the evaluations of the wave's n leaves into the tree, and back the values up.

    Args:
        reached: a `Reached`, which says whether each leaf's game is over, and who is to move there.
        priors: float32 [n, A]; they do not matter where the game is over.
        values: float32 [n], from the view of the player to move at the leaf.

    Returns:
        The number of unusable evaluations (of a broken evaluator): a value is not finite, or, where the game is not
        over, it is beyond -1 .. 1 by more than rounding, or no prior is positive.
    """
    broken = 0
    for i in range(wave.game.shape[0]):
        game = wave.game[i]
        leaf = wave.leaf[i]
        tree.mover[game, leaf] = reached.movers[i]
        tree.value[game, leaf] = values[i]
        usable = math.isfinite(values[i])  # asked of finished games too, so that no NaN gets into the sums unseen
        if reached.over[i]:  # the value is the game's outcome, and the priors do not matter
            tree.state[game, leaf] = TERMINAL
        else:
            tree.state[game, leaf] = EXPANDED
            for action in range(priors.shape[1]):
                tree.waiting[game, leaf, action] = priors[i, action]
            tree.next_action[game, leaf] = greatest_waiting(tree.waiting[game, leaf])
            # LIMIT is 1, and some room for rounding.
            usable &= tree.next_action[game, leaf] != NONE and abs(values[i]) <= LIMIT
        if not usable:
            broken += 1
        back_up(tree, game, leaf, values[i], 1)  # 1: removes the virtual visit of this simulation
    for i in range(wave.collisions.shape[0]):
        add_virtual(tree, wave.collisions[i, 0], wave.collisions[i, 1], -1)
    return broken
