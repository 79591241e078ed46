"""Gumbel search's choices and its improved policy.

Danihelka et al. 2022, "Policy improvement by planning with Gumbel".  `rule` is a `GumbelParameters`
(alphago/mcts/gumbel.py), `tree` a `Tree` (alphago/mcts/tree.py). All values are from the view of the node's mover.
"""

import math

import numpy as np

from alphago.mcts.kernels.nodes import NONE, ROOT, WAIT, add_child, mean_value
from alphago.mcts.kernels.waves import select_by
from alphago.system.kernels.jit import inlined, kernel

ALMOST_ONE = 1 - 2.0**-53


@inlined
def mixed_value(tree, game, node):
    """Return the value that unvisited actions of a node get, from the view of the node's mover.

    It is (v + N q) / (1 + N), where v is the node's own value, N the number of visits to its children, and q the mean
    of the visited children's values weighted by their priors (appendix D).
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


@inlined
def value_scale(tree, game, node, rule, pending):
    """Return sigma, the factor of values that are added to logits: (c_visit + max N) c_scale / 2 (equation 8).

    The paper does not halve it, since its values are 0 .. 1 and ours -1 .. 1.

    pending: 1 if simulations of the current wave count as visits, else 0.
    """
    most = 0
    child = tree.first_child[game, node]
    while child != NONE:
        most = max(most, tree.visits[game, child] + pending * tree.virtual[game, child])
        child = tree.next_sibling[game, child]
    return (rule.c_visit + most) * rule.c_scale / 2


@inlined
def greatest_value(tree, game, node, unvisited):
    """Return the greatest value of a node's actions; unvisited actions count as `unvisited`."""
    greatest = unvisited
    child = tree.first_child[game, node]
    while child != NONE:
        if tree.visits[game, child] > 0:
            greatest = max(greatest, mean_value(tree, game, child))
        child = tree.next_sibling[game, child]
    return greatest


@inlined
def improved_weight(tree, game, child, scale, greatest, unvisited_factor):
    """Return prior(a) exp(scale (q(a) - greatest)): the improved policy of a child, not normalised.

    greatest: the greatest q of the node; subtracting it keeps exponents at most 0, so that exp does not overflow.
    unvisited_factor: the value of exp(…) for a child without visits.
    """
    prior = float(tree.prior[game, child])
    if tree.visits[game, child] > 0:
        return prior * math.exp(scale * (mean_value(tree, game, child) - greatest))
    return prior * unvisited_factor


@inlined
def total_weight(tree, game, node, scale, greatest, unvisited_factor):
    """Return the sum of `improved_weight` over all actions of a node, including those without a child."""
    tried = 0.0
    total = 0.0
    child = tree.first_child[game, node]
    while child != NONE:
        tried += tree.prior[game, child]
        total += improved_weight(tree, game, child, scale, greatest, unvisited_factor)
        child = tree.next_sibling[game, child]
    return total + max(1.0 - tried, 0.0) * unvisited_factor


@inlined
def root_score(tree, game, child, noise, scale):
    """Return g(a) + logit(a) + sigma(q(a)) of a root's child, where g is the noise; without visits g(a) + logit(a)."""
    score = noise[game, tree.action[game, child]] + math.log(tree.prior[game, child])
    if tree.visits[game, child] > 0:
        score += scale * mean_value(tree, game, child)
    return score


@inlined
def choose_candidate(tree, game, rule):
    """Return the root's child to simulate next, by sequential halving (Danihelka et al. 2022, figure 1).

    The schedule gives a number of visits; of the candidates with this number of visits, the one with the greatest root
    score is chosen. If no candidate has this number, as in a tree kept from an earlier search, a least visited
    candidate is chosen.

    Returns WAIT if some of these candidates must be left out, and the value of one is still being computed: a candidate
    that is left out gets no further visits.  If the rule searches by rounds, a candidate whose value is still being
    computed has to wait, too; its next simulation depends on it.
    """
    schedule = rule.schedules[rule.schedule_of[game]]
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
    due_visits = schedule[candidates, done] if planned else least
    scale = value_scale(tree, game, ROOT, rule, 1)
    best = NONE
    fallback = NONE
    best_score = -math.inf
    due = 0  # candidates with this number of visits
    pending = False  # whether the value of one of them is being computed
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child] + tree.virtual[game, child]
        if visits == least:
            fallback = child
        if visits == due_visits:
            due += 1
            waits = tree.virtual[game, child] > 0
            pending |= waits
            score = root_score(tree, game, child, rule.noise, scale)
            if score > best_score and not (waits and rule.rounds):
                best_score = score
                best = child
        child = tree.next_sibling[game, child]
    if pending:
        chosen = 0  # how many of them the schedule visits; the others are left out
        while planned and done < schedule.shape[1] and schedule[candidates, done] == due_visits:
            chosen += 1
            done += 1
        if chosen < due or best == NONE:
            return WAIT
    return best if best != NONE else fallback


@inlined
def choose(tree, game, node, rule):
    """Return the child to follow, NONE for the untried action with the greatest prior, or WAIT.

    At the root see `choose_candidate`. Below, the action is taken whose share of visits is furthest below the improved
    policy: the greatest pi'(a) - N(a) / (1 + sum N), pi' = softmax(logits + sigma(completed q)) (equation 14).
    Simulations of the current wave that have passed a node count as visits.
    """
    if node == ROOT:
        return choose_candidate(tree, game, rule)
    unvisited = mixed_value(tree, game, node)
    scale = value_scale(tree, game, node, rule, 0)
    greatest = greatest_value(tree, game, node, unvisited)
    unvisited_factor = math.exp(scale * (unvisited - greatest))
    total = total_weight(tree, game, node, scale, greatest, unvisited_factor)
    visits = float(tree.visits[game, node] + tree.virtual[game, node])  # the node's own evaluation is the 1
    best = NONE
    best_action = tree.next_action[game, node]
    best_score = -math.inf
    if best_action != NONE:  # an untried action: its share of visits is 0
        best_score = tree.waiting[game, node, best_action] * unvisited_factor / total
    child = tree.first_child[game, node]
    while child != NONE:
        weight = improved_weight(tree, game, child, scale, greatest, unvisited_factor) / total
        score = weight - (tree.visits[game, child] + tree.virtual[game, child]) / visits
        action = tree.action[game, child]
        if score > best_score or (score == best_score and action < best_action):
            best_score = score
            best_action = action
            best = child
        child = tree.next_sibling[game, child]
    return best


select = select_by(choose, spreads=False)  # they would put the schedule out of step


@kernel
def add_gumbel_noise(chances, games, noise):
    """Write Gumbel noise to row `games[i]` of `noise`, from uniform random numbers in 0 .. 1, float64 [n, A].

    It is what `numpy.random.Generator.gumbel` makes of the same random numbers, in a fifth of its time for many games.
    """
    for i in range(games.shape[0]):
        for action in range(noise.shape[1]):
            noise[games[i], action] = -math.log(-math.log(min(1 - chances[i, action], ALMOST_ONE)))


@kernel
def add_candidates(tree, games, noise, considered, scores):
    """Make the `considered[i]` actions with the greatest noise + logit children of the root of game `games[i]`.

    scores: float64 [A], overwritten.
    """
    for i in range(games.shape[0]):
        game = games[i]
        for action in range(noise.shape[1]):
            prior = tree.waiting[game, ROOT, action]
            scores[action] = noise[game, action] + math.log(prior) if prior > 0 else -math.inf
        for _ in range(considered[i]):
            best = NONE
            best_score = -math.inf
            for action in range(noise.shape[1]):
                if scores[action] > best_score:
                    best_score = scores[action]
                    best = action
            if best != NONE:
                add_child(tree, game, ROOT, best)
                scores[best] = -math.inf


@kernel
def improved_policy(tree, games, rule, out_policy, out_action):
    """Write the roots' improved policies and the winners of sequential halving.

    out_policy: float32 [n, A].
    out_action: int32 [n]: the most visited action; of equally visited actions, the one with the greatest root score.
    """
    for i in range(games.shape[0]):
        game = games[i]
        unvisited = mixed_value(tree, game, ROOT)
        scale = value_scale(tree, game, ROOT, rule, 0)
        greatest = greatest_value(tree, game, ROOT, unvisited)
        unvisited_factor = math.exp(scale * (unvisited - greatest))
        total = total_weight(tree, game, ROOT, scale, greatest, unvisited_factor)
        for action in range(out_policy.shape[1]):
            out_policy[i, action] = max(tree.waiting[game, ROOT, action], np.float32(0)) * unvisited_factor / total
        most = 0
        best_score = -math.inf
        child = tree.first_child[game, ROOT]
        while child != NONE:
            visits = tree.visits[game, child]
            out_policy[i, tree.action[game, child]] = (
                improved_weight(tree, game, child, scale, greatest, unvisited_factor) / total
            )
            score = root_score(tree, game, child, rule.noise, scale)
            if visits > most or (visits == most and score > best_score):
                most = visits
                best_score = score
                out_action[i] = tree.action[game, child]
            child = tree.next_sibling[game, child]
