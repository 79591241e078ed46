// Go on packed rows: the same row, verbs and words as in env/kernels, whose go_row.py, go_chains.py and go.py tell
// how they work.
// Here a row is an int*; constants in capitals are injected from the Python modules.
// Nothing checks that an action is legal.

#pragma once
#include "bits.cuh"

BOTH int cell(int point) { return HEADER + CELL * point; }

BOTH int point_of(const int* row, int action) { return action + ((action * row[PER_SIZE]) >> 16) + row[SIZE] + 2; }

BOTH int board_row(const int* row, int point) { return ((point * row[PER_STRIDE]) >> 16) - 1; }

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

// Whether the chain with this head cell has one liberty (or none).
BOTH bool in_atari(const int* row, int head) {
    Long total = row[head + SUM];
    return (Long)row[head + LIBERTIES] * row[head + SQUARES] == total * total;
}

BOTH void add_liberty(int* row, int head, int point, int count) {
    row[head + LIBERTIES] += count;
    row[head + SUM] += count * point;
    row[head + SQUARES] += count * point * point;
}

BOTH int head_of(const int* row, int point) { return cell(row[cell(point) + HEAD]); }

// Makes one chain of the two whose heads are the points a and b; the one with fewer liberties takes the other's head.
BOTH void join(int* row, int a, int b) {
    if (row[cell(a) + LIBERTIES] < row[cell(b) + LIBERTIES]) {
        int other = a;
        a = b;
        b = other;
    }
    int at_a = cell(a), at_b = cell(b);
    for (int word = LIBERTIES; word <= SQUARES; word++) row[at_a + word] += row[at_b + word];
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
        int at = cell(stone);
        row[at + COLOUR] = EMPTY;
        flip_bit(row, at_board, stone);
        int r = board_row(row, stone);
        row[row[AT_VACATED] + r] |= point_bit(row, stone, r);
        for (int side = 0; side < 4; side++) {
            int near = neighbour(stone, side, stride);
            if (row[cell(near) + COLOUR] == taker) add_liberty(row, head_of(row, near), stone, 1);
        }
        stone = row[at + NEXT];
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

// A chain of one stone, with the liberties around it; its neighbours lose the one that it fills.
BOTH void add_stone(int* row, int point, int colour) {
    int stride = row[SIZE] + 1, at = cell(point);
    row[at + COLOUR] = colour;
    row[at + HEAD] = point;
    row[at + NEXT] = point;
    row[at + LIBERTIES] = 0;
    row[at + SUM] = 0;
    row[at + SQUARES] = 0;
    store_long(row, at + CHAIN_LOW, stone_hash(point, colour));
    for (int side = 0; side < 4; side++) {
        int near = neighbour(point, side, stride);
        int other = row[cell(near) + COLOUR];
        if (other == EMPTY)
            add_liberty(row, at, near, 1);
        else if (other != BORDER)
            add_liberty(row, head_of(row, near), point, -1);
    }
    for (int side = 0; side < 4; side++) {
        int near = neighbour(point, side, stride);
        if (row[cell(near) + COLOUR] == colour && row[at + HEAD] != row[cell(near) + HEAD])
            join(row, row[at + HEAD], row[cell(near) + HEAD]);
    }
}

// Places a stone, joins its chains and takes what has no liberty left, the enemy's before its own.
// Keeps bits and hash in step.
BOTH void put(int* row, int point, int colour) {
    int size = row[SIZE], enemy = 3 - colour;
    int at_newest = row[AT_BOARDS] + 2 * size * row[NEWEST];
    int at_own = at_newest + (colour == WHITE ? size : 0);
    int at_enemy = at_newest + (enemy == WHITE ? size : 0);
    Long board = load_long(row, HASH_LOW) ^ stone_hash(point, colour);
    add_stone(row, point, colour);
    flip_bit(row, at_own, point);
    for (int side = 0; side < 4; side++) {
        int near = neighbour(point, side, size + 1);
        if (row[cell(near) + COLOUR] != enemy) continue;
        int head = row[cell(near) + HEAD];
        if (row[cell(head) + LIBERTIES] == 0) {
            board ^= load_long(row, cell(head) + CHAIN_LOW);
            take(row, head, colour, at_enemy);
        }
    }
    int head = row[cell(point) + HEAD];
    if (row[cell(head) + LIBERTIES] == 0) {
        board ^= load_long(row, cell(head) + CHAIN_LOW);
        take(row, head, enemy, at_own);
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

// Makes `target` equal to `source`, up to the last board hash in use.
BOTH void copy(const int* source, int* target) {
    int words = source[AT_HASHES] + 2 * source[BOARDS_SEEN];
    for (int i = 0; i < words; i++) target[i] = source[i];
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
        int at = cell(point_of(row, action));
        if (colours[action] != 0 && (row[at + COLOUR] == EMPTY || row[cell(row[at + HEAD]) + LIBERTIES] == 0))
            return action;
    }
    return NO_ACTION;
}
