// What a network sees: the boards of env/kernels/go.py (`planes`) and the named planes of env/kernels/go_features.py.

#pragma once
#include "go_alive.cuh"
#include "go_score.cuh"

// One position's planes in the network's tensor: numbers of type T, `plane` and `point` steps apart.
template <typename T>
struct Planes {
    T* out;
    Long plane, point;

    BOTH void set(int place, int i, float value) const { out[place * plane + i * point] = rounded<T>(value); }

    // Writes one board row, from point `begin`, of the plane that stands at `place`.
    BOTH void set_bits(int place, int begin, int size, int bits) const {
        if (place == ABSENT) return;
        for (int c = 0; c < size; c++) set(place, begin + c, (float)((bits >> c) & 1));
    }

    BOTH void fill(int place, int points, float value) const {
        if (place == ABSENT) return;
        for (int i = 0; i < points; i++) set(place, i, value);
    }
};

// Sets points of one plane to 1.
template <typename T>
struct PlaneMark {
    Planes<T> planes;
    int place;

    BOTH void operator()(int action) const { planes.set(place, action, 1); }
};

// Own and enemy stones of the newest board, of the one before, and so on; last plane: 1 if Black is to move.
template <typename T>
BOTH void board_planes(const int* row, int history, Planes<T> planes) {
    int size = row[SIZE], place = 0;
    bool black_moves = row[TO_PLAY] == BLACK;
    for (int age = 0; age < history; age++) {
        int slot = row[NEWEST] - age;
        if (slot < 0) slot += row[DEPTH];
        int black = row[AT_BOARDS] + 2 * size * slot;
        int own = black_moves ? black : black + size;
        for (int r = 0; r < size; r++) {
            planes.set_bits(place, r * size, size, row[own + r]);
            planes.set_bits(place + 1, r * size, size, row[2 * black + size - own + r]);
        }
        place += 2;
    }
    planes.fill(place, size * size, (float)black_moves);
}

// How many different liberties a chain has: 1, 2, or 3 for any number above.
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

// Sets each stone in the plane of its chain's liberties.
template <typename T>
__device__ inline void write_liberties(const int* row, const Long* places, Planes<T> planes) {
    int size = row[SIZE];
    for (int plane = ONE_LIBERTY; plane <= MORE_LIBERTIES; plane++) planes.fill((int)places[plane], size * size, 0);
    for (int r = 0; r < size; r++)
        for (int left = occupied_bits(row, r); left; left &= left - 1) {
            int head = (r + 1) * (size + 1) + lowest_bit(left) + 1;
            if (row[cell(head) + HEAD] != head) continue;
            int place = (int)places[ONE_LIBERTY + liberties_to_three(row, head) - 1];
            if (place == ABSENT) continue;
            int stone = head;
            do {
                int of = board_row(row, stone);
                planes.set(place, of * size + stone - (of + 1) * (size + 1) - 1, 1);
                stone = row[cell(stone) + NEXT];
            } while (stone != head);
        }
}

// The bits of `forbidden`, points of board row r, that only the ko rule forbids.
__device__ inline int repeating_bits(const int* row, int r, int forbidden) {
    for (int left = forbidden; left; left &= left - 1) {
        int c = lowest_bit(left);
        if (!is_repetition(row, r * row[SIZE] + c)) forbidden &= ~(1 << c);
    }
    return forbidden;
}

// The planes that are bits: stones, forbidden points and regions; the areas are marked already.
template <typename T>
__device__ inline void write_rows(const int* row, const Long* places, Planes<T> planes) {
    int size = row[SIZE];
    int black = row[AT_BOARDS] + 2 * size * row[NEWEST];
    int own = row[TO_PLAY] == BLACK ? black : black + size;
    int enemy = 2 * black + size - own;
    for (int r = 0; r < size; r++) {
        int begin = r * size, empty = empty_bits(row, r);
        int mine = row[row[AT_SCRATCH] + own - black + r], theirs = row[row[AT_SCRATCH] + enemy - black + r];
        int forbidden = empty & ~legal_bits(row, r);
        planes.set_bits((int)places[OWN], begin, size, row[own + r]);
        planes.set_bits((int)places[ENEMY], begin, size, row[enemy + r]);
        planes.set_bits((int)places[FORBIDDEN], begin, size, forbidden);
        planes.set_bits((int)places[OWN_REGION], begin, size, empty & mine & ~theirs);
        planes.set_bits((int)places[ENEMY_REGION], begin, size, empty & theirs & ~mine);
        if (places[KO] != ABSENT) planes.set_bits((int)places[KO], begin, size, repeating_bits(row, r, forbidden));
    }
}

// The pass-alive planes.
template <typename T>
BOTH void write_alive(const int* row, const Long* places, int* scratch, Planes<T> planes) {
    for (int colour = BLACK; colour <= WHITE; colour++) {
        int place = (int)places[colour == row[TO_PLAY] ? OWN_ALIVE : ENEMY_ALIVE];
        if (place == ABSENT) continue;
        planes.fill(place, row[SIZE] * row[SIZE], 0);
        Alive(row, colour, scratch).each(PlaneMark<T>{planes, place});
    }
}

// The planes of the latest three moves, of which a pass has no point.
template <typename T>
BOTH void write_last_moves(const int* row, const Long* places, Planes<T> planes) {
    int points = row[SIZE] * row[SIZE];
    for (int age = 0; age < 3; age++) {
        int action = row[LAST + age], place = (int)places[LAST_MOVE + age];
        planes.fill(place, points, 0);
        if (0 <= action && action < points && place != ABSENT) planes.set(place, action, 1);
    }
}

// Writes a set of planes; `places` says which and where. scratch: the words that `Alive` needs.
template <typename T>
__device__ inline void features(int* row, const Long* places, int* scratch, Planes<T> planes) {
    int points = row[SIZE] * row[SIZE];
    float margin = score(row);
    write_rows(row, places, planes);
    write_liberties(row, places, planes);
    write_alive(row, places, scratch, planes);
    write_last_moves(row, places, planes);
    float komi = (float)row[KOMI2] / 20.0f;
    planes.fill((int)places[ON_BOARD], points, 1);
    planes.fill((int)places[PASSED], points, row[PASSES] > 0);
    planes.fill((int)places[KOMI], points, row[TO_PLAY] == BLACK ? -komi : komi);
    float tens = margin / 10.0f;
    planes.fill((int)places[SCORE], points, tens < -3 ? -3 : tens > 3 ? 3 : tens);
    planes.fill((int)places[AHEAD], points, (float)(margin > 0) - (float)(margin < 0));
    float left = (float)(row[MAX_MOVES] - row[PLY]) / (float)(2 * points);
    planes.fill((int)places[PLIES_LEFT], points, left > 1 ? 1 : left);
}
