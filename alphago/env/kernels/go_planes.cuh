// What a network receives: go_planes.py.

#pragma once
#include "go_alive.cuh"
#include "go_score.cuh"
#include "planes.cuh"

static_assert(ABSENT < 0, "Planes takes a negative place for a plane that was not asked for");
static_assert(PLANES == 20, "a new plane of go_planes.py has to be written here too, in begin_rule_planes or rule_planes");

// Sets points of one plane to 1.
template <typename T>
struct PlaneMark {
    Planes<T> planes;
    int place;

    BOTH void operator()(int action) const { planes.set(place, action, 1); }
};

// A part of: own and enemy stones of the newest board, of the one before, and so on; last plane: 1 if Black is to move.
template <typename T>
BOTH void history_planes(const int* row, int part, int history, Planes<T> planes) {
    int size = row[SIZE], age = part / size, r = part % size;
    bool black_moves = row[TO_PLAY] == BLACK;
    if (age == history) {
        planes.fill(2 * history, size * size, (float)black_moves);
        return;
    }
    int slot = row[NEWEST] - age;
    if (slot < 0) slot += row[DEPTH];
    int black = row[AT_BOARDS] + 2 * size * slot;
    int own = black_moves ? black : black + size;
    planes.set_bits(2 * age, r * size, size, row[own + r]);
    planes.set_bits(2 * age + 1, r * size, size, row[2 * black + size - own + r]);
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

// Sets the stones of all chains whose head is in board row r in the planes of their liberties.
template <typename T>
__device__ inline void write_liberties(const int* row, int r, const Long* places, Planes<T> planes) {
    int size = row[SIZE];
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

// Board row r of the planes that are bits: stones, forbidden points and regions; the areas are marked already.
template <typename T>
__device__ inline void write_row(const int* row, int r, const Long* places, Planes<T> planes) {
    int size = row[SIZE], begin = r * size;
    int black = row[AT_BOARDS] + 2 * size * row[NEWEST];
    int own = row[TO_PLAY] == BLACK ? black : black + size;
    int enemy = 2 * black + size - own;
    int empty = empty_bits(row, r), forbidden = empty & ~legal_bits(row, r);
    int mine = row[row[AT_SCRATCH] + own - black + r], theirs = row[row[AT_SCRATCH] + enemy - black + r];
    planes.set_bits((int)places[OWN], begin, size, row[own + r]);
    planes.set_bits((int)places[ENEMY], begin, size, row[enemy + r]);
    planes.set_bits((int)places[FORBIDDEN], begin, size, forbidden);
    planes.set_bits((int)places[OWN_REGION], begin, size, empty & mine & ~theirs);
    planes.set_bits((int)places[ENEMY_REGION], begin, size, empty & theirs & ~mine);
    if (places[KO] != ABSENT) planes.set_bits((int)places[KO], begin, size, repeating_bits(row, r, forbidden));
}

// Sets what is pass-alive for a colour. scratch: the words that `Alive` needs.
template <typename T>
BOTH void write_alive(const int* row, int colour, const Long* places, int* scratch, Planes<T> planes) {
    int place = (int)places[colour == row[TO_PLAY] ? OWN_ALIVE : ENEMY_ALIVE];
    if (place != ABSENT) Alive(row, colour, scratch).each(PlaneMark<T>{planes, place});
}

// Writes a plane that is the same on all points, or 0 but for points that are set later.
template <typename T>
BOTH void write_background(const int* row, int plane, const Long* places, Planes<T> planes) {
    int points = row[SIZE] * row[SIZE], place = (int)places[plane];
    float komi = (float)row[KOMI2] / 20.0f, left = (float)(row[MAX_MOVES] - row[PLY]) / (float)(2 * points);
    switch (plane) {
        case ON_BOARD: return planes.fill(place, points, 1);
        case PASSED: return planes.fill(place, points, row[PASSES] > 0);
        case KOMI: return planes.fill(place, points, row[TO_PLAY] == BLACK ? -komi : komi);
        case PLIES_LEFT: return planes.fill(place, points, left > 1 ? 1 : left);
        case ONE_LIBERTY:
        case TWO_LIBERTIES:
        case MORE_LIBERTIES:
        case LAST_MOVE:
        case SECOND_LAST_MOVE:
        case THIRD_LAST_MOVE:
        case OWN_ALIVE:
        case ENEMY_ALIVE: planes.fill(place, points, 0);
    }
    if (plane < LAST_MOVE || plane > THIRD_LAST_MOVE || place == ABSENT) return;
    int action = row[LAST + plane - LAST_MOVE];  // a pass has no point
    if (0 <= action && action < points) planes.set(place, action, 1);
}

// A part of what comes before `rule_planes`: the marks of areas for a colour, or a plane's background.
template <typename T>
BOTH void begin_rule_planes(int* row, int part, const Long* places, Planes<T> planes) {
    if (part < 2)
        mark_area(row, part == 0 ? BLACK : WHITE);
    else
        write_background(row, part - 2, places, planes);
}

// A part of a set of planes, of which `places` says which and where: a board row, the score, its sign, or what is alive
// for a colour. scratch: twice the words that `Alive` needs.
template <typename T>
__device__ inline void rule_planes(const int* row, int part, const Long* places, int* scratch, int words,
                                Planes<T> planes) {
    int size = row[SIZE];
    if (part < size) {
        write_row(row, part, places, planes);
        write_liberties(row, part, places, planes);
    } else if (part < size + 2) {
        float margin = mover_margin(row, marked_area(row)), tens = margin / 10.0f;
        if (part == size)
            planes.fill((int)places[SCORE], size * size, tens < -3 ? -3 : tens > 3 ? 3 : tens);
        else
            planes.fill((int)places[AHEAD], size * size, (float)(margin > 0) - (float)(margin < 0));
    } else if (part == size + 2) {
        write_alive(row, BLACK, places, scratch, planes);
    } else {
        write_alive(row, WHITE, places, scratch + words, planes);
    }
}
