// Gomoku on a page.

#include "gomoku.cu"
#include "page_rows.cuh"

// Sets up the start of a game in a row of zeros; returns the row's number of words.
extern "C" int start(int* row, int size, int connect, int depth) {
    row[CONNECT] = connect;
    row[DEPTH] = depth;
    return begin(row, size, size) + depth;
}
