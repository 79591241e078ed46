"""A wave: simulations go down to new leaves in all games, and evaluations come back up."""

import math

from alphago.mcts.kernels.gumbel import choose_candidate, choose_improved
from alphago.mcts.kernels.nodes import (
    EXPANDED,
    KNOWN,
    NONE,
    PENDING,
    ROOT,
    TERMINAL,
    add_child,
    add_virtual,
    back_up,
    greatest_waiting,
)
from alphago.mcts.kernels.puct import choose_puct
from alphago.system.kernels.jit import kernel, part


@part
def descend(tree, game, rule, gumbel, schedule, out_path):
    """Follows the rule from the root to a node that is not expanded, which it makes where it has to.

    Returns the node and its depth, and writes the actions that lead there.
    """
    node = ROOT
    depth = 0
    while tree.state[game, node] == EXPANDED:
        if not rule.use_gumbel:
            child = choose_puct(tree, game, node, rule)
        elif node == ROOT:
            child = choose_candidate(tree, game, schedule, gumbel, rule.c_visit, rule.c_scale)
        else:
            child = choose_improved(tree, game, node, rule.c_visit, rule.c_scale)
        if child == NONE:
            child = add_child(tree, game, node, tree.next_action[game, node])
        out_path[depth] = tree.action[game, child]
        depth += 1
        node = child
    return node, depth


@kernel
def select(tree, budget, rule, gumbel, schedules, schedule_of, out_game, out_leaf, out_path, out_length, collisions):
    """Chooses up to `rule.leaves` new leaves in every game that has budget left.

    `rule`: a Rule (see tree.py).  `gumbel` float32 [B, A], `schedules` [S, k, n] and `schedule_of` int32 [B] are
    read where the rule is Gumbel's: see choose_candidate.

    Row i of the outputs is one leaf: its game, its node, and the actions that lead to it from the
    root.  Simulations that end in a finished game, or where an earlier search was, are backed up at once and take
    budget; those that meet a leaf of the same wave are noted in `collisions` [2 * leaves * B, 2] (game, node) and cost
    nothing; after 2 * leaves attempts without enough leaves the game waits for the next wave.
    Returns the number of leaves and of collisions.
    """
    # Arrays and no structures of them, whose parts numba takes from Python objects one by one at every call.
    rows = 0
    collided = 0
    for game in range(budget.shape[0]):
        found = 0
        attempts = 0
        while found < rule.leaves and attempts < 2 * rule.leaves and budget[game] > 0:
            schedule = schedules[schedule_of[game]]
            leaf, depth = descend(tree, game, rule, gumbel, schedule, out_path[rows])
            if tree.state[game, leaf] == KNOWN or tree.state[game, leaf] == TERMINAL:
                if tree.state[game, leaf] == KNOWN:
                    tree.state[game, leaf] = EXPANDED
                back_up(tree, game, leaf, tree.value[game, leaf], 0)
                budget[game] -= 1
                continue
            attempts += 1
            add_virtual(tree, game, leaf, 1)
            if tree.state[game, leaf] == PENDING:
                collisions[collided, 0] = game
                collisions[collided, 1] = leaf
                collided += 1
                continue
            tree.state[game, leaf] = PENDING
            out_game[rows] = game
            out_leaf[rows] = leaf
            out_length[rows] = depth
            rows += 1
            found += 1
            budget[game] -= 1
    return rows, collided


@kernel
def expand(tree, games, leaves, movers, over, values, priors, collisions):
    """Enters the evaluations of the leaves (int32 [n], nodes of `games` int64 [n]) and backs them up.

    `values` [n] are the movers'; `priors` [rows, A] has a row for each leaf or, where it has fewer, for each that
    is not `over`, in order.  `collisions` int32 [m, 2]: those that `select` noted.  Returns the number of leaves
    without any positive prior or whose value is not finite (a broken evaluator).
    """
    broken = 0
    row = 0
    count = games.shape[0]
    for_all = priors.shape[0] == count
    for i in range(count):
        game = games[i]
        leaf = leaves[i]
        tree.mover[game, leaf] = movers[i]
        tree.value[game, leaf] = values[i]
        fine = math.isfinite(values[i])
        if over[i]:
            tree.state[game, leaf] = TERMINAL
            row += for_all
        else:
            tree.state[game, leaf] = EXPANDED
            for action in range(priors.shape[1]):
                tree.waiting[game, leaf, action] = priors[row, action]
            tree.next_action[game, leaf] = greatest_waiting(tree.waiting[game, leaf])
            fine &= tree.next_action[game, leaf] != NONE
            row += 1
        broken += not fine
        back_up(tree, game, leaf, values[i], 1)
    for i in range(collisions.shape[0]):
        add_virtual(tree, collisions[i, 0], collisions[i, 1], -1)
    return broken
