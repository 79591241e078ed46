"""Gumbel search's choices and its improved policy.

Danihelka et al. 2022, "Policy improvement by planning with Gumbel".  `rule` is a `GumbelParameters`
(alphago/mcts/gumbel.py), `tree` a `Tree` (alphago/mcts/tree.py). All values are from the view of the node's mover.
"""

import math

import numpy as np

from alphago.mcts.kernels.nodes import NONE, ROOT, WAIT, add_child, mean_value
from alphago.mcts.kernels.waves import select_by
from alphago.system.kernels.jit import inlined, kernel

ALMOST_ONE = 1 - 2.0**-53  # the greatest float64 below 1: its logarithm is not 0 yet


@inlined
def improved_weight(tree, game, child, scale, greatest, unvisited_factor):
    """Return prior(a) exp(scale (q(a) - greatest)): the improved policy of a child, not normalised.

    Args:
        scale: of the values q, see `improved_factors`.
        greatest: the greatest q of the node; subtracting it keeps exponents at most 0, so that exp does not overflow.
        unvisited_factor: the value of the factor exp(…) for a child without visits.
    """
    prior = float(tree.prior[game, child])
    if tree.visits[game, child] > 0:
        return prior * math.exp(scale * (mean_value(tree, game, child) - greatest))
    return prior * unvisited_factor


@inlined
def improved_factors(tree, game, node, rule):
    """Return `scale`, `greatest` and `unvisited_factor` for `improved_weight` at a node, and the sum of the weights.

    The improved policy pi' = softmax(logits + sigma(completed q)) of an action is its weight divided by this sum, which
    includes the actions without a child.  `greatest` is the greatest q, which is subtracted from every q before exp.

    Sigma(q) is scale q, with scale = (c_visit + max N) c_scale / 2 (equation 8; the paper does not divide by 2, since
    its values are 0 .. 1, while ours are -1 .. 1).  The simulations of the current wave do not count in max N.

    The q of an action without visits is (v + N m) / (1 + N).  Here v is the node's own value, N the number of visits to
    its children, and m the mean of the visited children's values, weighted by their priors (appendix D).
    """
    visits = 0  # of all children
    most = 0  # the most visits of a child
    visited_prior = 0.0  # the sum of the visited children's priors
    weighted_value = 0.0  # the sum of the visited children's mean values times their priors
    child = tree.first_child[game, node]
    while child != NONE:
        if tree.visits[game, child] > 0:
            visits += tree.visits[game, child]
            most = max(most, tree.visits[game, child])
            visited_prior += tree.prior[game, child]
            weighted_value += tree.prior[game, child] * mean_value(tree, game, child)
        child = tree.next_sibling[game, child]
    unvisited_q = float(tree.value[game, node])
    if visits > 0:
        unvisited_q = (tree.value[game, node] + visits * weighted_value / visited_prior) / (1 + visits)
    scale = (rule.c_visit + most) * rule.c_scale / 2
    greatest = unvisited_q
    child = tree.first_child[game, node]
    while child != NONE:
        if tree.visits[game, child] > 0:
            greatest = max(greatest, mean_value(tree, game, child))
        child = tree.next_sibling[game, child]
    unvisited_factor = math.exp(scale * (unvisited_q - greatest))
    children_prior = 0.0  # the sum of all children's priors, also of those without visits
    total = 0.0  # the sum of the children's weights
    child = tree.first_child[game, node]
    while child != NONE:
        children_prior += tree.prior[game, child]
        total += improved_weight(tree, game, child, scale, greatest, unvisited_factor)
        child = tree.next_sibling[game, child]
    childless_prior = max(1.0 - children_prior, 0.0)  # of actions without a child; rounding may leave less than 0
    return scale, greatest, unvisited_factor, total + childless_prior * unvisited_factor


@inlined
def root_score(tree, game, child, noise, scale):
    """Return g(a) + logit(a) + sigma(q(a)) of a root's child, or g(a) + logit(a) if it has no visits.

    Args:
        noise: float32 [B, A], g.
        scale: of sigma, see `improved_factors`.
    """
    score = noise[game, tree.action[game, child]] + math.log(tree.prior[game, child])
    if tree.visits[game, child] > 0:
        score += scale * mean_value(tree, game, child)
    return score


@kernel
def due_candidates(candidates, readouts, simulation):
    """Return how many visits the candidates that are due next have so far, and how many visits their round has left.

    In sequential halving the due candidates are those of the present phase that the round has not visited yet.  The
    caller finds them by their number of visits.  In a phase's first round the candidates that have just dropped out
    have the same number of visits as the candidates that stay.  So the caller takes, of all candidates with this
    number, those with the greatest scores.

    All phases have about equal numbers of simulations.  The first phase visits all candidates equally often, the next
    phase the better half of them, and so on down to two (Danihelka et al. 2022, section 3; Karnin et al. 2013).  A
    phase consists of rounds, which visit each of its candidates once.

    Args:
        candidates: their number.
        readouts: the simulations of the search.
        simulation: the number of simulations before this one.

    Returns:
        The number of visits that each due candidate has so far; and how many simulations of the round are left, this
        one included.
    """
    phases = 1  # in the end the logarithm of `candidates` to base 2, rounded up; 1 for one candidate
    while 1 << phases < candidates:
        phases += 1
    remaining = candidates  # candidates of the present phase
    visits = 0  # of each of them
    begin = 0  # the phase's first simulation
    rounds = max(1, readouts // (phases * remaining))  # visits of each candidate in this phase
    while simulation - begin >= rounds * remaining:
        begin += rounds * remaining
        visits += rounds
        remaining = max(min(2, candidates), remaining // 2)  # the better half goes on, but two candidates at least
        rounds = max(1, readouts // (phases * remaining))
    done = simulation - begin  # simulations of this phase, in rounds of `remaining`
    return visits + done // remaining, min(remaining - done % remaining, readouts - simulation)


@inlined
def choose_candidate(tree, game, rule):
    """Return the root's child to simulate next, by sequential halving (Danihelka et al. 2022, figure 1).

    Of the candidates that are due (see `due_candidates`) the one with the greatest root score is chosen.  If none is
    due, as in a tree kept from an earlier search, a least visited candidate is chosen.

    Returns WAIT if the value of a due candidate is still being computed (the candidate is pending), in two cases:
    1. The schedule visits only some of the candidates that count as due, since the worse half drops out at the start of
       a phase; or its `planned` simulations are done. A candidate that is left out gets no further visits, so the
       choice needs all values.
    2. The rule searches by rounds, which choose no pending candidate, and all due candidates are pending.
    """
    candidates = 0
    simulations = 0  # those done so far
    least = 1 << 30  # the least number of visits of a candidate
    most = 0  # the greatest
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child] + tree.virtual[game, child]
        candidates += 1
        simulations += visits
        least = min(least, visits)
        most = max(most, visits)
        child = tree.next_sibling[game, child]
    # A tree kept from an earlier search may have more candidates than the rule considers.  Then, or when the planned
    # simulations are done, the least visited candidates are due, and none of them is scheduled.
    due_visits = least  # a candidate with so many visits counts as due
    # How many of the due candidates the schedule visits; the others are left out.  In a phase's first round all
    # candidates of the phase before are due, and the worse half of them is left out.
    scheduled = 0
    if 0 < candidates <= rule.considered and simulations < rule.planned[game]:
        due_visits, scheduled = due_candidates(candidates, rule.planned[game], simulations)
    scale = (rule.c_visit + most) * rule.c_scale / 2  # as in `improved_factors`, but the wave's simulations count
    best = NONE
    fallback = NONE
    best_score = -math.inf
    due = 0  # number of due candidates
    pending = False  # whether the value of a due candidate is being computed
    child = tree.first_child[game, ROOT]
    while child != NONE:
        visits = tree.visits[game, child] + tree.virtual[game, child]
        if visits == least:
            fallback = child
        if visits == due_visits:
            due += 1
            is_pending = tree.virtual[game, child] > 0
            pending |= is_pending
            score = root_score(tree, game, child, rule.noise, scale)
            if score > best_score and not (is_pending and rule.rounds):
                best_score = score
                best = child
        child = tree.next_sibling[game, child]
    some_left_out = scheduled < due  # case 1
    all_pending = best == NONE  # case 2
    if pending and (some_left_out or all_pending):
        return WAIT
    return best if best != NONE else fallback


@inlined
def choose(tree, game, node, rule):
    """Return the child to follow, NONE for a new child (of the untried action with the greatest prior), or WAIT.

    At the root the child is that of `choose_candidate`, and only there the choice may have to WAIT for values.  Below
    the root the chosen action is the one whose share of visits is furthest below its improved policy: the one with the
    greatest pi'(a) - N(a) / (1 + sum N) (equation 14; pi' see `improved_factors`).  Simulations of the current wave
    that have passed a node count as visits.
    """
    if node == ROOT:
        return choose_candidate(tree, game, rule)
    scale, greatest, unvisited_factor, total = improved_factors(tree, game, node, rule)
    visits = float(tree.visits[game, node] + tree.virtual[game, node])  # 1 + sum N: 1 for the node's own evaluation
    best = NONE
    best_action = tree.next_action[game, node]
    best_score = -math.inf
    if best_action != NONE:  # an untried action: its prior is in `tree.waiting`, and its share of visits is 0
        untried_prior = tree.waiting[game, node, best_action]
        best_score = untried_prior * unvisited_factor / total
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


select = select_by(choose, spreads=False)  # virtual visits of collisions would put the schedule out of step


@kernel
def add_gumbel_noise(chances, games, noise):
    """Write Gumbel noise for each of `games` (int64 [n]).

    The noise is computed as in `numpy.random.Generator.gumbel`.  For many games this takes a fifth of the time of the
    generator's method.

    Args:
        chances: float64 [n, A], uniform random numbers in [0, 1).
        noise: float32 [B, A], of which the rows of `games` are overwritten.
    """
    for i in range(games.shape[0]):
        for action in range(noise.shape[1]):
            noise[games[i], action] = -math.log(-math.log(min(1 - chances[i, action], ALMOST_ONE)))


@kernel
def add_candidates(tree, games, noise, considered, scores):
    """Add children to the roots of `games` (int64 [n]), for the actions whose sum of noise and logit is greatest.

    Args:
        noise: float32 [B, A].
        considered: int32 [n], the number of these actions in each game; fewer are added if there are fewer legal ones.
        scores: float64 [A], scratch memory.
    """
    for i in range(games.shape[0]):
        game = games[i]
        for action in range(noise.shape[1]):
            prior = tree.waiting[game, ROOT, action]  # 0 if the action is illegal, TAKEN < 0 if it has a child already
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
    """Write the improved policies of the roots of `games` (int64 [n]) and the winners of sequential halving.

    Policy and winner are computed together, since both need `scale` of `improved_factors`.

    Args:
        out_policy: float32 [n, A].
        out_action: int32 [n]: the most visited action; of equally visited actions, the one with the greatest root
            score.
    """
    for i in range(games.shape[0]):
        game = games[i]
        scale, greatest, unvisited_factor, total = improved_factors(tree, game, ROOT, rule)
        for action in range(out_policy.shape[1]):
            # `waiting` has the priors of untried actions, and the negative number TAKEN for tried ones, which get their
            # weights below.
            untried_prior = max(tree.waiting[game, ROOT, action], np.float32(0))
            out_policy[i, action] = untried_prior * unvisited_factor / total
        most = 0  # the visits and the root score of the winner so far
        best_score = -math.inf
        child = tree.first_child[game, ROOT]
        while child != NONE:
            weight = improved_weight(tree, game, child, scale, greatest, unvisited_factor)
            out_policy[i, tree.action[game, child]] = weight / total
            visits = tree.visits[game, child]
            score = root_score(tree, game, child, rule.noise, scale)
            if visits > most or (visits == most and score > best_score):
                most = visits
                best_score = score
                out_action[i] = tree.action[game, child]
            child = tree.next_sibling[game, child]
