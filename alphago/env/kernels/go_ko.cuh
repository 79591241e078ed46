// The ko rules: twin of go_ko.py.

#pragma once
#include "go_chains.cuh"

// Return the number by which superko compares boards: the board's hash; if situational, combined with the mover.
BOTH Long superko_key(const int* row, Long board_hash, int mover) {
    return row[KO_RULE] == SITUATIONAL ? board_hash ^ (mover * SIDE_FACTOR) : board_hash;
}

// Add the current board, with its side to move, to the record for superko.
BOTH void record_board(int* row) {
    Long key = superko_key(row, load_long(row, HASH_LOW), row[TO_PLAY]);
    store_long(row, row[AT_HASHES] + 2 * row[BOARDS_SEEN], key);
    row[BOARDS_SEEN]++;
    int bit = (int)(key & (row[FILTER_BITS] - 1));
    row[row[AT_FILTER] + (bit >> 5)] |= (int)(1u << (bit & 31));  // 32 bits a word
}

// Return whether the ko rule forbids a move. board_hash: of the board after the move. mover: the side to move after it.
BOTH bool ko_forbids(const int* row, Long board_hash, int mover) {
    if (row[KO_RULE] == SIMPLE) return board_hash == load_long(row, BEFORE_LOW);
    Long key = superko_key(row, board_hash, mover);
    int bit = (int)(key & (row[FILTER_BITS] - 1));
    if (((row[row[AT_FILTER] + (bit >> 5)] >> (bit & 31)) & 1) == 0) return false;  // the board is certainly new
    int at = row[AT_HASHES];
    for (int i = 0; i < row[BOARDS_SEEN]; i++)
        if (load_long(row, at + 2 * i) == key) return true;
    return false;
}
