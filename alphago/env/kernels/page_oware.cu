// Oware on a page.

#include "oware.cu"
#include "page_rows.cuh"

// Sets up the start of a game in a row of zeros; returns the row's number of words. limit: plies at which the game
// ends. repetition, remainder: the rules of OwareEnv, 0 or 1; remainder 1 is "own".
extern "C" int start(int* row, int limit, int repetition, int remainder) {
    begin(row, HOUSES / SIDE, SIDE);
    row[LIMIT] = limit;
    row[OPTIONS] = (repetition ? REPETITION : 0) | (remainder ? REMAINDER : 0);
    for (int i = 0; i < HOUSES; i++) row[HEADER + i] = SEEDS / HOUSES;
    end_if_decided(row);
    return AT_HASHES + 2 * (limit + 1);
}
