"""What becomes of a tree when a move is played: the part below it stays, the rest goes."""

from alphago.env.kernels.jit import kernel, part
from alphago.mcts.kernels.nodes import NEW, NONE, ROOT


@part
def clear(tree, game):
    """Leaves one unevaluated root."""
    tree.used[game] = 1
    tree.parent[game, ROOT] = NONE
    tree.first_child[game, ROOT] = NONE
    tree.next_sibling[game, ROOT] = NONE
    tree.action[game, ROOT] = NONE
    tree.state[game, ROOT] = NEW
    tree.visits[game, ROOT] = 0
    tree.virtual[game, ROOT] = 0
    tree.value_sum[game, ROOT] = 0


@kernel
def clear_all(tree, games):
    """`clear` for each game, int64 [n]."""
    for i in range(games.shape[0]):
        clear(tree, games[i])


@kernel
def advance(tree, games, actions, moved_to):
    """Makes the child of each root's action the root, keeps what is below it and frees the rest.

    `moved_to` int32 [N] is scratch.  A root without that child becomes unevaluated.  The root's sum
    of values changes from its chooser's view to its own mover's.
    """
    for i in range(games.shape[0]):
        game = games[i]
        child = tree.first_child[game, ROOT]
        while child != NONE and tree.action[game, child] != actions[i]:
            child = tree.next_sibling[game, child]
        if child == NONE:
            clear(tree, game)
            continue
        if tree.mover[game, child] != tree.mover[game, ROOT]:
            tree.value_sum[game, child] = -tree.value_sum[game, child]
        compact(tree, game, child, moved_to)


@part
def compact(tree, game, root, moved_to):
    """Moves `root` and all nodes below it to the front, in the order they have."""
    used = 0
    for node in range(root, tree.used[game]):
        parent = tree.parent[game, node]
        moved_to[node] = NONE
        if node == root or (parent >= root and moved_to[parent] != NONE):
            moved_to[node] = used
            used += 1
    tree.parent[game, root] = NONE
    tree.next_sibling[game, root] = NONE
    for node in range(root, tree.used[game]):
        to = moved_to[node]
        if to == NONE:
            continue
        parent = tree.parent[game, node]
        first = tree.first_child[game, node]
        after = tree.next_sibling[game, node]
        tree.parent[game, to] = moved_to[parent] if parent != NONE else NONE
        tree.first_child[game, to] = moved_to[first] if first != NONE else NONE
        tree.next_sibling[game, to] = moved_to[after] if after != NONE else NONE
        tree.action[game, to] = tree.action[game, node]
        tree.next_action[game, to] = tree.next_action[game, node]
        tree.state[game, to] = tree.state[game, node]
        tree.mover[game, to] = tree.mover[game, node]
        tree.visits[game, to] = tree.visits[game, node]
        tree.virtual[game, to] = tree.virtual[game, node]
        tree.prior[game, to] = tree.prior[game, node]
        tree.value[game, to] = tree.value[game, node]
        tree.value_sum[game, to] = tree.value_sum[game, node]
        for action in range(tree.waiting.shape[2]):
            tree.waiting[game, to, action] = tree.waiting[game, node, action]
    tree.used[game] = used
