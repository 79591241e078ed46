// Area score: twin of go_score.py. Marks are in the row's scratch words.

#pragma once
#include "go_legal.cuh"

// Grow marks through empty points along each board row, and from each row to the next. Return whether any grew.
// at_marks: index of the marks, a word per board row. first: the row to begin with; 0 goes down the board, N - 1 up.
BOTH bool sweep(int* row, int at_marks, int first, int size) {
    bool grew = false;
    int r = first, step = first == 0 ? 1 : -1;
    int previous_row = 0;  // marks of the row that was swept before
    for (int i = 0; i < size; i++, r += step) {
        int empty = empty_bits(row, r), before = row[at_marks + r], marks = before | (previous_row & empty);
        // Grow along the row by a point each time, until nothing changes.
        for (int last = 0; last != marks; marks |= ((marks << 1) | (marks >> 1)) & empty) last = marks;
        grew |= marks != before;
        row[at_marks + r] = marks;
        previous_row = marks;
    }
    return grew;
}

// Grow the marks from index `at_marks` to every empty point connected with them.
BOTH void reach(int* row, int at_marks, int size) {
    sweep(row, at_marks, 0, size);
    while (sweep(row, at_marks, size - 1, size) && sweep(row, at_marks, 0, size)) {  // up and down, until nothing grows
    }
}

// Mark the stones of a colour and the empty points that they reach in N scratch words.
BOTH void mark_area(int* row, int colour) {
    int size = row[SIZE], offset = colour == WHITE ? size : 0;  // White's words follow Black's
    int at_stones = row[AT_BOARDS] + 2 * size * row[NEWEST] + offset, at_marks = row[AT_SCRATCH] + offset;
    for (int r = 0; r < size; r++) row[at_marks + r] = row[at_stones + r];
    reach(row, at_marks, size);
}

// Mark both areas: Black's in N scratch words, White's in the next N words.
BOTH void mark_areas(int* row) {
    mark_area(row, BLACK);
    mark_area(row, WHITE);
}

// Return Black's area minus White's, from the marks of mark_areas.
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
