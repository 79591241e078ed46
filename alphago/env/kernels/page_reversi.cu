// Reversi on a page.

#include "reversi.cu"
#include "page_rows.cuh"

// The start of a game, in a row of zeros; returns its words.
extern "C" int start(int* row, int size) {
    int middle = HEADER + (size / 2 - 1) * (size + 1);  // the upper left one of the four points
    row[middle] = row[middle + size + 1] = WHITE;
    row[middle + 1] = row[middle + size] = BLACK;
    return begin(row, size, size);
}
