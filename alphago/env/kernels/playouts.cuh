// Random playouts: twin of playouts.py.

#pragma once
#include "go_legal.cuh"

// Return a uniformly random legal point, or a pass if there is none. Without `fill_eyes`, own eyes are excluded.
// Points are drawn from the list of empty points; rejected ones are moved to its end.
__device__ inline int random_action(int* row, Long* state, bool fill_eyes) {
    int colour = row[TO_PLAY];
    for (int left = row[EMPTY_COUNT]; left > 0;) {  // the points before place `left` have not been rejected
        int place = (int)((next_random(state) * left) >> 32), point = row[cell(place) + EMPTY_POINT];
        if ((fill_eyes || !is_own_eye(row, point, colour)) && allowed(row, point, colour, is_vacated(row, point)))
            return action_of(row, point);
        swap_empties(row, place, --left);
    }
    return row[SIZE] * row[SIZE];
}
