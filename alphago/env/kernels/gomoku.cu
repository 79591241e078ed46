// Gomoku: twin of gomoku.py.

#include "rows.cuh"

BOTH void play(int* row, int action) {
    row[HEADER + points(row) + row[PLY] % row[DEPTH]] = action;
    put_stone(row, action, row[CONNECT]);
}

BOTH bool is_legal(const int* row, int action) { return !is_over(row) && row[HEADER + action] == EMPTY; }

BOTH bool wins(int* row, int action, int*) { return makes_line(row, action, row[CONNECT]); }

BOTH float outcome(const int* row, const double*) { return (float)sign_of_margin(row); }

// How many of the newest `depth` boards have the stone that is on this point: those since it was played; in a set-up
// position, those since the set-up, as the older boards are unknown.
BOTH int boards_since(const int* row, int point) {
    int depth = row[DEPTH], ply = row[PLY], at = HEADER + points(row);
    for (int back = 0; back < depth - 1 && back < ply; back++) {
        int action = row[at + (ply - 1 - back) % depth];
        if (action == point || action == UNKNOWN) return back + 1;
    }
    return depth;
}

template <typename T>
BOTH void write_point(const int* row, int point, Planes<T> planes) {
    int depth = row[DEPTH], owner = row[HEADER + point] * row[TO_PLAY];
    int boards = owner == 0 ? 0 : boards_since(row, point);
    for (int age = 0; age < depth; age++) {
        planes.set(2 * age, point, age < boards && owner == 1);
        planes.set(2 * age + 1, point, age < boards && owner == -1);
    }
    planes.set(2 * depth, point, row[TO_PLAY] == BLACK);
}

BOTH int random_action(const int* row, Long* state, bool) {
    int empty = points(row) - row[PLY], point = 0;                // each ply has filled a point
    int skipped = (int)((next_random(state) * empty) >> 32);  // so many empty points come before the chosen one
    while (row[HEADER + point] != EMPTY || skipped-- > 0) point++;
    return point;
}

#include "row_batch.cuh"
