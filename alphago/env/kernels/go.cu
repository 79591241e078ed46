// The kernels of Go: what GameBatch's verbs do to rows, an int [boards, words].
// A thread does a board, or a part of one where parts do not wait for each other: what they need was written by an
// earlier kernel.
// slots: long long [n]. Whole numbers arrive as Long, others as double.

#include "go_planes.cuh"
#include "playouts.cuh"

#define KERNEL extern "C" __global__ void
#define EACH_SLOT EACH(i, n)
#define ROW (rows + slots[i] * words)

// The mover's result, -1, 0 or 1, of which `margin_weight` is replaced by tanh(margin / 10).
__device__ inline float outcome(int* row, double margin_weight) {
    double margin = score(row);
    double sign = (double)(margin > 0) - (double)(margin < 0);
    return (float)((1 - margin_weight) * sign + margin_weight * tanh(margin / 10));
}

// Makes each row equal to `start` but for what belongs to one game.
KERNEL reset_batch(int* rows, Long words, const Long* slots, Long n, const int* start, Long komi2) {
    EACH_LANE(i, lane, n) {
        copy(start, ROW, (int)lane);
        if (lane == KOMI2 % LANES) ROW[KOMI2] = (int)komi2;
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

KERNEL copy_batch(const int* from_rows, const Long* sources, int* rows, Long words, const Long* slots, Long n) {
    EACH_LANE(i, lane, n) copy(from_rows + sources[i] * words, ROW, (int)lane);
}

KERNEL play_batch(int* rows, Long words, const Long* slots, Long n, const int* actions) {
    EACH_SLOT play(ROW, actions[i]);
}

// Plays the first lengths[i] actions of paths[i] (int [n, depth]).
KERNEL replay_batch(int* rows, Long words, const Long* slots, Long n, const int* paths, Long depth,
                    const int* lengths) {
    EACH_SLOT {
        for (int ply = 0; ply < lengths[i]; ply++) play(ROW, paths[i * depth + ply]);
    }
}

// As replay_batch; then over: [n], movers: +1 Black, -1 White, and outcomes where the game is over, as outcome_batch.
KERNEL reach_batch(int* rows, Long words, const Long* slots, Long n, const int* paths, Long depth, const int* lengths,
                   double margin_weight, bool* over, signed char* movers, float* outcomes) {
    EACH_SLOT {
        for (int ply = 0; ply < lengths[i]; ply++) play(ROW, paths[i * depth + ply]);
        movers[i] = (signed char)(3 - 2 * ROW[TO_PLAY]);
        over[i] = is_over(ROW);
        if (over[i]) outcomes[i] = outcome(ROW, margin_weight);
    }
}

// out: [n, N * N + 1]. size: N.
KERNEL legal_mask_batch(int* rows, Long words, const Long* slots, Long n, bool* out, Long size) {
    EACH_PART(i, part, n, size + 1) legal_mask(ROW, (int)part, out + i * (size * size + 1));
}

KERNEL is_over_batch(int* rows, Long words, const Long* slots, Long n, bool* out) { EACH_SLOT out[i] = is_over(ROW); }

// +1 Black, -1 White.
KERNEL to_play_batch(int* rows, Long words, const Long* slots, Long n, signed char* out) {
    EACH_SLOT out[i] = (signed char)(3 - 2 * ROW[TO_PLAY]);
}

KERNEL hash_batch(int* rows, Long words, const Long* slots, Long n, Long* out) {
    EACH_SLOT out[i] = position_hash(ROW);
}

KERNEL score_batch(int* rows, Long words, const Long* slots, Long n, float* out) { EACH_SLOT out[i] = score(ROW); }

// out: [n, N * N].
KERNEL ownership_batch(int* rows, Long words, const Long* slots, Long n, signed char* out) {
    EACH_SLOT ownership(ROW, out + i * ROW[SIZE] * ROW[SIZE]);
}

KERNEL outcome_batch(int* rows, Long words, const Long* slots, Long n, float* out, double margin_weight) {
    EACH_SLOT out[i] = outcome(ROW, margin_weight);
}

// Sets points of an ownership map to `value`.
struct OwnerMark {
    signed char* out;
    signed char value;

    BOTH void operator()(int action) const { out[action] = value; }
};

// owners: [N * N], 1 where the mover is pass-alive, -1 where the other side is, else 0.
BOTH void mark_both_alive(int* row, int* scratch, signed char* owners) {
    for (int action = 0; action < row[SIZE] * row[SIZE]; action++) owners[action] = 0;
    for (int colour = BLACK; colour <= WHITE; colour++) {
        OwnerMark mark{owners, (signed char)(colour == row[TO_PLAY] ? 1 : -1)};
        Alive(row, colour, scratch).each(mark);
    }
}

// out: [n, N * N], see mark_both_alive. scratch: int [n, per_board].
KERNEL pass_alive_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, int* scratch,
                        Long per_board) {
    EACH_SLOT mark_both_alive(ROW, scratch + i * per_board, out + i * ROW[SIZE] * ROW[SIZE]);
}

// Plays every slot to its end with random moves; states: Long [n], a seed and then a stream per slot; moves: int [n].
KERNEL playout_batch(int* rows, Long words, const Long* slots, Long n, Long* states, Long fill_eyes, int* moves) {
    EACH_SLOT moves[i] = playout(ROW, states + i, fill_eyes != 0);
}

// The planes of boards alone, and a named set of planes in two steps, as numbers of type T.
// size: of the boards. board, plane, point: the steps of `out`. scratch: int [n, 2, per_board], for one colour each.
#define PLANES_KERNELS(T, NAME)                                                                                      \
    KERNEL history_planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board, Long plane,   \
                                 Long point, Long size, Long history) {                                             \
        EACH_PART(i, part, n, history * size + 1)                                                                   \
        history_planes(ROW, (int)part, (int)history, Planes<T>{out + i * board, plane, point});                       \
    }                                                                                                               \
    KERNEL begin_rule_planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board,      \
                                         Long plane, Long point, const Long* places) {                              \
        EACH_PART(i, part, n, 2 + PLANES)                                                                           \
        begin_rule_planes(ROW, (int)part, places, Planes<T>{out + i * board, plane, point});                           \
    }                                                                                                               \
    KERNEL rule_planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board,            \
                                   Long plane, Long point, Long size, const Long* places, int* scratch,             \
                                   Long per_board) {                                                                \
        EACH_PART(i, part, n, size + BOARD_PARTS)                                                                   \
        rule_planes(ROW, (int)part, places, scratch + 2 * i * per_board, (int)per_board,                               \
                 Planes<T>{out + i * board, plane, point});                                                         \
    }

PLANES_KERNELS(float, float32)
PLANES_KERNELS(Half, float16)
PLANES_KERNELS(Bfloat, bfloat16)
