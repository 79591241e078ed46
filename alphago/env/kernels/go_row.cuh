// Go's packed row: twin of go_row.py, which explains its words; here a row is an int*.
// Constants in capitals are injected from the Python modules. Actions are not checked for legality.

#pragma once
#include "bits.cuh"

BOTH int cell(int point) { return HEADER + CELL * point; }

BOTH int point_of(const int* row, int action) { return action + ((action * row[PER_SIZE]) >> 16) + row[SIZE] + 2; }

BOTH int board_row(const int* row, int point) { return ((point * row[PER_STRIDE]) >> 16) - 1; }

BOTH int action_of(const int* row, int point) { return point - board_row(row, point) - row[SIZE] - 2; }

// Return the neighbour of a point on side 0 (left), 1 (up), 2 (right) or 3 (down).
BOTH int neighbour(int point, int side, int stride) {
    int step = side & 1 ? stride : 1;
    return point + (side & 2 ? step : -step);
}

BOTH Long load_long(const int* row, int i) {
    return (Long)(((unsigned long long)(unsigned int)row[i + 1] << 32) | (unsigned int)row[i]);
}

BOTH void store_long(int* row, int i, Long value) {
    row[i] = (int)(unsigned int)(unsigned long long)value;
    row[i + 1] = (int)(value >> 32);
}

// Return a point as a bit of its board row r.
BOTH int point_bit(const int* row, int point, int r) { return 1 << (point - (r + 1) * (row[SIZE] + 1) - 1); }

// Return whether the game has ended, by passes in a row or by its ply limit.
BOTH bool is_over(const int* row) { return row[PASSES] >= row[PASSES_TO_END] || row[PLY] >= row[MAX_MOVES]; }

// Who is to move: 1 Black, -1 White.
BOTH int player(const int* row) { return 3 - 2 * row[TO_PLAY]; }

// How many words of a row are in use: up to the last board hash.
BOTH int words_in_use(const int* row, int) { return row[AT_HASHES] + 2 * row[BOARDS_SEEN]; }
