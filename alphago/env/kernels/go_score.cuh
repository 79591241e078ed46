// Area score: twin of go_score.py. Marks are in the row's scratch words.

#pragma once
#include "go_legal.cuh"

// Grow marks through empty points along board rows, and from each row to the next: down the board, or up from row
// `first` on; return whether any grew.
BOTH bool sweep(int* row, int own, int first, int size) {
    bool grew = false;
    int r = first, step = first == 0 ? 1 : -1;
    int previous_row = 0;  // marks of the row that was swept before
    for (int i = 0; i < size; i++, r += step) {
        int empty = empty_bits(row, r), before = row[own + r], marks = before | (previous_row & empty);
        for (int last = 0; last != marks; marks |= ((marks << 1) | (marks >> 1)) & empty) last = marks;
        grew |= marks != before;
        row[own + r] = marks;
        previous_row = marks;
    }
    return grew;
}

// Grow the marks in the scratch words `own` to every empty point connected with them.
BOTH void reach(int* row, int own, int size) {
    sweep(row, own, 0, size);
    while (sweep(row, own, size - 1, size) && sweep(row, own, 0, size)) {
    }
}

// Mark in N scratch words the points that the stones of a colour reach.
BOTH void mark_area(int* row, int colour) {
    int size = row[SIZE], of_white = colour == WHITE ? size : 0;
    int newest = row[AT_BOARDS] + 2 * size * row[NEWEST] + of_white, own = row[AT_SCRATCH] + of_white;
    for (int i = 0; i < size; i++) row[own + i] = row[newest + i];
    reach(row, own, size);
}

BOTH void mark_areas(int* row) {
    mark_area(row, BLACK);
    mark_area(row, WHITE);
}

// Return Black's area minus White's, from the marks.
__device__ inline int marked_area(const int* row) {
    int size = row[SIZE], margin = 0;
    for (int r = 0; r < size; r++) {
        int black = row[row[AT_SCRATCH] + r], white = row[row[AT_SCRATCH] + size + r];
        margin += count_bits(black & ~white) - count_bits(white & ~black);
    }
    return margin;
}

// Write each point's owner, N * N numbers: 1 the mover, -1 the other side, 0 neither.
BOTH void ownership(int* row, signed char* out) {
    int size = row[SIZE], sign = row[TO_PLAY] == BLACK ? 1 : -1;
    mark_areas(row);
    for (int r = 0; r < size; r++) {
        int black = row[row[AT_SCRATCH] + r], white = row[row[AT_SCRATCH] + size + r];
        for (int c = 0; c < size; c++)
            out[r * size + c] = (signed char)(sign * (((black & ~white) >> c & 1) - ((white & ~black) >> c & 1)));
    }
}

// Return the mover's margin in points, komi included, from Black's area minus White's.
BOTH float mover_margin(const int* row, int black_area) {
    float margin = (float)black_area - (float)row[KOMI2] / 2.0f;
    return row[TO_PLAY] == BLACK ? margin : -margin;
}

// Return the mover's margin in points, komi included.
__device__ inline float score(int* row) {
    mark_areas(row);
    return mover_margin(row, marked_area(row));
}
