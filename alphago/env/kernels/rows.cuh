// The row of the small games, word by word that of rows.py, which explains it: here a row is an int*.
// Constants in capitals are injected from the Python modules. Nothing checks that an action is legal.

#pragma once
#include "bits.cuh"
#include "planes.cuh"

BOTH int points(const int* row) { return row[HEIGHT] * row[WIDTH]; }

BOTH int player(const int* row) { return row[TO_PLAY]; }

BOTH bool is_over(const int* row) { return row[OVER] != 0; }

// How many words of a row are in use.
BOTH int words_in_use(const int*, int words) { return words; }

// Counts a ply and hands the move to the other side.
BOTH void end_turn(int* row) {
    row[PLY]++;
    row[TO_PLAY] = -row[TO_PLAY];
}

// How many stones of its colour follow the stone at row r, column c in one direction.
BOTH int stones_along(const int* row, int r, int c, int down, int right) {
    int height = row[HEIGHT], width = row[WIDTH], colour = row[HEADER + r * width + c], count = 0;
    for (r += down, c += right; 0 <= r && r < height && 0 <= c && c < width; r += down, c += right) {
        if (row[HEADER + r * width + c] != colour) break;
        count++;
    }
    return count;
}

// The number of stones in the longest straight line of one colour through the stone at a point.
BOTH int longest_line(const int* row, int point) {
    int r = point / row[WIDTH], c = point % row[WIDTH], longest = 1;
    for (int direction = 0; direction < 4; direction++) {  // along the row, along the column, and the two diagonals
        int down = direction > 0, right = direction == 0 ? 1 : direction - 2;
        int length = 1 + stones_along(row, r, c, down, right) + stones_along(row, r, c, -down, -right);
        if (length > longest) longest = length;
    }
    return longest;
}

// A hash of side to move, board and margin.
BOTH Long position_hash(const int* row) {
    Long value = mix(row[TO_PLAY] + 2);
    value = mix(wrapped_sum(value, row[MARGIN]));
    for (int i = 0; i < points(row); i++) value = mix(wrapped_sum(wrapped_product(value, GOLDEN), row[HEADER + i]));
    return value;
}

// The mover's margin as if the game ended here, and its sign.
BOTH float score(const int* row) { return (float)(row[MARGIN] * row[TO_PLAY]); }

BOTH float outcome(const int* row, const double*) {
    int margin = row[MARGIN] * row[TO_PLAY];
    return (float)((margin > 0) - (margin < 0));
}

// Writes the owner of the stone on each point: 1 the mover, -1 the other side, 0 for an empty point.
BOTH void ownership(const int* row, signed char* out) {
    for (int i = 0; i < points(row); i++) out[i] = (signed char)(row[HEADER + i] * row[TO_PLAY]);
}
