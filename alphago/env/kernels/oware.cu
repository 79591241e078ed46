// Oware: twin of oware.py.

#include "rows.cuh"

// The row index of a side's leftmost house.
BOTH int left_house(int side) { return side == BLACK ? HEADER : HEADER + SIDE; }

// The number of seeds in a side's houses.
BOTH int seeds_of(const int* row, int side) {
    int left = left_house(side), total = 0;
    for (int i = 0; i < SIDE; i++) total += row[left + i];
    return total;
}

// The number of seeds that a side has captured.
BOTH int in_store(const int* row, int side) {
    return (SEEDS - seeds_of(row, BLACK) - seeds_of(row, WHITE) + side * row[MARGIN]) / 2;
}

// A hash of houses and side to move.
BOTH Long board_key(const int* row) {
    Long key = row[TO_PLAY], factor = GOLDEN;
    for (int i = 0; i < HOUSES; i++) {
        factor = wrapped_product(factor, FIRST_FACTOR);
        key = wrapped_sum(key, wrapped_product(factor, row[HEADER + i]));
    }
    return key;
}

// Records the position for the rule of repetition; returns whether it is new since the last capture.
BOTH bool record_position(int* row) {
    Long key = board_key(row);
    int low = (int)key, high = (int)(key >> 32), end = AT_HASHES + 2 * row[SEEN];
    for (int at = end - 4; at >= AT_HASHES; at -= 4)  // two positions back each time: the same side must be to move
        if (row[at] == low && row[at + 1] == high) return false;
    row[end] = low;
    row[end + 1] = high;
    row[SEEN]++;
    return true;
}

// Sows the house with this row index; returns the row index of the house of the last seed.
BOTH int sow(int* row, int house) {
    int seeds = row[house], at = house;
    row[house] = 0;
    while (seeds > 0) {
        if (++at == HEADER + HOUSES) at = HEADER;
        if (at == house) continue;
        row[at]++;
        seeds--;
    }
    return at;
}

// Captures twos and threes from the enemy house `last` backwards, unless that takes all seeds of the enemy.
BOTH void capture(int* row, int last) {
    int mover = row[TO_PLAY], left = left_house(-mover), first = last + 1, captured = 0;
    if (last < left || last >= left + SIDE) return;
    while (first > left && 2 <= row[first - 1] && row[first - 1] <= 3) captured += row[--first];
    if (captured == 0 || captured == seeds_of(row, -mover)) return;
    for (int i = first; i <= last; i++) row[i] = 0;
    row[MARGIN] += mover * captured;
    row[SEEN] = 0;
}

BOTH bool is_legal(const int* row, int action) {
    int seeds = row[left_house(row[TO_PLAY]) + action];
    return !is_over(row) && seeds > 0 && (action + seeds >= SIDE || seeds_of(row, -row[TO_PLAY]) > 0);
}

// Ends the game if it is won, at a repeated position, at the ply limit, or if the mover has no legal move. Unless it is
// won, each side captures the seeds in its houses; at the ply limit only if REMAINDER is set.
BOTH void end_if_decided(int* row) {
    int mover = row[TO_PLAY], margin = row[MARGIN], own = seeds_of(row, mover), enemy = seeds_of(row, -mover);
    bool is_won = margin > own + enemy || -margin > own + enemy;  // more than half of all seeds are in one store
    bool is_repeated = !is_won && (row[OPTIONS] & REPETITION) != 0 && !record_position(row);
    bool at_limit = row[PLY] >= row[LIMIT], can_move = false;
    for (int action = 0; action < SIDE; action++) can_move |= is_legal(row, action);
    if (!is_won && !is_repeated && !at_limit && can_move) return;
    row[OVER] = 1;
    if (is_won || (at_limit && (row[OPTIONS] & REMAINDER) == 0)) return;
    row[MARGIN] += mover * (own - enemy);
    for (int i = 0; i < HOUSES; i++) row[HEADER + i] = 0;
}

BOTH void play(int* row, int action) {
    capture(row, sow(row, left_house(row[TO_PLAY]) + action));
    end_turn(row);
    end_if_decided(row);
}

BOTH bool wins(const int* row, int action, int* scratch) {
    return wins_on_a_copy(row, action, scratch, AT_HASHES + 2 * row[SEEN]);
}

// Writes a number of seeds one-hot at point 0: 1 in one of the `count` planes from `first` on, 0 in the others. The
// last of them is for count - 1 or more seeds.
template <typename T>
BOTH void write_one_hot(int first, int count, int seeds, Planes<T> planes) {
    for (int i = 0; i < count; i++) planes.set(first + i, 0, i == (seeds < count ? seeds : count - 1));
}

// Writes one point of the planes "board", or all numbers of the planes "one-hot", which have a single point.
template <typename T>
BOTH void write_point(const int* row, int point, Planes<T> planes) {
    int mover = row[TO_PLAY], own = left_house(mover), enemy = left_house(-mover);
    if (planes.points == 1) {
        int at_stores = HOUSES * HOUSE_INPUTS;
        for (int i = 0; i < HOUSES; i++)
            write_one_hot(i * HOUSE_INPUTS, HOUSE_INPUTS, row[i < SIDE ? own + i : enemy + i - SIDE], planes);
        write_one_hot(at_stores, STORE_INPUTS, in_store(row, mover), planes);
        write_one_hot(at_stores + STORE_INPUTS, STORE_INPUTS, in_store(row, -mover), planes);
        return;
    }
    int seeds = row[point < SIDE ? enemy + SIDE - 1 - point : own + point - SIDE];
    for (int number = 0; number < EXACT; number++) planes.set(number, point, seeds == number);
    planes.set(EXACT, point, (float)(seeds / 12.0));
    planes.set(EXACT + 1, point, (float)(in_store(row, mover) / (double)SEEDS));
    planes.set(EXACT + 2, point, (float)(in_store(row, -mover) / (double)SEEDS));
    planes.set(EXACT + 3, point, (float)(row[PLY] / (double)row[LIMIT]));
}

BOTH float outcome(const int* row, const double*) {
    int sign = sign_of_margin(row), black = in_store(row, BLACK), white = in_store(row, WHITE);
    if ((row[OPTIONS] & GRADED) == 0) return (float)sign;
    if (sign == 0) return (float)(row[TO_PLAY] * PER_SEED_IN_DRAW * black);
    int more = black > white ? black : white, less = black > white ? white : black, plies_left = row[LIMIT] - row[PLY];
    double value = WIN + PER_PLY_LEFT * plies_left + PER_WINNERS_SEED * more - PER_LOSERS_SEED * less;
    return (float)(sign * (value < 1.0 ? value : 1.0));
}

BOTH int random_action(const int* row, Long* state, bool) { return random_legal(row, SIDE, state); }

#include "row_batch.cuh"
