// The kernels of Go. A thread does a board, or a part of one where parts do not wait for each other; or a block does a
// board.

#include "go_alive.cuh"
#include "go_planes.cuh"
#include "playouts.cuh"

// The mover's result, -1, 0 or 1, of which options[MARGIN_WEIGHT] is replaced by tanh(margin / 10).
__device__ inline float outcome(int* row, const double* options) {
    double margin = score(row), weight = options[MARGIN_WEIGHT];
    double sign = (double)(margin > 0) - (double)(margin < 0);
    return (float)((1 - weight) * sign + weight * tanh(margin / 10));
}

#include "batch.cuh"

// Makes each row equal to `start` but for what belongs to one game.
KERNEL reset_batch(int* rows, Long words, const Long* slots, Long n, const int* start, Long komi2) {
    EACH_BLOCK(i, n) {
        copy_row(start, ROW, words);
        meet();
        if (MEMBER == 0) ROW[KOMI2] = (int)komi2;
    }
}

// Places the same stones in all slots, on empty boards. dead: int [n], an action without liberty or NO_ACTION.
KERNEL set_up_batch(int* rows, Long words, const Long* slots, Long n, const signed char* colours, Long to_play,
                    int* dead) {
    EACH_SLOT {
        set_up(ROW, colours, (int)to_play);
        dead[i] = misplaced(ROW, colours);
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

// out: [n, N * N], 1 where the mover is pass-alive, -1 where the other side is, else 0. scratch: int [n, per_board].
KERNEL pass_alive_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, int* scratch,
                        Long per_board) {
    EACH_SLOT {
        int points = ROW[SIZE] * ROW[SIZE];
        signed char* owners = out + i * points;
        for (int action = 0; action < points; action++) owners[action] = 0;
        for (int colour = BLACK; colour <= WHITE; colour++)
            Alive(ROW, colour, scratch + i * per_board).mark(colour == ROW[TO_PLAY] ? 1 : -1, owners);
    }
}

// The planes of boards alone, and a named set of planes, as numbers of type T.
// board, plane, point: the steps of `out`. planes: how many. mask: as legal_mask_batch writes it, or null.
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
            draw(ROW, places, sketch);                                                                                 \
            write_planes(sketch, (int)planes, ROW[SIZE], out + i * board, (int)plane, (int)point);                     \
            if (mask != nullptr) write_legal(ROW, sketch.legal, mask + i * (ROW[SIZE] * ROW[SIZE] + 1));               \
            meet();                                                                                                    \
        }                                                                                                              \
    }

PLANES_KERNELS(float, float32)
PLANES_KERNELS(Bfloat, bfloat16)
