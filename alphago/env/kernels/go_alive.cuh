// Pass-alive chains and points (Benson 1976): twin of go_alive.py, with the same scratch words.

#pragma once
#include "go_legal.cuh"

// The search for the pass-alive chains and points of one colour.
struct Alive {
    const int* row;
    int colour;
    int* scratch;
    int begins, open, marks, counts;  // where the parts of the scratch begin, after the points of all regions

    BOTH Alive(const int* row, int colour, int* scratch) : row(row), colour(colour), scratch(scratch) {
        int points = row[SIZE] * row[SIZE];
        begins = points;
        open = 2 * points + 1;
        marks = 3 * points + 1;
        counts = marks + bordered_points();
    }

    BOTH int bordered_points() const { return (row[SIZE] + 1) * (row[SIZE] + 2) + 1; }

    // Append a point to the points scratch[:end] unless it is there already, has a stone of `colour` or is the border.
    BOTH void append(int point, int& end) {
        int other = row[cell(point) + COLOUR];
        if (other == colour || other == BORDER || scratch[marks + point] != 0) return;
        scratch[marks + point] = 1;
        scratch[end++] = point;
    }

    // Divide all points without a stone of `colour` into regions; return their number.
    BOTH int divide() {
        for (int i = 0; i < bordered_points(); i++) scratch[marks + i] = 0;
        int regions = 0, end = 0, visited = 0;  // the neighbours of the points before `visited` have been appended
        for (int action = 0; action < row[SIZE] * row[SIZE]; action++) {
            append(point_of(row, action), end);
            if (visited < end) scratch[begins + regions++] = visited;
            for (; visited < end; visited++)
                for (int side = 0; side < 4; side++) append(neighbour(scratch[visited], side, row[SIZE] + 1), end);
        }
        scratch[begins + regions] = end;
        return regions;
    }

    // Return whether the point is adjacent to the chain with this head point.
    BOTH bool touches(int point, int head) const {
        for (int side = 0; side < 4; side++) {
            int at = cell(neighbour(point, side, row[SIZE] + 1));
            if (row[at + COLOUR] == colour && row[at + HEAD] == head) return true;
        }
        return false;
    }

    // Return whether a chain must touch this point of a region for the region to be vital to the chain.
    BOTH bool has_to_touch(int point) const { return row[SUICIDE] != 0 || row[cell(point) + COLOUR] == EMPTY; }

    // Return whether the region scratch[begin:end] is vital to the chain with this head point.
    BOTH bool is_vital(int head, int begin, int end) const {
        for (int i = begin; i < end; i++)
            if (has_to_touch(scratch[i]) && !touches(scratch[i], head)) return false;
        return true;
    }

    // Add 1 to counts for each chain to which the region is vital; return the number of these chains.
    BOTH int count_vital(int region) {
        int i = scratch[begins + region], end = scratch[begins + region + 1];
        while (i < end && !has_to_touch(scratch[i])) i++;
        if (i == end) return 0;
        // The region is vital only to chains that touch this point, so the chains beside it are the only candidates.
        int count = 0;
        Around around(row, scratch[i]);
        for (int side = 0; side < 4; side++) {
            int head = around.heads[side];
            if (around.colours[side] != colour || !around.is_first(side) || !is_vital(head, i, end)) continue;
            scratch[counts + head]++;
            count++;
        }
        return count;
    }

    // Return whether the region touches a chain with too few vital regions.
    BOTH bool touches_struck_out(int region) const {
        for (int i = scratch[begins + region]; i < scratch[begins + region + 1]; i++)
            for (int side = 0; side < 4; side++) {
                int at = cell(neighbour(scratch[i], side, row[SIZE] + 1));
                if (row[at + COLOUR] == colour && scratch[counts + row[at + HEAD]] < VITAL) return true;
            }
        return false;
    }

    // Run one round: count the vital regions of each chain, and strike out the regions that touch a chain with too few.
    // Return whether a region was struck out.
    BOTH bool strike_out(int regions) {
        for (int i = 0; i < bordered_points(); i++) scratch[counts + i] = 0;
        for (int region = 0; region < regions; region++)
            if (scratch[open + region] != 0) count_vital(region);
        bool any_closed = false;
        for (int region = 0; region < regions; region++)
            if (scratch[open + region] != 0 && touches_struck_out(region)) {
                scratch[open + region] = 0;
                any_closed = true;
            }
        return any_closed;
    }

    // Write `value` at the pass-alive stones and points of `colour`.
    BOTH void mark(signed char value, signed char* out) {
        int size = row[SIZE], regions = divide();
        for (int region = 0; region < regions; region++) scratch[open + region] = 1;
        while (strike_out(regions)) {  // until nothing changes
        }
        for (int action = 0; action < size * size; action++) {
            int at = cell(point_of(row, action));
            if (row[at + COLOUR] == colour && scratch[counts + row[at + HEAD]] >= VITAL) out[action] = value;
        }
        for (int region = 0; region < regions; region++) {
            if (scratch[open + region] == 0 || count_vital(region) == 0) continue;
            for (int i = scratch[begins + region]; i < scratch[begins + region + 1]; i++)
                out[action_of(row, scratch[i])] = value;
        }
    }
};
