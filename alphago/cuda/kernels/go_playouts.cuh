// Random games to their end: env/kernels/playouts.py.

#pragma once
#include "go_legal.cuh"

// A uniformly random legal point; pass when there is none. Without `fill_eyes`, own eyes are left out.
__device__ inline int random_action(int* row, Long* state, bool fill_eyes) {
    int size = row[SIZE], colour = row[TO_PLAY], left = 0;
    int* tries = row + row[AT_SCRATCH];
    for (int r = 0; r < size; r++) {
        tries[r] = empty_bits(row, r);
        left += count_bits(tries[r]);
    }
    for (; left > 0; left--) {
        int k = (int)((next_random(state) * left) >> 32), r = 0;
        for (int count = count_bits(tries[0]); k >= count; count = count_bits(tries[r])) {
            k -= count;
            r++;
        }
        int rest = tries[r];
        for (; k > 0; k--) rest &= rest - 1;
        int c = lowest_bit(rest), point = (r + 1) * (size + 1) + c + 1;
        if ((fill_eyes || !is_own_eye(row, point, colour)) && allowed(row, point, colour, is_vacated(row, point)))
            return r * size + c;
        tries[r] &= ~(1 << c);
    }
    return size * size;
}

// Plays random moves to the end of the game; returns the number of moves.
__device__ inline int playout(int* row, Long* state, bool fill_eyes) {
    int moves = 0;
    for (; !is_over(row); moves++) play(row, random_action(row, state, fill_eyes));
    return moves;
}
