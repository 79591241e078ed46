// The search trees of many games, with the arrays of tree.py and the functions of nodes.py; a thread works on a game.
//
// All arrays are parts of one array of words.  First come the 11 arrays that have a word for each node, in the order of
// tree.py, then `waiting` and `used`, and last `state` and `mover`, which have a byte for each node.

#pragma once
#include "loops.cuh"

// The arrays of one game.
struct Tree {
    Long actions;
    int *parent, *first_child, *next_sibling, *cached, *action, *next_action, *visits, *virtual_visits;
    float *prior, *value, *value_sum;
    float* waiting;  // [nodes, actions]
    int* used;
    signed char *state, *mover;

    BOTH Tree(int* words, Long games, Long nodes, Long actions, Long game) : actions(actions) {
        Long step = games * nodes;       // from an array to the next one
        int* at = words + game * nodes;  // the game's first node in the next array
        int** integers[] = {&parent, &first_child, &next_sibling,  &cached,
                            &action, &next_action, &visits, &virtual_visits};
        for (int** array : integers) *array = at, at += step;
        float** numbers[] = {&prior, &value, &value_sum};
        for (float** array : numbers) *array = (float*)at, at += step;
        // `waiting` has `actions` words for each node of the earlier games, of which `at` has skipped one.
        waiting = (float*)at + game * nodes * (actions - 1);
        used = words + step * (11 + actions) + game;
        state = (signed char*)(used - game + games) + game * nodes;
        mover = state + step;
    }

    BOTH float* priors(int node) const { return waiting + node * actions; }  // of the untried actions
};

// TREES: what kernels get of all trees; TREE: the tree of one game.
#define TREES int *words, Long all, Long nodes, Long actions
#define TREE(game) Tree(words, all, nodes, actions, game)

constexpr double LEAST_SCORE = -1e300;  // less than any score

// The untried action with the greatest prior, the first of equals; NONE if all are tried.
BOTH int greatest_waiting(const float* waiting, Long actions) {
    int best = NONE;
    float best_prior = 0;
    for (int action = 0; action < actions; action++) {
        if (waiting[action] > best_prior) {
            best_prior = waiting[action];
            best = action;
        }
    }
    return best;
}

BOTH void forget_visits(const Tree& tree, int node) {
    tree.visits[node] = 0;
    tree.virtual_visits[node] = 0;
    tree.value_sum[node] = 0;
}

BOTH void make_new(const Tree& tree, int node, int parent, int action) {
    tree.parent[node] = parent;
    tree.first_child[node] = NONE;
    tree.next_sibling[node] = NONE;
    tree.cached[node] = NONE;
    tree.action[node] = action;
    tree.state[node] = NEW;
    forget_visits(tree, node);
}

// Removes the child for an action from the node's cached children, and returns it; NONE if there is none.
BOTH int take_cached(const Tree& tree, int node, int action) {
    int* link = tree.cached + node;
    while (*link != NONE && tree.action[*link] != action) link = tree.next_sibling + *link;
    int child = *link;
    if (child != NONE) *link = tree.next_sibling[child];
    return child;
}

// Gives an untried action a child, and returns it: the action's cached node or a new one.
BOTH int add_child(const Tree& tree, int node, int action) {
    int child = take_cached(tree, node, action);
    if (child == NONE) {
        child = (*tree.used)++;
        make_new(tree, child, node, action);
    }
    tree.next_sibling[child] = tree.first_child[node];
    tree.first_child[node] = child;
    tree.prior[child] = tree.priors(node)[action];
    tree.priors(node)[action] = (float)TAKEN;
    tree.next_action[node] = greatest_waiting(tree.priors(node), tree.actions);
    return child;
}

// Counts a simulation that ended in a leaf in every node from the leaf to the root.
// value: in the view of the leaf's mover; pending: 1 if the simulation has a virtual visit, which is removed, else 0.
BOTH void back_up(const Tree& tree, int leaf, float value, int pending) {
    int mover = tree.mover[leaf];
    for (int node = leaf; node != NONE; node = tree.parent[node]) {
        int parent = tree.parent[node];
        tree.visits[node]++;
        tree.virtual_visits[node] -= pending;
        tree.value_sum[node] += tree.mover[parent == NONE ? node : parent] == mover ? value : -value;
    }
}

// Adds `count` virtual visits (1, or -1 to remove one) to all nodes from a leaf to the root.
BOTH void add_virtual(const Tree& tree, int leaf, int count) {
    for (int node = leaf; node != NONE; node = tree.parent[node]) tree.virtual_visits[node] += count;
}

// Of a visited node, in the view of the player who moved to it.
BOTH double mean_value(const Tree& tree, int node) { return (double)tree.value_sum[node] / tree.visits[node]; }

// Loops over the children of a node.
#define EACH_CHILD(tree, node, child) \
    for (int child = (tree).first_child[node]; child != NONE; child = (tree).next_sibling[child])
