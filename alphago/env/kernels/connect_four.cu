// Connect Four: twin of connect_four.py.

#include "rows.cuh"

// The lowest empty point of a column that is not full.
BOTH int landing(const int* row, int column) {
    int point = points(row) - row[WIDTH] + column;
    while (row[HEADER + point] != EMPTY) point -= row[WIDTH];
    return point;
}

BOTH void play(int* row, int action) { put_stone(row, landing(row, action), CONNECT); }

BOTH bool is_legal(const int* row, int action) { return !is_over(row) && row[HEADER + action] == EMPTY; }

BOTH bool wins(int* row, int action, int*) { return makes_line(row, landing(row, action), CONNECT); }

BOTH float outcome(const int* row, const double*) { return (float)sign_of_margin(row); }

template <typename T>
BOTH void write_point(const int* row, int point, Planes<T> planes) {
    write_stone(row, point, planes);
}

BOTH int random_action(const int* row, Long* state, bool) { return random_legal(row, row[WIDTH], state); }

#include "row_batch.cuh"
