// What a page needs of the small games beside row_batch.cuh: one row, which is alone in its memory.

#pragma once

// Makes a row of zeros an empty board with Black to move; returns how many words it has so far.
BOTH int begin(int* row, int height, int width) {
    row[TO_PLAY] = BLACK;
    row[HEIGHT] = height;
    row[WIDTH] = width;
    return HEADER + height * width;
}

// out: [n, size], what is on each point.
KERNEL board_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, Long size) {
    EACH_POINT(i, at, n, size) out[i * size + at] = (signed char)ROW[HEADER + at];
}
