// Reversi on a page.

#include "reversi.cu"
#include "page_rows.cuh"

// Sets up the start of a game in a row of zeros; returns the row's number of words.
extern "C" int start(int* row, int size) {
    int upper_left = HEADER + (size / 2 - 1) * (size + 1);  // of the four points in the middle
    row[upper_left] = row[upper_left + size + 1] = WHITE;
    row[upper_left + 1] = row[upper_left + size] = BLACK;
    return begin(row, size, size);
}
