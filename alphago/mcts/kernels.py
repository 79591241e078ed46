"""Select, expand, back up, advance: the tree's compiled parts.  The fields are explained in tree.py."""

import math

import numpy as np

from alphago.env.kernels.hashing import mix
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
def add_child(tree, game, node, action):
    """Makes a waiting action a child; returns the child."""
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
def choose_puct(tree, game, node, rule):
    """The child to follow, or NONE if the best action has no child yet.

    Q(a) + c_puct P(a) sqrt(N) / (1 + N(a)) (Silver et al. 2017, Methods "Select"), N counting the
    node's own evaluation too.  Q(a) is the mean of the values backed up and of `parent_value_weight`
    times the node's own value (1: AlphaGo.jl, 0: AlphaGo Zero, whose untried actions have Q = 0); untried
    actions lose `first_play_reduction` times the square root of the tried ones' priors.  A simulation on its
    way counts as `virtual_loss` losses.  The lowest of equal actions wins.
    """
    explore = rule.c_puct * math.sqrt(tree.visits[game, node] + rule.virtual_loss * tree.virtual[game, node])
    seed = rule.parent_value_weight * tree.value[game, node]
    tried = 0.0
    best = NONE
    best_action = tree.waiting.shape[2]
    best_score = -math.inf
    child = tree.first_child[game, node]
    while child != NONE:
        tried += tree.prior[game, child]
        lost = rule.virtual_loss * tree.virtual[game, child]
        visits = tree.visits[game, child] + lost
        weight = visits + rule.parent_value_weight
        mean = (tree.value_sum[game, child] - lost + seed) / weight if weight > 0 else 0.0
        score = mean + explore * tree.prior[game, child] / (1.0 + visits)
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best_score = score
            best_action = action
            best = child
        child = tree.next_sibling[game, child]
    action = tree.next_action[game, node]
    if action != NONE:
        mean = seed / rule.parent_value_weight if rule.parent_value_weight > 0 else 0.0
        mean -= rule.first_play_reduction * math.sqrt(tried)
        score = mean + explore * tree.waiting[game, node, action]
        if score > best_score or (score == best_score and action < best_action):
            best = NONE
    return best


@kernel
def mean_value(tree, game, node):
    """The mean of the values backed up to a visited node, its chooser's view."""
    return tree.value_sum[game, node] / tree.visits[game, node]


@kernel
def mixed_value(tree, game, node):
    """What an unvisited action of `node` is worth: the node's own value, mixed with its visited actions'.

    (v + N q) / (1 + N), where q is the visited actions' value weighted by their priors (Danihelka et al.
    2022, "Policy improvement by planning with Gumbel", appendix D).  Mover's view.
    """
    visits = 0
    priors = 0.0
    values = 0.0
    child = tree.first_child[game, node]
    while child != NONE:
        if tree.visits[game, child] > 0:
            visits += tree.visits[game, child]
            priors += tree.prior[game, child]
            values += tree.prior[game, child] * mean_value(tree, game, child)
        child = tree.next_sibling[game, child]
    if visits == 0:
        return float(tree.value[game, node])
    return (tree.value[game, node] + visits * values / priors) / (1 + visits)


@kernel
def value_scale(tree, game, node, c_visit, c_scale):
    """What values are multiplied with to be added to logits: (c_visit + max N) c_scale / 2 (sigma, equation 8).

    The half is there because the paper's values are 0 .. 1.
    """
    most = 0
    child = tree.first_child[game, node]
    while child != NONE:
        most = max(most, tree.visits[game, child])
        child = tree.next_sibling[game, child]
    return (c_visit + most) * c_scale / 2


@kernel
def improvement(tree, game, node, scale, unvisited):
    """The sum of prior(a) exp(scale (q(a) - unvisited)) over all actions: what improved policies are divided by."""
    tried = 0.0
    total = 0.0
    child = tree.first_child[game, node]
    while child != NONE:
        prior = tree.prior[game, child]
        tried += prior
        if tree.visits[game, child] > 0:
            prior *= math.exp(scale * (mean_value(tree, game, child) - unvisited))
        total += prior
        child = tree.next_sibling[game, child]
    return total + max(1.0 - tried, 0.0)


@kernel
def choose_improved(tree, game, node, c_visit, c_scale):
    """The child to follow below the root, or NONE if the best action has no child yet.

    The action whose share of visits lags furthest behind the improved policy: the greatest
    pi'(a) - N(a) / (1 + sum N), pi' = softmax(logits + sigma(completed q)) (Danihelka et al. 2022,
    equation 14).  Simulations on their way count as visits.
    """
    unvisited = mixed_value(tree, game, node)
    scale = value_scale(tree, game, node, c_visit, c_scale)
    total = improvement(tree, game, node, scale, unvisited)
    visits = float(tree.visits[game, node] + tree.virtual[game, node])  # the node's own evaluation is the 1
    best = NONE
    best_action = tree.next_action[game, node]
    best_score = -math.inf
    if best_action != NONE:
        best_score = tree.waiting[game, node, best_action] / total
    child = tree.first_child[game, node]
    while child != NONE:
        weight = tree.prior[game, child] / total
        if tree.visits[game, child] > 0:
            weight *= math.exp(scale * (mean_value(tree, game, child) - unvisited))
        score = weight - (tree.visits[game, child] + tree.virtual[game, child]) / visits
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best_score = score
            best_action = action
            best = child
        child = tree.next_sibling[game, child]
    return best


@kernel
def root_score(tree, game, child, gumbel, scale):
    """g(a) + logit(a) + sigma(q(a)) of a root action; without the value if it was not visited."""
    score = gumbel[game, tree.action[game, child]] + math.log(tree.prior[game, child])
    if tree.visits[game, child] > 0:
        score += scale * mean_value(tree, game, child)
    return score


@kernel
def choose_candidate(tree, game, schedule, gumbel, c_visit, c_scale):
    """The root's child to follow: sequential halving (Danihelka et al. 2022, figure 1).

    `schedule`: see halving_schedules; among the candidates with as many visits as it says, the one with
    the greatest root score is taken.  Where it says nothing (a tree kept from an earlier search has more
    candidates or visits) the least visited is next.
    """
    candidates = 0
    done = 0
    least = 1 << 30
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child] + tree.virtual[game, child]
        candidates += 1
        done += visits
        least = min(least, visits)
        child = tree.next_sibling[game, child]
    planned = candidates < schedule.shape[0] and done < schedule.shape[1]
    wanted = schedule[candidates, done] if planned else least
    scale = value_scale(tree, game, ROOT, c_visit, c_scale)
    best = NONE
    fallback = NONE
    best_score = -math.inf
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child] + tree.virtual[game, child]
        if visits == least:
            fallback = child
        if visits == wanted:
            score = root_score(tree, game, child, gumbel, scale)
            if score > best_score:
                best_score = score
                best = child
        child = tree.next_sibling[game, child]
    return best if best != NONE else fallback


@kernel
def add_candidates(tree, games, gumbel, considered):
    """Makes the `considered[i]` actions with the greatest gumbel + logit children of each evaluated root."""
    for i in range(games.shape[0]):
        game = games[i]
        for _ in range(considered[i]):
            best = NONE
            best_score = -math.inf
            for action in range(gumbel.shape[1]):
                prior = tree.waiting[game, ROOT, action]
                if prior > 0 and gumbel[game, action] + math.log(prior) > best_score:
                    best_score = gumbel[game, action] + math.log(prior)
                    best = action
            if best != NONE:
                add_child(tree, game, ROOT, best)


@kernel
def improved_policy(tree, games, gumbel, c_visit, c_scale, out_policy, out_action):
    """The root's improved policy, float32 [n, A], and the action that sequential halving ends with, int32 [n]."""
    for i in range(games.shape[0]):
        game = games[i]
        unvisited = mixed_value(tree, game, ROOT)
        scale = value_scale(tree, game, ROOT, c_visit, c_scale)
        total = improvement(tree, game, ROOT, scale, unvisited)
        for action in range(out_policy.shape[1]):
            out_policy[i, action] = max(tree.waiting[game, ROOT, action], np.float32(0)) / total
        most = 0
        best_score = -math.inf
        child = tree.first_child[game, ROOT]
        while child != NONE:
            weight = tree.prior[game, child] / total
            visits = tree.visits[game, child]
            if visits > 0:
                weight *= math.exp(scale * (mean_value(tree, game, child) - unvisited))
            out_policy[i, tree.action[game, child]] = weight
            score = root_score(tree, game, child, gumbel, scale)
            if visits > most or (visits == most and score > best_score):
                most = visits
                best_score = score
                out_action[i] = tree.action[game, child]
            child = tree.next_sibling[game, child]


@kernel
def add_virtual(tree, game, leaf, count):
    """Announces (1) or takes back (-1) a simulation on the way from the root to `leaf`."""
    node = leaf
    while node != NONE:
        tree.virtual[game, node] += count
        node = tree.parent[game, node]


@kernel
def select(tree, budget, rule, leaves, gumbel, schedules, schedule_of, out_game, out_leaf, out_path, out_length,
           collisions, counts):  # fmt: skip
    """Chooses up to `leaves` new leaves in every game that has budget left.

    `rule`: a Rule (see tree.py).  `gumbel` float32 [B, A], `schedules` [S, k, n] and `schedule_of` int32 [B] are
    read where the rule is Gumbel's: see choose_candidate.

    Row i of the outputs is one leaf: its game, its node, and the actions that lead to it from the
    root.  Simulations that end in a finished game are backed up at once and take budget; those that
    meet a leaf of the same wave are noted in `collisions` [2 * leaves * B, 2] (game, node) and cost
    nothing; after 2 * leaves attempts without enough leaves the game waits for the next wave.
    `counts` receives the number of leaves and of collisions.
    """
    # Thirteen arguments: two structures instead of nine arrays cost 2 us a call, an eighth of a wave in one game.
    rows = 0
    collided = 0
    for game in range(budget.shape[0]):
        found = 0
        attempts = 0
        while found < leaves and attempts < 2 * leaves and budget[game] > 0:
            node = ROOT
            depth = 0
            while tree.state[game, node] == EXPANDED:
                if not rule.use_gumbel:
                    child = choose_puct(tree, game, node, rule)
                elif node == ROOT:
                    child = choose_candidate(
                        tree, game, schedules[schedule_of[game]], gumbel, rule.c_visit, rule.c_scale
                    )
                else:
                    child = choose_improved(tree, game, node, rule.c_visit, rule.c_scale)
                if child == NONE:
                    child = add_child(tree, game, node, tree.next_action[game, node])
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

    `values` [count] are the movers'; `priors` [rows, A] has a row for each leaf or, where it has fewer, for each that
    is not `over`, in order.  Returns the number of leaves without any positive prior (a broken evaluator).
    """
    broken = 0
    row = 0
    for_all = priors.shape[0] == count
    for i in range(count):
        game = games[i]
        leaf = leaves[i]
        tree.mover[game, leaf] = movers[i]
        tree.value[game, leaf] = values[i]
        if over[i]:
            tree.state[game, leaf] = TERMINAL
            row += for_all
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
def root_priors(tree, games, out):
    """Priors of the root's actions into `out`, float32 [n, A]."""
    for i in range(games.shape[0]):
        for action in range(out.shape[1]):
            out[i, action] = max(tree.waiting[games[i], ROOT, action], np.float32(0))
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            out[i, tree.action[games[i], child]] = tree.prior[games[i], child]
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
                prior = np.float32(1 + (mix(hashes[i] + action) & 0xFFF))
            priors[i, action] = prior
            total += prior
        for action in range(mask.shape[1]):
            priors[i, action] /= total
        values[i] = np.float32((mix(hashes[i] - 1) & 0xFFFF) - 0x8000) / np.float32(0x8000)
