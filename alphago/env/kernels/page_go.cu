// What a page needs for Go besides the kernels of a batch.

#include "go_katago.cu"
#include "go.py:lay_out"

// Sets up the empty board in a row of zeros; returns the row's number of words. Twin of GoEnv.start of go.py.
// ko: SIMPLE, POSITIONAL or SITUATIONAL. max_moves: most plies of a game. passes: how many in a row end the game.
// komi2: twice the komi. further: how many actions older than the third last the row keeps.
extern "C" int start(int* row, int size, int depth, int ko, int suicide, int max_moves, int passes, int komi2,
                     int further) {
    // boards: the most of a game; usual: the most of a usual game, for which the filter is made, as in `filter_bits`.
    int boards = max_moves + 1, usual = 4 * size * size, filter = ko == SIMPLE ? 0 : 256;
    while (filter > 0 && filter < 16 * (boards < usual ? boards : usual)) filter *= 2;
    row[SIZE] = size;
    row[DEPTH] = depth;
    row[KO_RULE] = ko;
    row[SUICIDE] = suicide;
    row[MAX_MOVES] = max_moves;
    row[PASSES_TO_END] = passes;
    row[KOMI2] = komi2;
    row[FURTHER_LAST_MOVES] = further;
    row[FILTER_BITS] = filter;
    lay_out(row);
    return row[AT_HASHES] + (ko == SIMPLE ? 0 : 2 * boards);
}

// Whether the mover may play on any point, by the rules of ko and suicide and since it is empty.
BOTH bool allowed(const int* row, int point, bool check_repetition) {
    return row[cell(point) + COLOUR] == EMPTY && allowed(row, point, row[TO_PLAY], check_repetition);
}

// A kernel that writes a number for each point of a board; out: [n, N * N] of type T. NUMBER is an expression of `row`,
// `point`, its cell's index `at`, and its `colour`.
#define POINTS_KERNEL(NAME, T, NUMBER)                                                           \
    KERNEL NAME##_batch(int* rows, Long words, const Long* slots, Long n, T* out, Long points) { \
        EACH_POINT(i, action, n, points) {                                                       \
            const int* row = ROW;                                                                \
            int point = point_of(row, (int)action), at = cell(point), colour = row[at + COLOUR]; \
            out[i * points + action] = (T)(NUMBER);                                              \
        }                                                                                        \
    }

POINTS_KERNEL(board, signed char, (colour == BLACK) - (colour == WHITE))
POINTS_KERNEL(chains, int, is_stone(colour) ? row[at + HEAD] : 0)
POINTS_KERNEL(own_eyes, bool, colour == EMPTY && is_own_eye(row, point, row[TO_PLAY]))
POINTS_KERNEL(repeating, bool, allowed(row, point, false) && !allowed(row, point, true))  // ko alone forbids them
// Whether a stone's chain has two stones and two liberties.
POINTS_KERNEL(joined_and_free, bool, is_stone(colour) && row[at + NEXT] != point && !in_atari(row, head_of(row, point)))
