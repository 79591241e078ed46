// Legal moves and own eyes: twin of go_legal.py.

#pragma once
#include "go.cuh"

// Return whether the ko rule allows a suicide, which removes the stone and its chains; never that of a single stone.
BOTH bool suicide_allowed(const int* row, int colour, const Around& around) {
    Long board = load_long(row, HASH_LOW);
    bool joins = false;
    for (int side = 0; side < 4; side++) {
        if (around.colours[side] != colour) continue;
        joins = true;
        if (around.is_first(side)) board ^= load_long(row, cell(around.heads[side]) + CHAIN_LOW);
    }
    return joins && !ko_forbids(row, board, 3 - colour);
}

// Return whether the rules of ko and suicide allow a stone on this empty point.
// check_repetition: whether to check the ko rule for moves that are not suicide.
BOTH bool allowed(const int* row, int point, int colour, bool check_repetition) {
    bool safe = false;
    Long board = load_long(row, HASH_LOW) ^ stone_hash(point, colour);
    Around around(row, point);
    for (int side = 0; side < 4; side++) {
        int other = around.colours[side];
        if (other == EMPTY) {
            safe = true;
        } else if (other != BORDER) {
            int head = cell(around.heads[side]);
            bool atari = in_atari(row, head);
            if (atari != (other == colour)) safe = true;
            if (atari && other != colour && around.is_first(side)) board ^= load_long(row, head + CHAIN_LOW);
        }
        if (safe && !check_repetition) return true;
    }
    if (safe) return !ko_forbids(row, board, 3 - colour);
    return row[SUICIDE] != 0 && suicide_allowed(row, colour, around);
}

// Return whether a stone was ever removed from an empty point.
BOTH bool is_vacated(const int* row, int point) { return row[cell(point) + HEAD] != 0; }

// Return the stones of both colours in board row r as bits; rows off the board count as full.
BOTH int occupied_bits(const int* row, int r) {
    int size = row[SIZE];
    if (r < 0 || r >= size) return (1 << size) - 1;
    int at = row[AT_BOARDS] + 2 * size * row[NEWEST] + r;
    return row[at] | row[at + size];
}

BOTH int empty_bits(const int* row, int r) { return ~occupied_bits(row, r) & ((1 << row[SIZE]) - 1); }

// Return the legal points of board row r as bits; only those that may repeat a board or be suicide are tested singly.
__device__ inline int legal_bits(const int* row, int r) {
    int size = row[SIZE], colour = row[TO_PLAY];
    int empty = empty_bits(row, r);
    int beside_empty = (empty << 1) | (empty >> 1) | ~occupied_bits(row, r - 1) | ~occupied_bits(row, r + 1);
    int vacated = row[row[AT_VACATED] + r];
    int legal = empty & beside_empty & ~vacated;
    for (int doubtful = empty & ~legal; doubtful; doubtful &= doubtful - 1) {
        int c = lowest_bit(doubtful);
        if (allowed(row, (r + 1) * (size + 1) + c + 1, colour, (vacated >> c) & 1)) legal |= 1 << c;
    }
    return legal;
}

// Return whether an empty point is an eye of `colour` that one move cannot make false (libego's rule).
BOTH bool is_own_eye(const int* row, int point, int colour) {
    int stride = row[SIZE] + 1;
    for (int side = 0; side < 4; side++) {
        int other = row[cell(neighbour(point, side, stride)) + COLOUR];
        if (other != colour && other != BORDER) return false;
    }
    int enemies = 0, edge = 0;
    for (int side = 0; side < 4; side++) {
        int step = side & 1 ? stride + 1 : stride - 1;
        int other = row[cell(point + (side & 2 ? step : -step)) + COLOUR];
        enemies += other == 3 - colour;
        edge |= other == BORDER;
    }
    return enemies + edge < 2;
}

// Return whether an illegal move on an empty point is illegal only because it would repeat a board.
BOTH bool is_repetition(const int* row, int action) {
    return row[SUICIDE] != 0 || allowed(row, point_of(row, action), row[TO_PLAY], false);
}
