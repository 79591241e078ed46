// Set up and play one game: twin of go.py.

#pragma once
#include "go_ko.cuh"
#include "python.cuh"
#include "go.py:note_action"

// Copy the newest board to the next place of the ring buffer, and make the copy the newest.
BOTH void advance_boards(int* row) {
    int words = 2 * row[SIZE], depth = row[DEPTH], newest = row[NEWEST];  // words: of a board
    if (depth == 1) return;                                               // no older board is kept
    int target = newest + 1 < depth ? newest + 1 : 0;
    int at = row[AT_BOARDS];
    for (int i = 0; i < words; i++) row[at + target * words + i] = row[at + newest * words + i];
    row[NEWEST] = target;
}

// Play a legal action for the side to move.
BOTH void play(int* row, int action) {
    int colour = row[TO_PLAY], rule = row[KO_RULE];
    advance_boards(row);
    row[TO_PLAY] = 3 - colour;
    row[BEFORE_LOW] = row[HASH_LOW];
    row[BEFORE_HIGH] = row[HASH_HIGH];
    if (action == row[SIZE] * row[SIZE]) {
        row[PASSES]++;
        if (rule == SITUATIONAL) record_board(row);
    } else {
        row[PASSES] = 0;
        put(row, point_of(row, action), colour);
        if (rule != SIMPLE) record_board(row);
    }
    row[PLY]++;
    note_action(row, action);
}

// Return a hash of stones, side to move and whether the last move was a pass.
BOTH Long position_hash(const int* row) {
    return mix(load_long(row, HASH_LOW) ^ (Long)(2 * row[TO_PLAY] + (row[PASSES] > 0)));
}

// Place stones on an empty board (`colours`: 1 Black, -1 White); then `to_play` is to move. See the Python twin.
BOTH void set_up(int* row, const signed char* colours, int to_play) {
    int points = row[SIZE] * row[SIZE];
    for (int action = 0; action < points; action++)
        if (colours[action] != 0) put(row, point_of(row, action), colours[action] > 0 ? BLACK : WHITE);
    row[TO_PLAY] = to_play;
    if (row[KO_RULE] == SIMPLE) return;
    row[BOARDS_SEEN] = 0;
    for (int i = 0; i < row[FILTER_BITS] / 32; i++) row[row[AT_FILTER] + i] = 0;
    record_board(row);
}

// Return the action of a stone that `set_up` could not place: it was captured, or has no liberty. NO_ACTION: none.
BOTH int find_misplaced(const int* row, const signed char* colours) {
    for (int action = 0; action < row[SIZE] * row[SIZE]; action++) {
        if (colours[action] == 0) continue;
        int at = cell(point_of(row, action));
        if (row[at + COLOUR] == EMPTY || load_long(row, cell(row[at + HEAD]) + LIBERTIES_LOW) == 0) return action;
    }
    return NO_ACTION;
}
