// The methods of GameBatch as kernels on rows (int [boards, words]) of any game.
//
// A game's file defines these functions, includes this file, and adds kernels for its legal moves and planes:
//   words_in_use(row, words)            how many of the row's words are in use, the first ones
//   play(row, action)                   a legal action for the side to move
//   player(row)                         who is to move: 1 the first player, -1 the second
//   is_over(row), position_hash(row)
//   score(row), ownership(row, out)     the mover's margin, and the owner of each point
//   outcome(row, options)               the mover's result; options: double [], the game's own
//   random_action(row, state, fill_eyes)  a random legal action of a game that is not over; state: of the random
//                                       generator; fill_eyes: in Go, whether own eyes may be filled
//
// In all kernels slots is Long [n]. Python passes integers as Long, other numbers as double.

#pragma once
#include "loops.cuh"

// The threads of a block copy items of a row together. A thread begins four loads at once, which do not wait for each
// other.
template <typename T>
__device__ inline void copy_items(const T* __restrict__ source, T* __restrict__ target, int items) {
    FOUR_AT_ONCE TOGETHER(i, items) target[i] = source[i];
}

// The threads of a block make `target` equal to `source` up to the last word in use. They copy four words at once if
// all rows begin at multiples of four. words: of a row.
__device__ inline void copy_row(const int* source, int* target, Long words) {
    int used = words_in_use(source, (int)words);
    int fours = words % 4 == 0 ? used / 4 : 0;
    copy_items((const int4*)source, (int4*)target, fours);
    copy_items(source + 4 * fours, target + 4 * fours, used - 4 * fours);
}

KERNEL copy_batch(const int* from_rows, const Long* sources, int* rows, Long words, const Long* slots, Long n) {
    EACH_BLOCK(i, n) copy_row(from_rows + sources[i] * words, ROW, words);
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

// Copies the row of roots[i] to each slot, and plays there as replay_batch does. Then writes movers, over and, where
// the game is over, outcomes, [n] each.
KERNEL reach_batch(int* rows, Long words, const Long* slots, Long n, const Long* roots, const int* paths, Long depth,
                   const int* lengths, const double* options, bool* over, signed char* movers, float* outcomes) {
    EACH_BLOCK(i, n) {
        int* row = ROW;
        copy_row(rows + roots[i] * words, row, words);
        meet();
        if (MEMBER != 0) continue;
        for (int ply = 0; ply < lengths[i]; ply++) play(row, paths[i * depth + ply]);
        movers[i] = (signed char)player(row);
        over[i] = is_over(row);
        if (over[i]) outcomes[i] = outcome(row, options);
    }
}

KERNEL is_over_batch(int* rows, Long words, const Long* slots, Long n, bool* out) { EACH_SLOT out[i] = is_over(ROW); }

KERNEL to_play_batch(int* rows, Long words, const Long* slots, Long n, signed char* out) {
    EACH_SLOT out[i] = (signed char)player(ROW);
}

KERNEL hash_batch(int* rows, Long words, const Long* slots, Long n, Long* out) {
    EACH_SLOT out[i] = position_hash(ROW);
}

KERNEL score_batch(int* rows, Long words, const Long* slots, Long n, float* out) { EACH_SLOT out[i] = score(ROW); }

// out: [n, points], 1 the mover's, -1 the other side's, 0 of neither.
KERNEL ownership_batch(int* rows, Long words, const Long* slots, Long n, signed char* out, Long points) {
    EACH_SLOT ownership(ROW, out + i * points);
}

KERNEL outcome_batch(int* rows, Long words, const Long* slots, Long n, float* out, const double* options) {
    EACH_SLOT out[i] = outcome(ROW, options);
}

// Plays every slot to its end with random moves. states: Long [n], of each slot's random generator, at first its seed.
// moves: int [n], how many were played.
KERNEL playout_batch(int* rows, Long words, const Long* slots, Long n, Long* states, int* moves, Long fill_eyes) {
    EACH_SLOT {
        int count = 0;
        Long state = states[i];  // in a register
        for (; !is_over(ROW); count++) play(ROW, random_action(ROW, &state, fill_eyes != 0));
        moves[i] = count;
        states[i] = state;
    }
}
