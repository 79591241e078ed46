// What a small game adds to batch.cuh. Its file defines, after including rows.cuh, `play` and
//   is_legal(row, action)          whether an action is legal, false once the game is over
//   wins(row, action, scratch)     whether a legal action wins at once; scratch: as many words as a row
//   write_point(row, point, out)   writes one point of all planes; out: a Planes<T>
//   random_action(row, state, fill_eyes), outcome(row, options)   see batch.cuh
// and includes this file. A thread does one action, or one point, of a board.

#pragma once
#include "batch.cuh"
#include "rows.cuh"

// out: [n, actions].
KERNEL legal_mask_batch(int* rows, Long words, const Long* slots, Long n, bool* out, Long actions) {
    EACH_POINT(i, action, n, actions) out[i * actions + action] = is_legal(ROW, (int)action);
}

// The first action that wins at once, or NO_ACTION. scratch: [n, words].
KERNEL decisive_moves_batch(int* rows, Long words, const Long* slots, Long n, int* out, int* scratch, Long actions) {
    EACH_SLOT {
        int action = 0;
        while (action < actions && !(is_legal(ROW, action) && wins(ROW, action, scratch + i * words))) action++;
        out[i] = action < actions ? action : NO_ACTION;
    }
}

// All planes, as numbers of type T. board, plane, point: the steps of `out` from a board, plane or point to the next.
// size: points of a plane.
#define PLANES_KERNEL(T, NAME)                                                                                  \
    KERNEL planes_##NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long board, Long plane, \
                                 Long point, Long size) {                                                       \
        EACH_POINT(i, at, n, size) write_point(ROW, (int)at, Planes<T>{out + i * board, plane, point, size});    \
    }

PLANES_KERNEL(float, float32)
PLANES_KERNEL(Bfloat, bfloat16)
