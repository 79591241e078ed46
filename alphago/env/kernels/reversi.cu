// Reversi: twin of reversi.py.

#include "rows.cuh"

// How many enemy stones a stone of `mover` would enclose in the direction (down, right).
BOTH int count_enclosed(const int* row, int point, int mover, int down, int right) {
    int size = row[WIDTH], r = point / size + down, c = point % size + right;
    for (int count = 0; 0 <= r && r < size && 0 <= c && c < size; count++, r += down, c += right) {
        int colour = row[HEADER + r * size + c];
        if (colour == mover) return count;
        if (colour == EMPTY) return 0;
    }
    return 0;
}

// Whether a stone of `mover` on this point would enclose enemy stones.
BOTH bool allowed(const int* row, int point, int mover) {
    if (row[HEADER + point] != EMPTY) return false;
    for (int down = -1; down <= 1; down++)
        for (int right = -1; right <= 1; right++)
            if ((down != 0 || right != 0) && count_enclosed(row, point, mover, down, right) > 0) return true;
    return false;
}

// The points directly beyond a line of enemy stones that begins next to an own stone, as bits. crossed: the enemy
// stones that the line may cross. shift: distance in bits of neighbours along the line, in both directions.
BOTH Bits line_ends(Bits own, Bits crossed, int shift) {
    Bits up = crossed & (own << shift), down = crossed & (own >> shift);
    for (int i = 0; i < ROW_BITS - 3; i++) {
        up |= crossed & (up << shift);
        down |= crossed & (down >> shift);
    }
    return (up << shift) | (down >> shift);
}

// The points on which a stone of `mover` would enclose enemy stones, as bits: bit ROW_BITS * row + column. Only for
// boards of up to ROW_BITS points along a side.
BOTH Bits legal_points(const int* row, int mover) {
    Bits own = 0, enemy = 0, empty = 0;
    for (int point = 0; point < points(row); point++) {
        int owner = row[HEADER + point] * mover;
        Bits bit = (Bits)1 << (ROW_BITS * (point / row[WIDTH]) + point % row[WIDTH]);
        own |= owner == 1 ? bit : 0;
        enemy |= owner == -1 ? bit : 0;
        empty |= owner == 0 ? bit : 0;
    }
    // inner: lines along a row or a diagonal cross no stone in the first or last column.
    Bits inner = enemy & (Bits)INNER, ends = line_ends(own, inner, 1) | line_ends(own, enemy, ROW_BITS);
    ends |= line_ends(own, inner, ROW_BITS - 1) | line_ends(own, inner, ROW_BITS + 1);
    return ends & empty;
}

BOTH bool can_move(const int* row, int mover) {
    if (row[WIDTH] <= ROW_BITS) return legal_points(row, mover) != 0;
    for (int point = 0; point < points(row); point++)
        if (allowed(row, point, mover)) return true;
    return false;
}

BOTH void play(int* row, int action) {
    int mover = row[TO_PLAY], size = row[WIDTH];
    if (action < points(row)) {  // otherwise it is a pass, which never ends the game, since the other side can move
        int turned = 0;
        for (int down = -1; down <= 1; down++)
            for (int right = -1; right <= 1; right++) {
                int count = down != 0 || right != 0 ? count_enclosed(row, action, mover, down, right) : 0;
                for (int step = 1; step <= count; step++) row[HEADER + action + step * (down * size + right)] = mover;
                turned += count;
            }
        row[HEADER + action] = mover;
        row[MARGIN] += mover * (2 * turned + 1);
        row[OVER] = !can_move(row, -mover) && !can_move(row, mover);
    }
    end_turn(row);
}

// The pass is legal only if no stone can be placed and the game is not over.
BOTH bool is_legal(const int* row, int action) {
    if (action < points(row)) return allowed(row, action, row[TO_PLAY]);
    return !is_over(row) && !can_move(row, row[TO_PLAY]);
}

BOTH bool wins(const int* row, int action, int* scratch) {
    return wins_on_a_copy(row, action, scratch, HEADER + points(row));
}

BOTH float outcome(const int* row, const double*) { return (float)sign_of_margin(row); }

template <typename T>
BOTH void write_point(const int* row, int point, Planes<T> planes) {
    write_stone(row, point, planes);
    planes.set(2, point, allowed(row, point, row[TO_PLAY]));
    planes.set(3, point, allowed(row, point, -row[TO_PLAY]));
}

// The legal point with so many legal points before it, on a board of up to ROW_BITS points along a side.
__device__ inline int nth_point(Bits legal, int before, int size) {
    for (; before > 0; before--) legal &= legal - 1;
    int bit = lowest_bit(legal);
    return bit / ROW_BITS * size + bit % ROW_BITS;
}

__device__ inline int random_action(const int* row, Long* state, bool) {
    if (row[WIDTH] > ROW_BITS) return random_legal(row, points(row) + 1, state);
    Bits legal = legal_points(row, row[TO_PLAY]);
    int before = (int)((next_random(state) * count_bits(legal)) >> 32);
    return legal == 0 ? points(row) : nth_point(legal, before, row[WIDTH]);
}

#include "row_batch.cuh"
