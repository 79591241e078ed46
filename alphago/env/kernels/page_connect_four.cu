// Connect Four on a page.

#include "connect_four.cu"
#include "page_rows.cuh"

// Sets up the start of a game in a row of zeros; returns the row's number of words.
extern "C" int start(int* row, int height, int width) { return begin(row, height, width); }
