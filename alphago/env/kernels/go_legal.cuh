// Legal moves and own eyes: twin of go_legal.py.

#pragma once
#include "go.cuh"

// Return whether the ko rule allows a suicide, which removes the stone and the chains that it joins. Suicide of a
// single stone does not change the board, which is a repetition under every rule.
BOTH bool suicide_allowed(const int* row, int colour, const Around& around) {
    Long board_hash = load_long(row, HASH_LOW);
    bool joins = false;
    for (int side = 0; side < 4; side++) {
        if (around.colours[side] != colour) continue;
        joins = true;
        if (around.is_first(side)) board_hash ^= load_long(row, cell(around.heads[side]) + CHAIN_LOW);
    }
    return joins && !ko_forbids(row, board_hash, 3 - colour);
}

// Return whether the rules of ko and suicide allow a stone on this empty point.
// check_repetition: whether to check the ko rule for moves that are not suicide.
BOTH bool allowed(const int* row, int point, int colour, bool check_repetition) {
    bool has_liberty = false;                                               // of the stone, after captures
    Long board_hash = load_long(row, HASH_LOW) ^ stone_hash(point, colour);  // of the board after the move
    Around around(row, point);
    for (int side = 0; side < 4; side++) {
        int near_colour = around.colours[side];
        if (near_colour == EMPTY) {
            has_liberty = true;
        } else if (near_colour != BORDER) {
            int head = cell(around.heads[side]);
            bool atari = in_atari(row, head), is_own = near_colour == colour;
            if (atari != is_own) has_liberty = true;  // an own chain not in atari, or an enemy chain that is captured
            if (atari && !is_own && around.is_first(side)) board_hash ^= load_long(row, head + CHAIN_LOW);
        }
        if (has_liberty && !check_repetition) return true;
    }
    if (has_liberty) return !ko_forbids(row, board_hash, 3 - colour);
    return row[SUICIDE] != 0 && suicide_allowed(row, colour, around);
}

// Return whether a stone was ever removed from an empty point.
BOTH bool is_vacated(const int* row, int point) { return row[cell(point) + HEAD] != 0; }

// Return the stones of both colours in board row r as bits; for a row off the board all bits are set.
BOTH int occupied_bits(const int* row, int r) {
    int size = row[SIZE];
    if (r < 0 || r >= size) return (1 << size) - 1;
    int at = row[AT_BOARDS] + 2 * size * row[NEWEST] + r;
    return row[at] | row[at + size];
}

// Return the empty points of board row r as bits.
BOTH int empty_bits(const int* row, int r) { return ~occupied_bits(row, r) & ((1 << row[SIZE]) - 1); }

// Return the legal points of board row r as bits. A point with an empty neighbour, from which no stone was ever
// removed, is legal without further tests; other points are tested one by one.
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

// Return whether an empty point is an eye of `colour` that one move cannot make false (libego's rule): at most one of
// the diagonal points has an enemy stone, and none on the edge of the board.
BOTH bool is_own_eye(const int* row, int point, int colour) {
    int stride = row[SIZE] + 1;
    for (int side = 0; side < 4; side++) {
        int near_colour = row[cell(neighbour(point, side, stride)) + COLOUR];
        if (near_colour != colour && near_colour != BORDER) return false;
    }
    int enemies = 0, edge = 0;
    for (int side = 0; side < 4; side++) {
        int step = side & 1 ? stride + 1 : stride - 1;  // diagonal points: point +- (stride + 1), +- (stride - 1)
        int diagonal = row[cell(point + (side & 2 ? step : -step)) + COLOUR];
        enemies += diagonal == 3 - colour;
        edge |= diagonal == BORDER;
    }
    return enemies + edge < 2;
}

// Return whether an illegal move on an empty point is illegal only because it would repeat a board.
BOTH bool is_repetition(const int* row, int action) {
    return row[SUICIDE] != 0 || allowed(row, point_of(row, action), row[TO_PLAY], false);
}
