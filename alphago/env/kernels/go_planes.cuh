// The planes that a network receives: twin of go_planes.py.

#pragma once
#include "go_score.cuh"
#include "planes.cuh"

// Where: in write_background, write_row or do_second_part.
static_assert(PLANES == 18, "a new plane of go_planes.py has to be written here too");

// A board's rule planes before they are written. A plane is kept as bits, and a number that stands for each 1. In all
// structs and functions, `place` is the index of a plane in the network's input, or ABSENT.
template <typename T>
struct Sketch {
    int bits[PLANES * MAX_SIZE];  // by plane of the network's input and board row
    T ones[PLANES];               // by plane, the number for a 1; a 0 stands for 0
    int legal[MAX_SIZE];          // the legal points as bits, by board row
    unsigned char liberties[(MAX_SIZE + 1) * (MAX_SIZE + 2) + 1];  // by head point, a chain's number of them, at most 3

    // Set a board row of a plane.
    BOTH void put(Long place, int size, int r, int row_bits) {
        if (place != ABSENT) bits[(int)place * size + r] = row_bits;
    }

    // Set all points of a plane to the same number.
    BOTH void fill(Long place, int size, float value) {
        if (place == ABSENT) return;
        ones[place] = rounded<T>(value);
        for (int r = 0; r < size; r++) put(place, size, r, ~0);
    }

    // Return the number of a plane at row r, column c.
    BOTH T number(int place, int size, int r, int c) const {
        return (bits[place * size + r] >> c) & 1 ? ones[place] : T{};
    }
};

// A board's history planes: own and enemy stones of the newest board, of the one before, and so on; last plane: 1 if
// Black is to move.
template <typename T>
struct History {
    const int* row;
    int last_plane;

    // Return the number of a plane at row r, column c.
    BOTH T number(int place, int size, int r, int c) const {
        // Even planes have the mover's stones. In the ring buffer a slot has Black's stones, then White's.
        bool black_moves = row[TO_PLAY] == BLACK, of_white = (place & 1) == (int)black_moves;
        if (place == last_plane) return rounded<T>(black_moves);
        int index = row[NEWEST] - place / 2, slot = index < 0 ? index + row[DEPTH] : index;
        return rounded<T>((row[row[AT_BOARDS] + (2 * slot + of_white) * size + r] >> c) & 1);
    }
};

// Division of a number below 2^16 by `by`, computed as a product with `factor`, which is 2^32 / by, rounded up.
struct Division {
    unsigned int by, factor;

    BOTH Division(int by) : by((unsigned int)by), factor(0xFFFFFFFFu / (unsigned int)by + 1) {}

    // For `by` = 1 the factor would need 33 bits.
    BOTH int operator()(int number) const {
        return by == 1 ? number : (int)(((unsigned long long)(unsigned int)number * factor) >> 32);
    }
};

// Write two numbers of 16 bits each at once.
template <typename T>
BOTH void store_pair(T* out, T first, T second) {
    *(unsigned int*)out = first.bits | (unsigned int)second.bits << 16;
}

// Write all planes of a board. Neighbouring threads write neighbouring numbers: with channels last those of a point,
// otherwise those of a plane. With channels last, numbers of 16 bits are written in pairs where pairs are aligned.
// source: a Sketch or History. plane, point: steps of `out`, from a plane to the next and from a point to the next.
template <typename T, typename Source>
__device__ inline void write_planes(const Source& source, int planes, int size, T* out, int plane, int point) {
    int points = size * size;
    bool channels_last = plane < point, aligned = planes % 2 == 0 && point % 2 == 0 && (Long)out % 4 == 0;
    bool pairs = sizeof(T) == 2 && plane == 1 && aligned;
    // Item i is a number or a pair. With channels last, `outer` is its point and `index` its plane or pair of planes;
    // otherwise `outer` is its plane and `index` its point.
    Division by_size(size), by_inner(pairs ? planes / 2 : channels_last ? planes : points);
    TOGETHER(i, pairs ? planes / 2 * points : planes * points) {
        int outer = by_inner(i), index = i - outer * (int)by_inner.by;
        int place = pairs ? 2 * index : channels_last ? index : outer;
        int action = channels_last ? outer : index, r = by_size(action), c = action - r * size;
        T number = source.number(place, size, r, c), *target = out + place * plane + action * point;
        if constexpr (sizeof(T) == 2)
            if (pairs) store_pair(target, number, source.number(place + 1, size, r, c));
        if (!pairs) *target = number;
    }
}

// Return a chain's number of liberties, but at most 3.
BOTH int liberties_to_three(const int* row, int head_point) {
    int first = NO_ACTION, second = NO_ACTION, stone = head_point;
    do {
        for (int side = 0; side < 4; side++) {
            int near = neighbour(stone, side, row[SIZE] + 1);
            if (row[cell(near) + COLOUR] != EMPTY || near == first || near == second) continue;
            if (first == NO_ACTION)
                first = near;
            else if (second == NO_ACTION)
                second = near;
            else
                return 3;
        }
        stone = row[cell(stone) + NEXT];
    } while (stone != head_point);
    return second == NO_ACTION ? 1 : 2;
}

// Return, as bits, the points among `forbidden` (bits of board row r) that only the ko rule forbids.
__device__ inline int repeating_bits(const int* row, int r, int forbidden) {
    for (int unchecked = forbidden; unchecked; unchecked &= unchecked - 1) {
        int c = lowest_bit(unchecked);
        if (!is_repetition(row, r * row[SIZE] + c)) forbidden &= ~(1 << c);
    }
    return forbidden;
}

// Set a point with a stone in the plane for its chain's number of liberties.
template <typename T>
__device__ inline void write_liberties(const int* row, int action, const Long* places, Sketch<T>& sketch) {
    int point = point_of(row, action), at = cell(point), r = board_row(row, point);
    if (!is_stone(row[at + COLOUR])) return;
    int place = (int)places[ONE_LIBERTY + sketch.liberties[row[at + HEAD]] - 1];
    if (place != ABSENT) atomicOr(&sketch.bits[place * row[SIZE] + r], point_bit(row, point, r));
}

// Write board row r of the planes of stones, forbidden points and regions, and the legal points.
template <typename T>
__device__ inline void write_row(const int* row, int r, const Long* places, Sketch<T>& sketch) {
    int size = row[SIZE];
    // In the board, and in the marks of areas, Black's words come first, then White's.
    bool black_moves = row[TO_PLAY] == BLACK;
    int own = black_moves ? 0 : size, enemy = black_moves ? size : 0;
    int at_stones = row[AT_BOARDS] + 2 * size * row[NEWEST], at_marks = row[AT_SCRATCH];
    int empty = empty_bits(row, r), legal = legal_bits(row, r), forbidden = empty & ~legal;
    sketch.legal[r] = legal;
    int own_reach = row[at_marks + own + r], enemy_reach = row[at_marks + enemy + r];
    sketch.put(places[OWN], size, r, row[at_stones + own + r]);
    sketch.put(places[ENEMY], size, r, row[at_stones + enemy + r]);
    sketch.put(places[FORBIDDEN], size, r, forbidden);
    sketch.put(places[OWN_REGION], size, r, empty & own_reach & ~enemy_reach);
    sketch.put(places[ENEMY_REGION], size, r, empty & enemy_reach & ~own_reach);
    if (places[KO] != ABSENT) sketch.put(places[KO], size, r, repeating_bits(row, r, forbidden));
}

// The threads of a block write the N * N + 1 flags of `legal_mask`. legal: the legal points as bits, by board row.
__device__ inline void write_legal(const int* row, const int* legal, bool* out) {
    int size = row[SIZE], points = size * size;
    bool going = !is_over(row);
    Division by_size(size);
    TOGETHER(action, points) {
        int r = by_size(action);
        out[action] = going && (legal[r] >> (action - r * size) & 1);
    }
    if (MEMBER != MEMBERS - 1) return;  // one thread does the pass
    int columns = 0;  // with a legal point in any row, as bits
    for (int r = 0; r < size; r++) columns |= legal[r];
    out[points] = going && (row[PLY] >= row[FIRST_PASS] || columns == 0);
}

// Write a plane that is the same on all points, or that has a last move. Set other planes to 0; points are set later.
template <typename T>
BOTH void write_background(const int* row, int plane, const Long* places, Sketch<T>& sketch) {
    Long place = places[plane];
    if (place == ABSENT) return;
    int size = row[SIZE], points = size * size;
    float komi = (float)row[KOMI2] / 20.0f, left = (float)(row[MAX_MOVES] - row[PLY]) / (float)(2 * points);
    sketch.ones[place] = rounded<T>(1);
    for (int r = 0; r < size; r++) sketch.put(place, size, r, 0);
    switch (plane) {
        case ON_BOARD: return sketch.fill(place, size, 1);
        case PASSED: return sketch.fill(place, size, row[PASSES] > 0);
        case KOMI: return sketch.fill(place, size, row[TO_PLAY] == BLACK ? -komi : komi);
        case PLIES_LEFT: return sketch.fill(place, size, left > 1 ? 1 : left);
    }
    if (plane < LAST_MOVE || plane > THIRD_LAST_MOVE) return;
    int action = row[LAST + plane - LAST_MOVE];  // a pass and NO_ACTION have no point
    if (0 <= action && action < points) sketch.put(place, size, action / size, 1 << action % size);
}

// Do a part of the second phase of a sketch: board row `part`, or the score and its sign.
template <typename T>
__device__ inline void do_second_part(const int* row, int part, const Long* places, Sketch<T>& sketch) {
    int size = row[SIZE];
    if (part < size) return write_row(row, part, places, sketch);
    float margin = mover_margin(row, marked_area(row)), tens = margin / 10.0f;
    sketch.fill(places[SCORE], size, tens < -3 ? -3 : tens > 3 ? 3 : tens);
    sketch.fill(places[AHEAD], size, (float)(margin > 0) - (float)(margin < 0));
}

// The threads of a block sketch a set of rule planes. places: the index of each rule plane, or ABSENT, as go_planes.py
// explains.
template <typename T>
__device__ inline void write_sketch(int* row, const Long* places, Sketch<T>& sketch) {
    TOGETHER(action, row[SIZE] * row[SIZE]) {
        int point = point_of(row, action), at = cell(point);
        if (is_stone(row[at + COLOUR]) && row[at + HEAD] == point)
            sketch.liberties[point] = (unsigned char)liberties_to_three(row, point);
    }
    TOGETHER(plane, PLANES) write_background(row, plane, places, sketch);
    TOGETHER(side, 2) mark_area(row, side == 0 ? BLACK : WHITE);
    meet();
    TOGETHER(action, row[SIZE] * row[SIZE]) write_liberties(row, action, places, sketch);
    TOGETHER(part, row[SIZE] + 1) do_second_part(row, part, places, sketch);
    meet();
}
