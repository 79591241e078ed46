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

// Add packed pseudo-liberties (negative to remove them) to the sum in a head cell; return the new sum.
BOTH Long add_liberties(int* row, int head, Long liberties) {
    liberties += load_long(row, head + LIBERTIES_LOW);
    store_long(row, head + LIBERTIES_LOW, liberties);
    return liberties;
}

// Append a point to the list of empty points.
BOTH void list_empty(int* row, int point) {
    int place = row[EMPTIES]++;
    row[cell(place) + EMPTY_POINT] = point;
    row[cell(point) + PLACE] = place;
}

// Remove a point from the list of empty points, and move the last point of the list to its place.
BOTH void unlist_empty(int* row, int point) {
    int last = --row[EMPTIES], place = row[cell(point) + PLACE], moved = row[cell(last) + EMPTY_POINT];
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

BOTH int head_of(const int* row, int point) { return cell(row[cell(point) + HEAD]); }

// Join the chains whose heads are the points a and b; the chain with more pseudo-liberties keeps its head.
BOTH void join(int* row, int a, int b) {
    if (load_long(row, cell(a) + LIBERTIES_LOW) >> COUNT_BITS < load_long(row, cell(b) + LIBERTIES_LOW) >> COUNT_BITS) {
        int other = a;
        a = b;
        b = other;
    }
    int at_a = cell(a), at_b = cell(b);
    add_liberties(row, at_a, load_long(row, at_b + LIBERTIES_LOW));
    store_long(row, at_a + CHAIN_LOW, load_long(row, at_a + CHAIN_LOW) ^ load_long(row, at_b + CHAIN_LOW));
    int stone = b;
    do {
        row[cell(stone) + HEAD] = a;
        stone = row[cell(stone) + NEXT];
    } while (stone != b);
    int after_a = row[at_a + NEXT];
    row[at_a + NEXT] = row[at_b + NEXT];
    row[at_b + NEXT] = after_a;
}

// Capture the chain with this head; `at_board`: index of the chain's colour in the newest board.
BOTH void take(int* row, int head_point, int taker, int at_board) {
    int stride = row[SIZE] + 1;
    int stone = head_point;
    do {
        int at = cell(stone), after = row[at + NEXT];
        row[at + COLOUR] = EMPTY;
        list_empty(row, stone);
        flip_bit(row, at_board, stone);
        int r = board_row(row, stone);
        row[row[AT_VACATED] + r] |= point_bit(row, stone, r);
        for (int side = 0; side < 4; side++) {
            int near = neighbour(stone, side, stride);
            if (row[cell(near) + COLOUR] == taker) add_liberties(row, head_of(row, near), liberty(stone));
        }
        stone = after;
    } while (stone != head_point);
}

// Put a stone on an empty point as a chain of its own, and remove the point from its neighbours' liberties.
// Return 4 bits, one per side, set where an enemy chain has no liberty left.
BOTH int place_stone(int* row, int point, int colour) {
    unlist_empty(row, point);
    Long liberties = 0;
    int dead = 0;
    for (int side = 0; side < 4; side++) {
        int near = neighbour(point, side, row[SIZE] + 1);
        int other = row[cell(near) + COLOUR];
        if (is_stone(other)) {
            Long left = add_liberties(row, head_of(row, near), -liberty(point));
            dead |= (int)(other != colour && left == 0) << side;
        }
        if (other == EMPTY) liberties += liberty(near);
    }
    int at = cell(point);
    row[at + COLOUR] = colour;
    row[at + HEAD] = point;
    row[at + NEXT] = point;
    store_long(row, at + LIBERTIES_LOW, liberties);
    store_long(row, at + CHAIN_LOW, stone_hash(point, colour));
    return dead;
}

// Place a stone, join its chains and capture chains without liberties, the enemy's before its own.
// Updates the newest board, the hash and the list of empty points.
BOTH void put(int* row, int point, int colour) {
    int size = row[SIZE], at = cell(point);
    int at_newest = row[AT_BOARDS] + 2 * size * row[NEWEST];
    int at_own = at_newest + (colour == WHITE ? size : 0);
    Long board = load_long(row, HASH_LOW) ^ stone_hash(point, colour);
    int dead = place_stone(row, point, colour);
    flip_bit(row, at_own, point);
    for (int side = 0; side < 4; side++) {
        int near = cell(neighbour(point, side, size + 1));
        if (row[near + COLOUR] == colour && row[at + HEAD] != row[near + HEAD])
            join(row, row[at + HEAD], row[near + HEAD]);
    }
    for (int side = 0; side < 4; side++) {
        int near = cell(neighbour(point, side, size + 1));
        if (((dead >> side) & 1) == 0 || row[near + COLOUR] == EMPTY) continue;
        int head = row[near + HEAD];
        board ^= load_long(row, cell(head) + CHAIN_LOW);
        take(row, head, colour, 2 * at_newest + size - at_own);
    }
    int head = row[at + HEAD];
    if (load_long(row, cell(head) + LIBERTIES_LOW) == 0) {
        board ^= load_long(row, cell(head) + CHAIN_LOW);
        take(row, head, 3 - colour, at_own);
    }
    store_long(row, HASH_LOW, board);
}
