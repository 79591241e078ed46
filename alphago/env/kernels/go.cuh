// Go on packed rows: the same row, verbs and words as in env/kernels, whose go_row.py, go_chains.py and go.py tell
// how they work.
// Here a row is an int*; constants in capitals are injected from the Python modules.
// Nothing checks that an action is legal.

#pragma once
#include "bits.cuh"

BOTH int cell(int point) { return HEADER + CELL * point; }

BOTH int point_of(const int* row, int action) { return action + ((action * row[PER_SIZE]) >> 16) + row[SIZE] + 2; }

BOTH int board_row(const int* row, int point) { return ((point * row[PER_STRIDE]) >> 16) - 1; }

BOTH int action_of(const int* row, int point) { return point - board_row(row, point) - row[SIZE] - 2; }

// The neighbour of a point on one of 4 sides: left, up, right, down.
BOTH int neighbour(int point, int side, int stride) {
    int step = side & 1 ? stride : 1;
    return point + (side & 2 ? step : -step);
}

BOTH Long stone_hash(int point, int colour) { return mix(wrapped_product(2 * point + colour, GOLDEN)); }

BOTH Long load_long(const int* row, int i) {
    return (Long)(((unsigned long long)(unsigned int)row[i + 1] << 32) | (unsigned int)row[i]);
}

BOTH void store_long(int* row, int i, Long value) {
    row[i] = (int)(unsigned int)(unsigned long long)value;
    row[i + 1] = (int)(value >> 32);
}

// One pseudo-liberty at a point, as chains sum them up.
BOTH Long liberty(int point) { return (1LL << COUNT_BITS) + ((Long)point << SUM_BITS) + point * point; }

BOTH bool is_stone(int colour) { return colour == BLACK || colour == WHITE; }

// Whether the chain with this head cell has one liberty (or none).
BOTH bool in_atari(const int* row, int head) {
    Long liberties = load_long(row, head + LIBERTIES_LOW);
    Long total = (liberties >> SUM_BITS) & ((1LL << (COUNT_BITS - SUM_BITS)) - 1);
    return (liberties >> COUNT_BITS) * (liberties & ((1LL << SUM_BITS) - 1)) == total * total;
}

// Adds a sum of liberties, which may be negative, to a head cell's; returns what it has then.
BOTH Long add_liberties(int* row, int head, Long liberties) {
    liberties += load_long(row, head + LIBERTIES_LOW);
    store_long(row, head + LIBERTIES_LOW, liberties);
    return liberties;
}

// Appends a point to the list of empty points.
BOTH void list_empty(int* row, int point) {
    int place = row[EMPTIES]++;
    row[cell(place) + EMPTY_POINT] = point;
    row[cell(point) + PLACE] = place;
}

// Takes a point off the list of empty points, where the last one gets its place.
BOTH void unlist_empty(int* row, int point) {
    int last = --row[EMPTIES], place = row[cell(point) + PLACE], moved = row[cell(last) + EMPTY_POINT];
    row[cell(place) + EMPTY_POINT] = moved;
    row[cell(moved) + PLACE] = place;
}

// Exchanges two places of the list of empty points.
BOTH void swap_empties(int* row, int a, int b) {
    int point_a = row[cell(a) + EMPTY_POINT], point_b = row[cell(b) + EMPTY_POINT];
    row[cell(a) + EMPTY_POINT] = point_b;
    row[cell(b) + EMPTY_POINT] = point_a;
    row[cell(point_b) + PLACE] = a;
    row[cell(point_a) + PLACE] = b;
}

BOTH int head_of(const int* row, int point) { return cell(row[cell(point) + HEAD]); }

// Makes one chain of the two whose heads are the points a and b; the one with fewer liberties takes the other's.
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

// A point as a bit of its board row r.
BOTH int point_bit(const int* row, int point, int r) { return 1 << (point - (r + 1) * (row[SIZE] + 1) - 1); }

// Sets or clears a point in N row words that begin at `at_board`.
BOTH void flip_bit(int* row, int at_board, int point) {
    int r = board_row(row, point);
    row[at_board + r] ^= point_bit(row, point, r);
}

// Takes the chain with this head off the board; `at_board`: its colour's words of the newest board.
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

// What superko compares: the board's hash, where the rule says so with the side to move.
BOTH Long situation(const int* row, Long board, int mover) {
    return row[KO_RULE] == SITUATIONAL ? board ^ (mover * SIDE_FACTOR) : board;
}

// Enters the present board, with its side to move, into the superko record.
BOTH void remember(int* row) {
    Long board = situation(row, load_long(row, HASH_LOW), row[TO_PLAY]);
    store_long(row, row[AT_HASHES] + 2 * row[BOARDS_SEEN], board);
    row[BOARDS_SEEN]++;
    int bit = (int)(board & (row[FILTER_BITS] - 1));
    row[row[AT_FILTER] + (bit >> 5)] |= (int)(1u << (bit & 31));
}

// Whether the ko rule knows the board with this hash and `mover` to play: whether it may not come back.
BOTH bool occurred(const int* row, Long board, int mover) {
    if (row[KO_RULE] == SIMPLE) return board == load_long(row, BEFORE_LOW);
    board = situation(row, board, mover);
    int bit = (int)(board & (row[FILTER_BITS] - 1));
    if (((row[row[AT_FILTER] + (bit >> 5)] >> (bit & 31)) & 1) == 0) return false;
    int at = row[AT_HASHES];
    for (int i = 0; i < row[BOARDS_SEEN]; i++)
        if (load_long(row, at + 2 * i) == board) return true;
    return false;
}

// Makes a stone on an empty point a chain of its own, and takes the point from the liberties beside it.
// Returns the sides, as 4 bits, where an enemy chain has no liberty left.
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

// Places a stone, joins its chains and takes what has no liberty left, the enemy's before its own.
// Keeps bits, hash and the list of empty points in step.
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

// Makes the next board of the ring the newest, equal to the one before it.
BOTH void advance_boards(int* row) {
    int words = 2 * row[SIZE], depth = row[DEPTH], newest = row[NEWEST];
    if (depth == 1) return;
    int after = newest + 1 < depth ? newest + 1 : 0;
    int at = row[AT_BOARDS];
    for (int i = 0; i < words; i++) row[at + after * words + i] = row[at + newest * words + i];
    row[NEWEST] = after;
}

// Plays a legal action for the side to move.
BOTH void play(int* row, int action) {
    int colour = row[TO_PLAY], rule = row[KO_RULE];
    advance_boards(row);
    row[TO_PLAY] = 3 - colour;
    row[BEFORE_LOW] = row[HASH_LOW];
    row[BEFORE_HIGH] = row[HASH_HIGH];
    if (action == row[SIZE] * row[SIZE]) {
        row[PASSES]++;
        if (rule == SITUATIONAL) remember(row);
    } else {
        row[PASSES] = 0;
        put(row, point_of(row, action), colour);
        if (rule != SIMPLE) remember(row);
    }
    row[PLY]++;
    row[THIRD_LAST] = row[BEFORE_LAST];
    row[BEFORE_LAST] = row[LAST];
    row[LAST] = action;
}

// Enough passes in a row, or the longest game allowed.
BOTH bool is_over(const int* row) { return row[PASSES] >= row[PASSES_TO_END] || row[PLY] >= row[MAX_MOVES]; }

// A hash of stones, side to move and whether the last move was a pass.
BOTH Long position_hash(const int* row) {
    return mix(load_long(row, HASH_LOW) ^ (Long)(2 * row[TO_PLAY] + (row[PASSES] > 0)));
}

// A lane's share of the words that make `target` equal to `source`, up to the last board hash in use.
BOTH void copy(const int* source, int* target, int lane) {
    int words = source[AT_HASHES] + 2 * source[BOARDS_SEEN];
    for (int i = lane; i < words; i += LANES) target[i] = source[i];
}

// Places stones on an empty board (`colours`: 1 Black, -1 White); then `to_play` moves. See the Python twin.
BOTH void set_up(int* row, const signed char* colours, int to_play) {
    int points = row[SIZE] * row[SIZE];
    for (int action = 0; action < points; action++)
        if (colours[action] != 0) put(row, point_of(row, action), colours[action] > 0 ? BLACK : WHITE);
    row[TO_PLAY] = to_play;
    if (row[KO_RULE] == SIMPLE) return;
    row[BOARDS_SEEN] = 0;
    for (int i = 0; i < row[FILTER_BITS] / 32; i++) row[row[AT_FILTER] + i] = 0;
    remember(row);
}

// An action of `set_up` whose stone was taken or has no liberty, or NO_ACTION.
BOTH int misplaced(const int* row, const signed char* colours) {
    for (int action = 0; action < row[SIZE] * row[SIZE]; action++) {
        if (colours[action] == 0) continue;
        int at = cell(point_of(row, action));
        if (row[at + COLOUR] == EMPTY || load_long(row, cell(row[at + HEAD]) + LIBERTIES_LOW) == 0) return action;
    }
    return NO_ACTION;
}
