"""Select, expand, back up, advance: the tree's compiled parts.  The fields are explained in tree.py."""

import math

import numpy as np

from alphago.env.kernels.jit import kernel

ROOT = 0
NONE = -1  # no parent, no child, no sibling, no action

# Values of `state`.
NEW = 0  # not evaluated
PENDING = 1  # chosen by a simulation of the present wave
EXPANDED = 2
TERMINAL = 3  # the game is over here

TAKEN = -1.0  # in `waiting`: the action has a child; 0 marks an illegal action


@kernel
def greatest_waiting(waiting):
    """The untried action with the greatest prior, the lowest of equals; NONE if there is none."""
    best = NONE
    best_prior = np.float32(0)
    for action in range(waiting.shape[0]):
        if waiting[action] > best_prior:
            best_prior = waiting[action]
            best = action
    return best


@kernel
def back_up(tree, game, leaf, value, pending):
    """Counts one simulation that ended in `leaf` with `value` (its mover's view) on every node above it.

    `pending`: 1 if the simulation was announced by virtual visits, which are taken back, else 0.
    """
    mover = tree.mover[game, leaf]
    node = leaf
    while node != NONE:
        parent = tree.parent[game, node]
        chooser = tree.mover[game, parent if parent != NONE else node]
        tree.visits[game, node] += 1
        tree.virtual[game, node] -= pending
        tree.value_sum[game, node] += value if chooser == mover else -value
        node = parent


@kernel
def add_child(tree, game, node):
    """Makes the waiting action with the greatest prior a child; returns the child."""
    action = tree.next_action[game, node]
    child = tree.used[game]
    tree.used[game] = child + 1
    tree.parent[game, child] = node
    tree.first_child[game, child] = NONE
    tree.next_sibling[game, child] = tree.first_child[game, node]
    tree.first_child[game, node] = child
    tree.action[game, child] = action
    tree.state[game, child] = NEW
    tree.visits[game, child] = 0
    tree.virtual[game, child] = 0
    tree.value_sum[game, child] = 0
    tree.prior[game, child] = tree.waiting[game, node, action]
    tree.waiting[game, node, action] = TAKEN
    tree.next_action[game, node] = greatest_waiting(tree.waiting[game, node])
    return child


@kernel
def choose_puct(tree, game, node, c_puct, parent_value_weight, virtual_loss):
    """The child to follow, or NONE if the best action has no child yet.

    Q(a) + c_puct P(a) sqrt(N) / (1 + N(a)) (Silver et al. 2017, Methods "Select"), N counting the
    node's own evaluation too.  Q(a) is the mean of the values backed up and of `parent_value_weight`
    times the node's own value (1: AlphaGo.jl, 0: AlphaGo Zero, whose untried actions have Q = 0).  A
    simulation on its way counts as `virtual_loss` losses.  The lowest of equal actions wins.
    """
    explore = c_puct * math.sqrt(tree.visits[game, node] + virtual_loss * tree.virtual[game, node])
    seed = parent_value_weight * tree.value[game, node]
    best = NONE
    best_action = tree.next_action[game, node]
    best_score = -math.inf
    if best_action != NONE:
        mean = seed / parent_value_weight if parent_value_weight > 0 else 0.0
        best_score = mean + explore * tree.waiting[game, node, best_action]
    child = tree.first_child[game, node]
    while child != NONE:
        lost = virtual_loss * tree.virtual[game, child]
        visits = tree.visits[game, child] + lost
        weight = visits + parent_value_weight
        mean = (tree.value_sum[game, child] - lost + seed) / weight if weight > 0 else 0.0
        score = mean + explore * tree.prior[game, child] / (1.0 + visits)
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best_score = score
            best_action = action
            best = child
        child = tree.next_sibling[game, child]
    return best


@kernel
def add_virtual(tree, game, leaf, count):
    """Announces (1) or takes back (-1) a simulation on the way from the root to `leaf`."""
    node = leaf
    while node != NONE:
        tree.virtual[game, node] += count
        node = tree.parent[game, node]


@kernel
def select(tree, budget, leaves, c_puct, parent_value_weight, virtual_loss, out_game, out_leaf, out_path,
           out_length, collisions, counts):  # fmt: skip
    """Chooses up to `leaves` new leaves in every game that has budget left.

    Row i of the outputs is one leaf: its game, its node, and the actions that lead to it from the
    root.  Simulations that end in a finished game are backed up at once and take budget; those that
    meet a leaf of the same wave are noted in `collisions` [2 * leaves * B, 2] (game, node) and cost
    nothing; after 2 * leaves attempts without enough leaves the game waits for the next wave.
    `counts` receives the number of leaves and of collisions.
    """
    rows = 0
    collided = 0
    for game in range(budget.shape[0]):
        found = 0
        attempts = 0
        while found < leaves and attempts < 2 * leaves and budget[game] > 0:
            node = ROOT
            depth = 0
            while tree.state[game, node] == EXPANDED:
                child = choose_puct(tree, game, node, c_puct, parent_value_weight, virtual_loss)
                if child == NONE:
                    child = add_child(tree, game, node)
                out_path[rows, depth] = tree.action[game, child]
                depth += 1
                node = child
            if tree.state[game, node] == TERMINAL:
                back_up(tree, game, node, tree.value[game, node], 0)
                budget[game] -= 1
                continue
            attempts += 1
            add_virtual(tree, game, node, 1)
            if tree.state[game, node] == PENDING:
                collisions[collided, 0] = game
                collisions[collided, 1] = node
                collided += 1
                continue
            tree.state[game, node] = PENDING
            out_game[rows] = game
            out_leaf[rows] = node
            out_length[rows] = depth
            rows += 1
            found += 1
            budget[game] -= 1
    counts[0] = rows
    counts[1] = collided


@kernel
def expand(tree, count, games, leaves, movers, over, values, priors, collisions, collided):
    """Enters the evaluations of `count` leaves and backs them up.

    `values` [count] are the movers'; `priors` [evaluated, A] has a row for each leaf that is not
    `over`, in order.  Returns the number of leaves without any positive prior (a broken evaluator).
    """
    broken = 0
    row = 0
    for i in range(count):
        game = games[i]
        leaf = leaves[i]
        tree.mover[game, leaf] = movers[i]
        tree.value[game, leaf] = values[i]
        if over[i]:
            tree.state[game, leaf] = TERMINAL
        else:
            tree.state[game, leaf] = EXPANDED
            for action in range(priors.shape[1]):
                tree.waiting[game, leaf, action] = priors[row, action]
            tree.next_action[game, leaf] = greatest_waiting(tree.waiting[game, leaf])
            broken += tree.next_action[game, leaf] == NONE
            row += 1
        back_up(tree, game, leaf, values[i], 1)
    for i in range(collided):
        add_virtual(tree, collisions[i, 0], collisions[i, 1], -1)
    return broken


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


@kernel
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


@kernel
def hash_evaluation(hashes, mask, priors, values):
    """Priors and values drawn from position hashes: a stand-in for a network that is the same everywhere."""
    for i in range(hashes.shape[0]):
        total = np.float32(0)
        for action in range(mask.shape[1]):
            prior = np.float32(0)
            if mask[i, action]:
                prior = np.float32(1 + (scramble(hashes[i] + action) & 0xFFF))
            priors[i, action] = prior
            total += prior
        for action in range(mask.shape[1]):
            priors[i, action] /= total
        values[i] = np.float32((scramble(hashes[i] - 1) & 0xFFFF) - 0x8000) / np.float32(0x8000)


@kernel
def scramble(x):
    """Mixes the bits of an int64 (Steele et al., "SplitMix", 2014)."""
    x = (x ^ (x >> 30)) * -4658895280553007687
    x = (x ^ (x >> 27)) * -7723592293110705685
    return x ^ (x >> 31)
