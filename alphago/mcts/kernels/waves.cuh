// A wave: new leaves of all games, which are evaluated together: waves.py.

#pragma once
#include "tree.cuh"

// The rows of one game in the arrays of a wave, see tree.py. Rows without a leaf have NONE in `leaf`. `collisions` has
// two nodes for each row; unused ones are NONE, as are all between two waves.
struct Wave {
    Long* game;
    int *leaf, *path, *length, *collisions;
    Long plies;

    BOTH Wave(Long* game, int* leaf, int* path, Long plies, int* length, int* collisions, Long row)
        : game(game + row), leaf(leaf + row), path(path + row * plies), length(length + row),
          collisions(collisions + 2 * row), plies(plies) {}
};

#define WAVE Long *game, int *leaf, int *path, Long plies, int *length, int *collisions
#define WAVE_FROM(row) Wave(game, leaf, path, plies, length, collisions, row)

// Goes from the root down to a node that is not evaluated, creates it if it does not exist, and returns it; writes the
// actions to `path` and their number to `depth`. Returns WAIT if the rule cannot choose before the wave is evaluated.
template <typename Rule>
BOTH int descend(const Tree& tree, const Rule& rule, int* path, int* depth) {
    int node = ROOT;
    *depth = 0;
    while (tree.state[node] == EXPANDED) {
        int child = rule.choose(tree, node);
        if (child == WAIT) return WAIT;
        if (child == NONE) child = add_child(tree, node, tree.next_action[node]);
        path[(*depth)++] = tree.action[child];
        node = child;
    }
    return node;
}

// Chooses up to `leaves` new leaves; see `select` in waves.py. slot: of the game's root among the boards; spare: of the
// leaf of its first row, behind which those of the other rows are. A row without a leaf gets the slot of its own leaf
// in place of the game, so that its board is copied onto itself.
template <typename Rule>
BOTH void select(const Tree& tree, int* budget, const Rule& rule, Long slot, const Wave& wave, int leaves, Long spare) {
    int chosen = 0, collided = 0;
    for (int attempts = 0; chosen < leaves && attempts < 2 * leaves && *budget > 0;) {
        int depth, leaf = descend(tree, rule, wave.path + chosen * wave.plies, &depth);
        if (leaf == WAIT) break;
        int state = tree.state[leaf];
        if (state == CACHED || state == TERMINAL) {
            if (state == CACHED) tree.state[leaf] = EXPANDED;
            back_up(tree, leaf, tree.value[leaf], 0);
            --*budget;
            continue;
        }
        if (state == PENDING && !Rule::spreads) break;
        attempts++;
        add_virtual(tree, leaf, 1);
        if (state == PENDING) {
            wave.collisions[collided++] = leaf;
            continue;
        }
        tree.state[leaf] = PENDING;
        wave.game[chosen] = slot;
        wave.leaf[chosen] = leaf;
        wave.length[chosen++] = depth;
        --*budget;
    }
    for (; chosen < leaves; chosen++) {
        wave.game[chosen] = spare + chosen;
        wave.leaf[chosen] = NONE;
        wave.length[chosen] = 0;
    }
}

// Writes the evaluation of a leaf into the tree and backs it up; returns whether the evaluator is broken.
BOTH bool expand_leaf(const Tree& tree, int leaf, bool over, int mover, const float* priors, float value) {
    bool usable = value - value == 0;  // neither infinite nor NaN
    tree.mover[leaf] = (signed char)mover;
    tree.value[leaf] = value;
    tree.state[leaf] = (signed char)(over ? TERMINAL : EXPANDED);
    if (!over) {
        float* waiting = tree.priors(leaf);
        for (Long action = 0; action < tree.actions; action++) waiting[action] = priors[action];
        tree.next_action[leaf] = greatest_waiting(waiting, tree.actions);
        usable = usable && tree.next_action[leaf] != NONE && value <= LIMIT && value >= -LIMIT;
    }
    back_up(tree, leaf, value, 1);
    return !usable;
}
