// The ko rules: twin of go_ko.py.

#pragma once
#include "go_chains.cuh"

// Return the number that superko compares: a board's hash, combined with the side to move if situational.
BOTH Long superko_key(const int* row, Long board, int mover) {
    return row[KO_RULE] == SITUATIONAL ? board ^ (mover * SIDE_FACTOR) : board;
}

// Add the current board, with its side to move, to the record for superko.
BOTH void record_board(int* row) {
    Long board = superko_key(row, load_long(row, HASH_LOW), row[TO_PLAY]);
    store_long(row, row[AT_HASHES] + 2 * row[BOARDS_SEEN], board);
    row[BOARDS_SEEN]++;
    int bit = (int)(board & (row[FILTER_BITS] - 1));
    row[row[AT_FILTER] + (bit >> 5)] |= (int)(1u << (bit & 31));
}

// Return whether the ko rule forbids a move that leads to the board with this hash, with `mover` to play.
BOTH bool ko_forbids(const int* row, Long board, int mover) {
    if (row[KO_RULE] == SIMPLE) return board == load_long(row, BEFORE_LOW);
    board = superko_key(row, board, mover);
    int bit = (int)(board & (row[FILTER_BITS] - 1));
    if (((row[row[AT_FILTER] + (bit >> 5)] >> (bit & 31)) & 1) == 0) return false;
    int at = row[AT_HASHES];
    for (int i = 0; i < row[BOARDS_SEEN]; i++)
        if (load_long(row, at + 2 * i) == board) return true;
    return false;
}
