"""Area score on Go's packed rows (Tromp and Taylor): stones, and empty points that reach one colour only."""

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_row import occupied_bits
from alphago.system.kernels.jit import count_bits, kernel, load, part, store


@part
def spread(row, at_marks, r, size):
    """Grow the marks of board row r through empty points; return whether they grew.

    Args:
        at_marks: index of the first word of marks; there is one word per board row.
    """
    empty = ~occupied_bits(row, r) & ((1 << size) - 1)
    marks = load(row, at_marks + r)
    if r > 0:
        marks |= load(row, at_marks + r - 1) & empty
    if r + 1 < size:
        marks |= load(row, at_marks + r + 1) & empty
    before = 0
    while before != marks:  # grow along the row by a point each time, until nothing changes
        before = marks
        marks |= ((marks << 1) | (marks >> 1)) & empty
    changed = marks != load(row, at_marks + r)
    store(row, at_marks + r, marks)
    return changed


@part
def reach(row, at_marks, size):
    """Grow the marks from index `at_marks` (a word per board row) to every empty point connected with them."""
    changed = True
    while changed:  # sweeps down and up, until nothing changes
        changed = False
        for r in range(size):
            changed |= spread(row, at_marks, r, size)
        for r in range(size - 1, -1, -1):
            changed |= spread(row, at_marks, r, size)


@part
def mark_areas(row):
    """Mark stones and the empty points that they reach: Black's in N scratch words, White's in the next N words.

    A word has the bits of a board row.
    """
    size = load(row, layout.SIZE)
    at_board = load(row, layout.AT_BOARDS) + 2 * size * load(row, layout.NEWEST)
    at_black = load(row, layout.AT_SCRATCH)
    at_white = at_black + size
    for i in range(2 * size):  # the stones of both colours
        store(row, at_black + i, load(row, at_board + i))
    reach(row, at_black, size)
    reach(row, at_white, size)


@part
def marked_area(row):
    """Return Black's area minus White's, from the marks of `mark_areas`."""
    size = load(row, layout.SIZE)
    at_black = load(row, layout.AT_SCRATCH)
    at_white = at_black + size
    margin = 0
    for r in range(size):
        black = load(row, at_black + r)
        white = load(row, at_white + r)
        margin += count_bits(black & ~white) - count_bits(white & ~black)
    return margin


@part
def area(row):
    """Return Black's area minus White's (Tromp and Taylor: stones, and empty points that reach one colour only)."""
    mark_areas(row)
    return marked_area(row)


@part
def ownership(row, out):
    """Write each point's owner into `out`, N * N numbers: 1 the mover, -1 the other side, 0 neither."""
    size = load(row, layout.SIZE)
    sign = 1 if load(row, layout.TO_PLAY) == layout.BLACK else -1
    mark_areas(row)
    at_black = load(row, layout.AT_SCRATCH)
    at_white = at_black + size
    for r in range(size):
        black = load(row, at_black + r)
        white = load(row, at_white + r)
        black_only = black & ~white
        white_only = white & ~black
        for c in range(size):
            store(out, r * size + c, sign * ((black_only >> c & 1) - (white_only >> c & 1)))


@part
def mover_margin(row, black_area):
    """Return the mover's margin in points, komi included, from Black's area minus White's."""
    margin = np.float32(black_area) - np.float32(load(row, layout.KOMI2)) / np.float32(2)
    return margin if load(row, layout.TO_PLAY) == layout.BLACK else -margin


@kernel
def score(row):
    """Return the mover's margin in points, komi included."""
    return mover_margin(row, area(row))
