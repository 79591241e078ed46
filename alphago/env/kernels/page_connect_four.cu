// Connect Four on a page.

#include "connect_four.cu"
#include "page_rows.cuh"

// The start of a game, in a row of zeros; returns its words.
extern "C" int start(int* row, int height, int width) { return begin(row, height, width); }
