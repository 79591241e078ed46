// What a page needs for the small games besides row_batch.cuh.

#pragma once

// Makes a row of zeros an empty board with Black to move; returns its number of words, without those that only one game
// has.
BOTH int begin(int* row, int height, int width) {
    row[TO_PLAY] = BLACK;
    row[HEIGHT] = height;
    row[WIDTH] = width;
    return HEADER + height * width;
}

// out: [n, size], what is on each point: a stone's colour, or a number of seeds.
KERNEL board_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, Long size) {
    EACH_POINT(i, at, n, size) out[i * size + at] = (signed char)ROW[HEADER + at];
}
