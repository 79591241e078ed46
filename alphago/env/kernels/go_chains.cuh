// Chains, their pseudo-liberties and the list of empty points: twin of go_chains.py.

#pragma once
#include "go_row.cuh"

BOTH Long stone_hash(int point, int colour) { return mix(wrapped_product(2 * point + colour, GOLDEN)); }

// Return a pseudo-liberty at a point as a packed number, of which chains keep the sum.
BOTH Long liberty(int point) { return (1LL << COUNT_BITS) + ((Long)point << SUM_BITS) + point * point; }

BOTH bool is_stone(int colour) { return colour == BLACK || colour == WHITE; }

// Return whether the chain with this head cell has at most one liberty.
BOTH bool in_atari(const int* row, int head) {
    Long liberties = load_long(row, head + LIBERTIES_LOW);
    Long total = (liberties >> SUM_BITS) & ((1LL << (COUNT_BITS - SUM_BITS)) - 1);
    return (liberties >> COUNT_BITS) * (liberties & ((1LL << SUM_BITS) - 1)) == total * total;
}

// Add packed pseudo-liberties to the sum in a head cell.
BOTH void add_liberties(int* row, int head, Long liberties) {
    store_long(row, head + LIBERTIES_LOW, load_long(row, head + LIBERTIES_LOW) + liberties);
}

// Append a point to the list of empty points.
BOTH void list_empty(int* row, int point) {
    int place = row[EMPTY_COUNT]++;
    row[cell(place) + EMPTY_POINT] = point;
    row[cell(point) + PLACE] = place;
}

// Remove a point from the list of empty points, and move the last point of the list to its place.
BOTH void unlist_empty(int* row, int point) {
    int last = --row[EMPTY_COUNT], place = row[cell(point) + PLACE], moved = row[cell(last) + EMPTY_POINT];
    row[cell(place) + EMPTY_POINT] = moved;
    row[cell(moved) + PLACE] = place;
}

// Exchange two entries of the list of empty points.
BOTH void swap_empties(int* row, int a, int b) {
    int point_a = row[cell(a) + EMPTY_POINT], point_b = row[cell(b) + EMPTY_POINT];
    row[cell(a) + EMPTY_POINT] = point_b;
    row[cell(b) + EMPTY_POINT] = point_a;
    row[cell(point_b) + PLACE] = a;
    row[cell(point_a) + PLACE] = b;
}

// Return the cell of the head of a stone's chain.
BOTH int head_of(const int* row, int point) { return cell(row[cell(point) + HEAD]); }

// Join the chains whose heads are the points a and b; the chain with more pseudo-liberties keeps its head.
BOTH void join(int* row, int a, int b) {
    Long of_a = load_long(row, cell(a) + LIBERTIES_LOW), of_b = load_long(row, cell(b) + LIBERTIES_LOW);
    bool keeps_a = of_a >> COUNT_BITS >= of_b >> COUNT_BITS;
    int kept = keeps_a ? a : b, other = keeps_a ? b : a, at = cell(kept), from = cell(other);
    store_long(row, at + LIBERTIES_LOW, of_a + of_b);
    store_long(row, at + CHAIN_LOW, load_long(row, at + CHAIN_LOW) ^ load_long(row, from + CHAIN_LOW));
    int stone = other;
    do {
        row[cell(stone) + HEAD] = kept;
        stone = row[cell(stone) + NEXT];
    } while (stone != other);
    int after = row[at + NEXT];
    row[at + NEXT] = row[from + NEXT];
    row[from + NEXT] = after;
}

// The neighbours of a point, by side: points, colours, and the head points of the stones' chains, 0 where there is no
// stone. All are loaded before any is used, so that loads do not wait for each other.
struct Around {
    int points[4], colours[4], heads[4];

    BOTH Around(const int* row, int point) {
        for (int side = 0; side < 4; side++) {
            points[side] = neighbour(point, side, row[SIZE] + 1);
            colours[side] = row[cell(points[side]) + COLOUR];
            heads[side] = row[cell(points[side]) + HEAD];
        }
        for (int side = 0; side < 4; side++) heads[side] = is_stone(colours[side]) ? heads[side] : 0;
    }

    // Whether the chain on this side is not also on an earlier side.
    BOTH bool is_first(int side) const {
        for (int other = 0; other < side; other++)
            if (heads[other] == heads[side]) return false;
        return true;
    }
};

// Capture the chain with this head point. taker: the colour of the capturing stones, which gain liberties. at_board:
// the index at which the bits of the captured colour begin in the newest board.
BOTH void take(int* row, int head_point, int taker, int at_board) {
    int stone = head_point;
    do {
        Around around(row, stone);
        // The next stone is read first, since `list_empty` overwrites it.
        int at = cell(stone), next_stone = row[at + NEXT], r = board_row(row, stone), bit = point_bit(row, stone, r);
        row[at_board + r] ^= bit;
        row[row[AT_VACATED] + r] |= bit;
        row[at + COLOUR] = EMPTY;
        list_empty(row, stone);
        for (int side = 0; side < 4; side++)
            if (around.colours[side] == taker) add_liberties(row, cell(around.heads[side]), liberty(stone));
        stone = next_stone;
    } while (stone != head_point);  // the chain is a ring
}

// Put a stone on an empty point as a chain of its own, and remove the point from its neighbours' liberties.
// Return 4 bits, one for each side. A bit is set for each enemy chain that has no liberty left; if such a chain lies on
// several sides, it is the bit of the last of them.
BOTH int place_stone(int* row, int point, int colour, const Around& around) {
    Long before[4], liberties = 0;
    for (int side = 0; side < 4; side++) before[side] = load_long(row, cell(around.heads[side]) + LIBERTIES_LOW);
    unlist_empty(row, point);
    int dead = 0;
    for (int side = 0; side < 4; side++) {
        int head = around.heads[side];
        if (around.colours[side] == EMPTY) liberties += liberty(around.points[side]);
        if (head == 0) continue;
        int sides = 0, last = side;  // on how many sides the chain lies, and the last of them
        for (int other = 0; other < 4; other++) {
            sides += around.heads[other] == head;
            if (around.heads[other] == head) last = other;
        }
        Long remaining = before[side] - sides * liberty(point);  // on each side of the chain the same number is stored
        store_long(row, cell(head) + LIBERTIES_LOW, remaining);
        dead |= (int)(around.colours[side] != colour && remaining == 0 && side == last) << side;
    }
    int at = cell(point);
    row[at + COLOUR] = colour;
    row[at + HEAD] = point;
    row[at + NEXT] = point;
    store_long(row, at + LIBERTIES_LOW, liberties);
    store_long(row, at + CHAIN_LOW, stone_hash(point, colour));
    return dead;
}

// Place a stone, join it with its neighbours, and capture chains without liberties: first enemy ones, then its own.
// Updates the newest board, the hash and the list of empty points.
BOTH void put(int* row, int point, int colour) {
    Around around(row, point);
    int size = row[SIZE], at = cell(point), r = board_row(row, point), bit = point_bit(row, point, r);
    int at_black = row[AT_BOARDS] + 2 * size * row[NEWEST], at_white = at_black + size;
    int at_own = colour == BLACK ? at_black : at_white, at_enemy = colour == BLACK ? at_white : at_black;
    Long board_hash = load_long(row, HASH_LOW) ^ stone_hash(point, colour);
    int dead = place_stone(row, point, colour, around);
    row[at_own + r] ^= bit;
    for (int side = 0; side < 4; side++) {
        int near = cell(around.points[side]);
        if (around.colours[side] == colour && row[at + HEAD] != row[near + HEAD])
            join(row, row[at + HEAD], row[near + HEAD]);
    }
    for (int side = 0; side < 4; side++) {
        if (((dead >> side) & 1) == 0) continue;
        board_hash ^= load_long(row, cell(around.heads[side]) + CHAIN_LOW);
        take(row, around.heads[side], colour, at_enemy);
    }
    int head = row[at + HEAD];
    if (load_long(row, cell(head) + LIBERTIES_LOW) == 0) {  // suicide
        board_hash ^= load_long(row, cell(head) + CHAIN_LOW);
        take(row, head, 3 - colour, at_own);
    }
    store_long(row, HASH_LOW, board_hash);
}
