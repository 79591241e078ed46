// Changes of whole trees, when a move is played and when a search is restarted: subtrees.py.

#pragma once
#include "tree.cuh"

BOTH void clear(const Tree& tree) {
    *tree.used = 1;
    make_new(tree, ROOT, NONE, NONE);
}

// Makes the tried actions of a node untried again, and caches its evaluated children.
BOTH void forget_children(const Tree& tree, int node) {
    int after;
    for (int child = tree.first_child[node]; child != NONE; child = after) {
        after = tree.next_sibling[child];
        tree.priors(node)[tree.action[child]] = tree.prior[child];
        if (tree.state[child] == NEW) {
            tree.parent[child] = NONE;  // nothing leads to the node now; it is removed when the next move is played
        } else {
            tree.next_sibling[child] = tree.cached[node];
            tree.cached[node] = child;
        }
    }
    tree.first_child[node] = NONE;
    tree.next_action[node] = greatest_waiting(tree.priors(node), tree.actions);
}

// Undoes all visits, and caches the evaluated nodes but for the root, which gets one visit at once if it is evaluated.
BOTH void restart(const Tree& tree) {
    for (int node = 0; node < *tree.used; node++) {
        forget_visits(tree, node);
        if (tree.first_child[node] != NONE) forget_children(tree, node);
        if (tree.state[node] == EXPANDED) tree.state[node] = CACHED;
    }
    if (tree.state[ROOT] != CACHED) return;
    tree.state[ROOT] = EXPANDED;
    back_up(tree, ROOT, tree.value[ROOT], 0);
}

// Moves `root` and all nodes below it to the front of the arrays, in order. Between two searches there are no virtual
// visits, so their array serves as scratch memory for the new indices, and is 0 again at the end.
BOTH void compact(const Tree& tree, int root) {
    int used = 0, before = *tree.used, *moved = tree.virtual_visits;
    for (int node = root; node < before; node++) {  // parents come before their children
        int parent = tree.parent[node];
        bool stays = node == root || (parent >= root && moved[parent] != NONE);
        moved[node] = stays ? used++ : NONE;
    }
    tree.parent[root] = NONE;
    tree.next_sibling[root] = NONE;
    int* links[] = {tree.parent, tree.first_child, tree.next_sibling, tree.cached};
    int* numbers[] = {tree.action, tree.next_action, tree.visits};
    float* values[] = {tree.prior, tree.value, tree.value_sum};
    for (int node = root; node < before; node++) {
        int to = moved[node];
        if (to == NONE) continue;
        for (int* link : links) link[to] = link[node] == NONE ? NONE : moved[link[node]];
        for (int* number : numbers) number[to] = number[node];
        for (float* value : values) value[to] = value[node];
        tree.state[to] = tree.state[node];
        tree.mover[to] = tree.mover[node];
        for (Long action = 0; action < tree.actions; action++) tree.priors(to)[action] = tree.priors(node)[action];
    }
    for (int node = root; node < before; node++) moved[node] = 0;
    *tree.used = used;
}

// Plays an action: its child becomes the root, and all nodes that are not below it are freed.
BOTH void play_action(const Tree& tree, int action) {
    int child = tree.first_child[ROOT];
    while (child != NONE && tree.action[child] != action) child = tree.next_sibling[child];
    if (child == NONE) child = take_cached(tree, ROOT, action);
    if (child == NONE) return clear(tree);
    if (tree.mover[child] != tree.mover[ROOT]) tree.value_sum[child] = -tree.value_sum[child];
    compact(tree, child);
}
