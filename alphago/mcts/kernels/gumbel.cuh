// Gumbel search's choices and its improved policy: gumbel.py.

#pragma once
#include "tree.cuh"

// The improved policy of a node's actions: prior exp(scale (q - greatest)) / total. An unvisited action's q is
// `unvisited`, for which the factor exp(...) is `unvisited_factor`.
struct Improved {
    double scale, greatest, unvisited_factor, total;

    BOTH Improved(const Tree& tree, int node, double c_visit, double c_scale) {
        int all = 0, most = 0;
        double priors = 0, values = 0, tried_prior = 0;
        EACH_CHILD(tree, node, child) {
            int visits = tree.visits[child];
            if (visits > most) most = visits;
            if (visits == 0) continue;
            all += visits;
            priors += tree.prior[child];
            values += tree.prior[child] * mean_value(tree, child);
        }
        double unvisited = tree.value[node];
        if (all > 0) unvisited = (tree.value[node] + all * values / priors) / (1 + all);
        scale = (c_visit + most) * c_scale / 2;
        greatest = unvisited;
        EACH_CHILD(tree, node, child) {
            if (tree.visits[child] > 0 && mean_value(tree, child) > greatest) greatest = mean_value(tree, child);
        }
        unvisited_factor = exp(scale * (unvisited - greatest));
        total = 0;
        EACH_CHILD(tree, node, child) {
            tried_prior += tree.prior[child];
            total += weight(tree, child);
        }
        double untried_prior = 1.0 - tried_prior;  // rounding may leave less than 0
        total += (untried_prior > 0 ? untried_prior : 0.0) * unvisited_factor;
    }

    // Of a child, not divided by the total.
    BOTH double weight(const Tree& tree, int child) const {
        double prior = tree.prior[child];
        if (tree.visits[child] == 0) return prior * unvisited_factor;
        return prior * exp(scale * (mean_value(tree, child) - greatest));
    }
};

// Returns the number of visits of the candidates that are due, and writes to `scheduled` how many simulations of their
// round are left: see gumbel.py. simulation: the number of simulations before this one.
BOTH int due_candidates(int candidates, int readouts, int simulation, int* scheduled) {
    int phases = 1, remaining = candidates, visits = 0, begin = 0, rounds;
    while (1 << phases < candidates) phases++;
    for (;;) {
        rounds = readouts / (phases * remaining);
        if (rounds == 0) rounds = 1;
        if (simulation - begin < rounds * remaining) break;
        begin += rounds * remaining;
        visits += rounds;
        remaining = remaining > 3 ? remaining / 2 : candidates > 1 ? 2 : 1;  // half of them, but two at least
    }
    int done = simulation - begin, left = remaining - done % remaining;
    *scheduled = left < readouts - simulation ? left : readouts - simulation;
    return visits + done / remaining;
}

struct Gumbel {
    static constexpr bool spreads = false;  // virtual visits of collisions would put the schedule out of step
    double c_visit, c_scale;
    bool rounds;
    Long considered;
    int planned;         // the simulations of the whole search
    const float* noise;  // [actions]

    BOTH double root_score(const Tree& tree, int child, double scale) const {
        double score = noise[tree.action[child]] + logf(tree.prior[child]);
        return tree.visits[child] > 0 ? score + scale * mean_value(tree, child) : score;
    }

    // The root's child to simulate next, by sequential halving; WAIT if the choice needs values that are not known yet.
    BOTH int choose_candidate(const Tree& tree) const {
        int count = 0, done = 0, least = 1 << 30, most = 0;
        EACH_CHILD(tree, ROOT, child) {
            int visits = tree.visits[child] + tree.virtual_visits[child];
            count++;
            done += visits;
            if (visits < least) least = visits;
            if (visits > most) most = visits;
        }
        int due_visits = least, scheduled = 0;
        if (count > 0 && count <= considered && done < planned) due_visits = due_candidates(count, planned, done, &scheduled);
        double scale = (c_visit + most) * c_scale / 2, best_score = LEAST_SCORE;
        int best = NONE, fallback = NONE, due = 0;
        bool pending = false;
        EACH_CHILD(tree, ROOT, child) {
            int visits = tree.visits[child] + tree.virtual_visits[child];
            if (visits == least) fallback = child;
            if (visits != due_visits) continue;
            due++;
            bool is_pending = tree.virtual_visits[child] > 0;
            pending |= is_pending;
            double score = root_score(tree, child, scale);
            if (score > best_score && !(is_pending && rounds)) {
                best_score = score;
                best = child;
            }
        }
        if (pending && (scheduled < due || best == NONE)) return WAIT;
        return best != NONE ? best : fallback;
    }

    // The child to follow, NONE for the untried action with the greatest prior, or WAIT.
    BOTH int choose(const Tree& tree, int node) const {
        if (node == ROOT) return choose_candidate(tree);
        Improved improved(tree, node, c_visit, c_scale);
        double visits = tree.visits[node] + tree.virtual_visits[node], best_score = LEAST_SCORE;
        int best = NONE, best_action = tree.next_action[node];
        if (best_action != NONE)
            best_score = tree.priors(node)[best_action] * improved.unvisited_factor / improved.total;
        EACH_CHILD(tree, node, child) {
            double share = (tree.visits[child] + tree.virtual_visits[child]) / visits;
            double score = improved.weight(tree, child) / improved.total - share;
            int action = tree.action[child];
            if (score > best_score || (score == best_score && action < best_action)) {
                best_score = score;
                best_action = action;
                best = child;
            }
        }
        return best;
    }
};

// Makes the `considered` actions with the greatest noise + logit children of the root. noise: [actions].
BOTH void make_candidates(const Tree& tree, const float* noise, Long considered) {
    const float* waiting = tree.priors(ROOT);
    for (; considered > 0; considered--) {
        int best = NONE;
        double best_score = LEAST_SCORE;
        for (int action = 0; action < tree.actions; action++) {
            if (!(waiting[action] > 0)) continue;
            double score = noise[action] + logf(waiting[action]);
            if (score > best_score) {
                best_score = score;
                best = action;
            }
        }
        if (best == NONE) return;
        add_child(tree, ROOT, best);
    }
}

// policy: float [actions], the root's improved policy. Returns the most visited action, of equals the one with the
// greatest root score.
BOTH int write_policy(const Tree& tree, const Gumbel& rule, float* policy) {
    Improved improved(tree, ROOT, rule.c_visit, rule.c_scale);
    const float* waiting = tree.priors(ROOT);
    for (Long action = 0; action < tree.actions; action++) {
        float prior = waiting[action] > 0 ? waiting[action] : 0;
        policy[action] = (float)(prior * improved.unvisited_factor / improved.total);
    }
    int most = 0, winner = 0;
    double best_score = LEAST_SCORE;
    EACH_CHILD(tree, ROOT, child) {
        int visits = tree.visits[child];
        policy[tree.action[child]] = (float)(improved.weight(tree, child) / improved.total);
        double score = rule.root_score(tree, child, improved.scale);
        if (visits > most || (visits == most && score > best_score)) {
            most = visits;
            best_score = score;
            winner = tree.action[child];
        }
    }
    return winner;
}
