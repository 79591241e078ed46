// The kernels of Go. In some a thread does a whole board, in others the threads of a block do a board together.

#include "go_planes.cuh"
#include "go_alive.py"
#include "playouts.cuh"

// The mover's outcome: with the weight w = options[MARGIN_WEIGHT], (1 - w) sign(margin) + w tanh(margin / 10).
__device__ inline float outcome(int* row, const double* options) {
    double margin = score(row), weight = options[MARGIN_WEIGHT];
    double sign = (double)(margin > 0) - (double)(margin < 0);
    return (float)((1 - weight) * sign + weight * tanh(margin / 10));
}

#include "batch.cuh"

// Makes each row equal to `start`, with the komi komi2 / 2.
KERNEL reset_batch(int* rows, Long words, const Long* slots, Long n, const int* start, Long komi2) {
    EACH_BLOCK(i, n) {
        copy_row(start, ROW, words);
        meet();
        if (MEMBER == 0) ROW[KOMI2] = (int)komi2;
    }
}

// Places the same stones in all slots, on empty boards. out: int [n], for each slot the answer of find_misplaced.
KERNEL set_up_batch(int* rows, Long words, const Long* slots, Long n, const signed char* colours, Long to_play,
                    int* out) {
    EACH_SLOT {
        set_up(ROW, colours, (int)to_play);
        out[i] = find_misplaced(ROW, colours);
    }
}

// out: [n, N * N + 1].
KERNEL legal_mask_batch(int* rows, Long words, const Long* slots, Long n, bool* out) {
    SHARED int legal[MAX_SIZE];
    EACH_BLOCK(i, n) {
        TOGETHER(r, ROW[SIZE]) legal[r] = legal_bits(ROW, r);
        meet();
        write_legal(ROW, legal, out + i * (ROW[SIZE] * ROW[SIZE] + 1));
        meet();
    }
}

// out: [n, N * N], 1 for the mover's pass-alive points, -1 for the other side's, 0 for others. scratch: int [n,
// per_board], where per_board is `scratch_words` of go_alive.py.
KERNEL pass_alive_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, int* scratch,
                        Long per_board) {
    EACH_SLOT {
        int points = ROW[SIZE] * ROW[SIZE];
        signed char* owners = out + i * points;
        for (int action = 0; action < points; action++) owners[action] = 0;
        for (int colour = BLACK; colour <= WHITE; colour++)
            mark_alive(ROW, colour, colour == ROW[TO_PLAY] ? 1 : -1, scratch + i * per_board, owners);
    }
}

// History planes, and a set of rule planes, as numbers of type T.
// board, plane, point: the steps of `out` from a board, plane or point to the next. planes: how many.
// places: see go_planes.py. mask: legal actions, written as by legal_mask_batch; null for none.
#define PLANES_KERNELS(T, NAME)                                                                                        \
    KERNEL history_planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board,         \
                                         Long plane, Long point, Long planes) {                                        \
        EACH_BLOCK(i, n) {                                                                                             \
            History<T> history{ROW, (int)planes - 1};                                                                  \
            write_planes(history, (int)planes, ROW[SIZE], out + i * board, (int)plane, (int)point);                    \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL rule_planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board,            \
                                      Long plane, Long point, Long planes, const Long* places, bool* mask) {           \
        SHARED Sketch<T> sketch;                                                                                       \
        EACH_BLOCK(i, n) {                                                                                             \
            write_sketch(ROW, places, sketch);                                                                         \
            write_planes(sketch, (int)planes, ROW[SIZE], out + i * board, (int)plane, (int)point);                     \
            if (mask != nullptr) write_legal(ROW, sketch.legal, mask + i * (ROW[SIZE] * ROW[SIZE] + 1));               \
            meet();                                                                                                    \
        }                                                                                                              \
    }

PLANES_KERNELS(float, float32)
PLANES_KERNELS(Bfloat, bfloat16)
