// Gomoku: gomoku.py, with the same rows.

#include "rows.cuh"

BOTH void play(int* row, int action) {
    row[HEADER + points(row) + row[PLY] % row[DEPTH]] = action;
    put_stone(row, action, row[CONNECT]);
}

BOTH bool is_legal(const int* row, int action) { return !is_over(row) && row[HEADER + action] == EMPTY; }

BOTH bool wins(int* row, int action, int*) { return makes_line(row, action, row[CONNECT]); }

BOTH float outcome(const int* row, const double*) { return (float)sign_of_margin(row); }

// How many of the newest `depth` boards have the stone that is on this point: those since it was played, or since a
// set-up. At a set-up the older boards are unknown.
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
    int size = points(row), left = (int)((next_random(state) * (size - row[PLY])) >> 32);  // a ply is a stone
    int point = 0;
    for (; point < size; point++)
        if (row[HEADER + point] == EMPTY && left-- == 0) break;
    return point;
}

#include "row_batch.cuh"
