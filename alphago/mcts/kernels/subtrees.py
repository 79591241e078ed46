"""Change whole trees (see tree.py): when a move is played, and when a search is restarted in its tree."""

from alphago.mcts.kernels.nodes import (
    CACHED,
    EXPANDED,
    NEW,
    NONE,
    ROOT,
    back_up,
    forget_visits,
    greatest_waiting,
    make_new,
    take_cached,
)
from alphago.system.kernels.jit import inlined, kernel


@inlined
def clear(tree, game):
    """Reduce the tree to one unevaluated root."""
    tree.used[game] = 1
    make_new(tree, game, ROOT, NONE, NONE)


@kernel
def clear_all(tree, games):
    """Clear the tree of each of `games`, int64 [n]."""
    for i in range(games.shape[0]):
        clear(tree, games[i])


@kernel
def restart_all(tree, games):
    """Undo the visits in the tree of each of `games` (int64 [n]), and cache its evaluated nodes (see tree.py).

    An evaluated root is not cached, but gets one visit at once: cached nodes are found through their parents, and a
    root has none.
    """
    for i in range(games.shape[0]):
        game = games[i]
        for node in range(tree.used[game]):
            forget_visits(tree, game, node)
            if tree.first_child[game, node] != NONE:
                forget_children(tree, game, node)
            if tree.state[game, node] == EXPANDED:
                tree.state[game, node] = CACHED
        if tree.state[game, ROOT] == CACHED:
            tree.state[game, ROOT] = EXPANDED
            back_up(tree, game, ROOT, tree.value[game, ROOT], 0)  # 0: it has no virtual visit to remove


@inlined
def forget_children(tree, game, node):
    """Make the tried actions of a node untried again, and cache the children that were evaluated."""
    child = tree.first_child[game, node]
    tree.first_child[game, node] = NONE
    while child != NONE:
        after = tree.next_sibling[game, child]
        tree.waiting[game, node, tree.action[game, child]] = tree.prior[game, child]
        if tree.state[game, child] == NEW:
            tree.parent[game, child] = NONE  # nothing leads to the node now; it is removed when the next move is played
        else:
            tree.next_sibling[game, child] = tree.cached[game, node]
            tree.cached[game, node] = child
        child = after
    tree.next_action[game, node] = greatest_waiting(tree.waiting[game, node])


@kernel
def advance(tree, games, actions):
    """Play an action in each game: its child becomes the new root, the nodes below it are kept, all others are freed.

    The child may also be a cached node. If the action has neither, the new root is unevaluated. The `value_sum` of the
    new root is turned to the view of the player to move there.

    Args:
        games: int64 [n].
        actions: int32 [n].
    """
    for i in range(games.shape[0]):
        game = games[i]
        child = tree.first_child[game, ROOT]
        while child != NONE and tree.action[game, child] != actions[i]:
            child = tree.next_sibling[game, child]
        if child == NONE:
            child = take_cached(tree, game, ROOT, actions[i])
        if child == NONE:
            clear(tree, game)
            continue
        if tree.mover[game, child] != tree.mover[game, ROOT]:
            tree.value_sum[game, child] = -tree.value_sum[game, child]
        compact(tree, game, child)


@inlined
def compact(tree, game, root):
    """Move `root` and all nodes below it to the front of the arrays, in order.

    Links among these nodes get the new indices.  Between two searches there are no virtual visits, so their array
    serves as scratch memory for these indices, and is 0 again at the end.
    """
    used = 0
    used_before = tree.used[game]
    moved_to = tree.virtual[game]  # the new index of each node from `root` on; NONE for nodes that are not below it
    for node in range(root, used_before):  # parents come before their children
        parent = tree.parent[game, node]  # if it is NONE or before `root`, the node is not below `root`
        stays = node == root or (parent >= root and moved_to[parent] != NONE)
        moved_to[node] = used if stays else NONE
        used += stays
    tree.parent[game, root] = NONE
    tree.next_sibling[game, root] = NONE
    for node in range(root, used_before):
        to = moved_to[node]
        if to == NONE:
            continue
        for links in (tree.parent, tree.first_child, tree.next_sibling, tree.cached):
            linked = links[game, node]
            links[game, to] = moved_to[linked] if linked != NONE else NONE
        for integers in (tree.action, tree.next_action, tree.visits):
            integers[game, to] = integers[game, node]
        for floats in (tree.prior, tree.value, tree.value_sum, tree.score):
            floats[game, to] = floats[game, node]
        for small in (tree.state, tree.mover):
            small[game, to] = small[game, node]
        for point in range(tree.owners.shape[2]):
            tree.owners[game, to, point] = tree.owners[game, node, point]
        for action in range(tree.waiting.shape[2]):
            tree.waiting[game, to, action] = tree.waiting[game, node, action]
    for node in range(root, used_before):
        moved_to[node] = 0
    tree.used[game] = used
