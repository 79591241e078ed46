// PUCT's choice: puct.py.

#pragma once
#include "tree.cuh"

struct Puct {
    static constexpr bool spreads = true;  // virtual visits of collisions stay until the wave is evaluated
    double c_puct, parent_value_weight, first_play_reduction;
    Long virtual_loss;

    // The child to follow, or NONE for the untried action with the greatest prior.
    BOTH int choose(const Tree& tree, int node) const {
        double explore = c_puct * sqrt((double)(tree.visits[node] + virtual_loss * tree.virtual_visits[node]));
        double parent_part = parent_value_weight * tree.value[node];
        double tried_prior = 0, best_score = LEAST_SCORE;
        int best = NONE, best_action = (int)tree.actions;
        EACH_CHILD(tree, node, child) {
            tried_prior += tree.prior[child];
            Long losses = virtual_loss * tree.virtual_visits[child], visits = tree.visits[child] + losses;
            double weight = visits + parent_value_weight;
            double mean = weight > 0 ? ((double)tree.value_sum[child] - losses + parent_part) / weight : 0.0;
            double score = mean + explore * tree.prior[child] / (1.0 + visits);
            int action = tree.action[child];
            if (score > best_score || (score == best_score && action < best_action)) {
                best_score = score;
                best_action = action;
                best = child;
            }
        }
        int action = tree.next_action[node];
        if (action == NONE) return best;
        double mean = parent_value_weight > 0 ? parent_part / parent_value_weight : 0.0;
        mean -= first_play_reduction * sqrt(tried_prior);
        double score = mean + explore * tree.priors(node)[action];
        return score > best_score || (score == best_score && action < best_action) ? NONE : best;
    }
};

// Dirichlet noise at a root: priors become (1 - weight) prior + weight noise.
BOTH void mix_into_priors(const Tree& tree, const float* noise, float weight) {
    double rest = 1 - (double)weight;
    EACH_CHILD(tree, ROOT, child) {
        float share = weight * noise[tree.action[child]];
        tree.prior[child] = (float)(rest * tree.prior[child] + share);
    }
    float* waiting = tree.priors(ROOT);
    for (Long action = 0; action < tree.actions; action++) {
        float share = weight * noise[action];
        if (waiting[action] > 0) waiting[action] = (float)(rest * waiting[action] + share);
    }
    tree.next_action[ROOT] = greatest_waiting(waiting, tree.actions);
}
