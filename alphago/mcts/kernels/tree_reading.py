"""Read an analysis from the trees of a search: sums over the nodes below each action, and lines of play.

The weight of a node is the number of simulations that ended there: its visits minus the visits of its children. All
sums are from the view of the player to move at the root.
"""

import numpy as np

from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.system.kernels.jit import inlined, kernel

OWNERS = np.float32(127)  # int8 that stands for ownership 1


@inlined
def own_weight(tree, game, node):
    """Return the number of simulations that ended in a node, the weight of the node in sums."""
    weight = tree.visits[game, node]
    child = tree.first_child[game, node]
    while child != NONE:
        weight -= tree.visits[game, child]
        child = tree.next_sibling[game, child]
    return weight


@kernel
def add_up(tree, games, branch, out):
    """Add up values, scores and ownership over the nodes below each action of the root, and over the whole tree.

    Args:
        games: int64 [n].
        branch: int32 [N], scratch: for each node the root action above it, A for the root itself.
        out: a `TreeSums` of zeros, to which is added. Entry a is for action a, and entry A for the whole tree.
            Ownership has all of these entries, or only the one for the whole tree.
    """
    actions = tree.waiting.shape[2]  # the number of actions, also the entry for the whole tree
    last = out.ownership.shape[1] - 1  # the entry of ownership for the whole tree
    by_action = last > 0  # whether ownership has entries for actions
    for i in range(games.shape[0]):
        game = games[i]
        mover = tree.mover[game, ROOT]
        for node in range(tree.used[game]):
            parent = tree.parent[game, node]
            if parent == NONE:  # the root, or a node without visits that `restart_all` took out of the tree
                branch[node] = actions
            elif parent == ROOT:
                branch[node] = tree.action[game, node]
            else:
                branch[node] = branch[parent]
            weight = own_weight(tree, game, node)
            if weight <= 0:
                continue
            sign = 1 if tree.mover[game, node] == mover else -1  # to the view of the root's mover
            value = tree.value[game, node]  # without sign, since only its square is added
            score = sign * tree.score[game, node]
            action = branch[node]
            add_numbers(out, i, actions, weight, value, score)
            add_owners(tree, game, node, sign * weight, out, i, last)
            if action != actions:
                add_numbers(out, i, action, weight, value, score)
                if by_action:
                    add_owners(tree, game, node, sign * weight, out, i, action)


@inlined
def add_numbers(out, i, entry, weight, value, score):
    """Add a node's weight to an entry of row i, and its squared value, score and squared score times the weight.

    The value itself is not added: the tree has its sums in `value_sum`.
    """
    out.weight[i, entry] += weight
    out.squared_value[i, entry] += weight * value * value
    out.score[i, entry] += weight * score
    out.squared_score[i, entry] += weight * score * score


@inlined
def add_owners(tree, game, node, weight, out, i, entry):
    """Add the ownership of a node and its square, times the node's weight, to an entry of row i of the sums.

    Args:
        weight: negative if the node's mover is not the root's mover, whose view counts.
    """
    for point in range(tree.owners.shape[2]):
        owner = tree.owners[game, node, point] / OWNERS
        out.ownership[i, entry, point] += weight * owner
        out.squared_ownership[i, entry, point] += abs(weight) * owner * owner


@inlined
def most_visited(tree, game, node):
    """Return the child with the most visits, of equals the one with the greatest prior; NONE if no child has visits."""
    best = NONE
    child = tree.first_child[game, node]
    while child != NONE:
        visits = tree.visits[game, child]
        if visits > 0:
            if best == NONE or visits > tree.visits[game, best]:
                best = child
            elif visits == tree.visits[game, best] and tree.prior[game, child] > tree.prior[game, best]:
                best = child
        child = tree.next_sibling[game, child]
    return best


@kernel
def write_lines(tree, games, lines, line_visits):
    """Write the most visited line of play that begins with each visited action of the roots of `games` (int64 [n]).

    Args:
        lines: int32 [n, A, plies], the actions; entries beyond a line's end are not changed.
        line_visits: int32 [n, A, plies], the visits of these actions.
    """
    for i in range(games.shape[0]):
        game = games[i]
        child = tree.first_child[game, ROOT]
        while child != NONE:
            first = tree.action[game, child]
            node = child if tree.visits[game, child] > 0 else NONE
            for ply in range(lines.shape[2]):
                if node == NONE:
                    break
                lines[i, first, ply] = tree.action[game, node]
                line_visits[i, first, ply] = tree.visits[game, node]
                node = most_visited(tree, game, node)
            child = tree.next_sibling[game, child]
