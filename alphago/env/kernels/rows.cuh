// The row of the small games: twin of rows.py, which explains its words; here a row is an int*.
// Constants in capitals are injected from the Python modules. Actions are not checked for legality.

#pragma once
#include "bits.cuh"
#include "planes.cuh"

// A game's own file defines these two.
BOTH void play(int* row, int action);
BOTH bool is_legal(const int* row, int action);

BOTH int points(const int* row) { return row[HEIGHT] * row[WIDTH]; }

BOTH int player(const int* row) { return row[TO_PLAY]; }

BOTH bool is_over(const int* row) { return row[OVER] != 0; }

// How many words of a row are in use: here all.
BOTH int words_in_use(const int*, int words) { return words; }

// Counts a ply and gives the turn to the other side.
BOTH void end_turn(int* row) {
    row[PLY]++;
    row[TO_PLAY] = -row[TO_PLAY];
}

// How many stones of its colour follow the stone at row r, column c in one direction.
BOTH int stones_along(const int* row, int r, int c, int down, int right) {
    int height = row[HEIGHT], width = row[WIDTH], colour = row[HEADER + r * width + c], count = 0;
    for (r += down, c += right; 0 <= r && r < height && 0 <= c && c < width; r += down, c += right) {
        if (row[HEADER + r * width + c] != colour) break;
        count++;
    }
    return count;
}

// The number of stones in the longest straight line of one colour through the stone at a point.
BOTH int longest_line(const int* row, int point) {
    int r = point / row[WIDTH], c = point % row[WIDTH], longest = 1;
    for (int direction = 0; direction < 4; direction++) {  // along the row, along the column, and the two diagonals
        int down = direction > 0, right = direction == 0 ? 1 : direction - 2;
        int length = 1 + stones_along(row, r, c, down, right) + stones_along(row, r, c, -down, -right);
        if (length > longest) longest = length;
    }
    return longest;
}

// Places the mover's stone: `connect` stones in a line win, and a full board ends the game.
BOTH void put_stone(int* row, int point, int connect) {
    int mover = row[TO_PLAY];
    row[HEADER + point] = mover;
    end_turn(row);
    bool has_won = longest_line(row, point) >= connect;
    if (has_won) row[MARGIN] = mover;
    row[OVER] = has_won || row[PLY] == points(row);
}

// Whether the mover's stone on an empty point makes a line of `connect` stones; the board is left as it was.
BOTH bool makes_line(int* row, int point, int connect) {
    row[HEADER + point] = row[TO_PLAY];
    int longest = longest_line(row, point);
    row[HEADER + point] = EMPTY;
    return longest >= connect;
}

// Whether a legal action wins at once. copied: scratch memory for the first `words` words of the row, those in use.
BOTH bool wins_on_a_copy(const int* row, int action, int* copied, int words) {
    for (int i = 0; i < words; i++) copied[i] = row[i];
    play(copied, action);
    return is_over(copied) && copied[MARGIN] * row[TO_PLAY] > 0;
}

// A random legal action among the first `actions`, all equally likely; there must be one.
BOTH int random_legal(const int* row, int actions, Long* state) {
    int count = 0, action = 0;
    for (int i = 0; i < actions; i++) count += is_legal(row, i);
    int skipped = (int)((next_random(state) * count) >> 32);  // so many legal actions come before the chosen one
    while (!is_legal(row, action) || skipped-- > 0) action++;
    return action;
}

// Writes one point of planes 0 and 1: whether it has the mover's stone, and the other side's.
template <typename T>
BOTH void write_stone(const int* row, int point, Planes<T> planes) {
    int owner = row[HEADER + point] * row[TO_PLAY];
    planes.set(0, point, owner == 1);
    planes.set(1, point, owner == -1);
}

// A hash of side to move, board and margin.
BOTH Long position_hash(const int* row) {
    Long value = mix(row[TO_PLAY] + 2);
    value = mix(wrapped_sum(value, row[MARGIN]));
    for (int i = 0; i < points(row); i++) value = mix(wrapped_sum(wrapped_product(value, GOLDEN), row[HEADER + i]));
    return value;
}

// The mover's margin if the game ended now.
BOTH float score(const int* row) { return (float)(row[MARGIN] * row[TO_PLAY]); }

// The sign of that margin: 1, 0 or -1.
BOTH int sign_of_margin(const int* row) {
    int margin = row[MARGIN] * row[TO_PLAY];
    return (margin > 0) - (margin < 0);
}

// Writes the owner of the stone on each point: 1 the mover, -1 the other side, 0 for an empty point.
BOTH void ownership(const int* row, signed char* out) {
    for (int i = 0; i < points(row); i++) out[i] = (signed char)(row[HEADER + i] * row[TO_PLAY]);
}
