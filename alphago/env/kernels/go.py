"""Go on packed rows (see `go_row`): the verbs of one game.

Nothing here checks that an action is legal: ask `legal_mask` first.
"""

import numpy as np

from alphago.env.kernels.go_chains import list_empty, put
from alphago.env.kernels.go_legal import remember
from alphago.env.kernels.go_row import (
    AT_BOARDS,
    AT_FILTER,
    AT_HASHES,
    AT_SCRATCH,
    AT_VACATED,
    BEFORE_HIGH,
    BEFORE_LAST,
    BEFORE_LOW,
    BLACK,
    BOARDS_SEEN,
    BORDER,
    CELL,
    COLOUR,
    DEPTH,
    EMPTY,
    FILTER_BITS,
    HASH_HIGH,
    HASH_LOW,
    HEAD,
    HEADER,
    KO_RULE,
    LAST,
    LIBERTIES_LOW,
    NEWEST,
    NO_ACTION,
    PASSES,
    PER_SIZE,
    PER_STRIDE,
    PLY,
    SIMPLE,
    SITUATIONAL,
    SIZE,
    THIRD_LAST,
    TO_PLAY,
    WHITE,
    cell,
    load_long,
    point_of,
    store_long,
)
from alphago.system.kernels.hashing import mix
from alphago.system.kernels.jit import kernel, load, part, store


@kernel
def lay_out(row):
    """Makes a row of zeros, in which the header's rules are set, the empty board with Black to move."""
    size = load(row, SIZE)
    store(row, PER_SIZE, 65536 // size + 1)
    store(row, PER_STRIDE, 65536 // (size + 1) + 1)
    store(row, TO_PLAY, BLACK)
    for word in range(LAST, THIRD_LAST + 1):
        store(row, word, NO_ACTION)
    points = (size + 1) * (size + 2) + 1
    at = HEADER + CELL * points
    store(row, AT_VACATED, at)
    store(row, AT_SCRATCH, at + size)
    store(row, AT_BOARDS, at + 3 * size)
    at += 3 * size + 2 * size * load(row, DEPTH)
    store(row, AT_FILTER, at)
    store(row, AT_HASHES, at + load(row, FILTER_BITS) // 32)
    for point in range(points):
        store(row, cell(point) + COLOUR, BORDER)
    for action in range(size * size):
        store(row, cell(point_of(row, action)) + COLOUR, EMPTY)
        list_empty(row, point_of(row, action))
    store_long(row, BEFORE_LOW, -1)  # no board
    if load(row, KO_RULE) != SIMPLE:
        remember(row)


@kernel
def set_up(row, colours, to_play):
    """Places stones on an empty board: `colours` int8 [N * N], 1 Black, -1 White; then `to_play` moves.

    Chains that have a liberty in the end have one on the way too (that one, or a point still to be
    filled that leads to it), so nothing is taken; if `misplaced` finds a stone afterwards, the row is
    unfit for play.  The board becomes the first that the ko rule knows; earlier ones stay empty.
    """
    size = load(row, SIZE)
    for action in range(size * size):
        colour = load(colours, action)
        if colour != 0:
            put(row, point_of(row, action), BLACK if colour > 0 else WHITE)
    store(row, TO_PLAY, to_play)
    if load(row, KO_RULE) == SIMPLE:
        return
    store(row, BOARDS_SEEN, 0)
    for i in range(load(row, FILTER_BITS) // 32):
        store(row, load(row, AT_FILTER) + i, 0)
    remember(row)


@kernel
def misplaced(row, colours):
    """An action of `set_up` whose stone was taken or has no liberty, or NO_ACTION."""
    for action in range(load(row, SIZE) * load(row, SIZE)):
        wanted = load(colours, action)
        if wanted != 0:
            at = cell(point_of(row, action))
            if load(row, at + COLOUR) == EMPTY or load_long(row, cell(load(row, at + HEAD)) + LIBERTIES_LOW) == 0:
                return action
    return NO_ACTION


@kernel
def advance_boards(row):
    """Makes the next board of the ring the newest, equal to the one before it."""
    words = 2 * load(row, SIZE)
    depth = load(row, DEPTH)
    if depth == 1:
        return
    newest = load(row, NEWEST)
    after = newest + 1 if newest + 1 < depth else 0
    at = load(row, AT_BOARDS)
    for i in range(words):
        store(row, at + after * words + i, load(row, at + newest * words + i))
    store(row, NEWEST, after)


@kernel
def play(row, action):
    """Plays a legal action for the side to move."""
    size = load(row, SIZE)
    colour = load(row, TO_PLAY)
    rule = load(row, KO_RULE)
    advance_boards(row)
    store(row, TO_PLAY, 3 - colour)
    store(row, BEFORE_LOW, load(row, HASH_LOW))
    store(row, BEFORE_HIGH, load(row, HASH_HIGH))
    if action == size * size:
        store(row, PASSES, load(row, PASSES) + 1)
        if rule == SITUATIONAL:
            remember(row)
    else:
        store(row, PASSES, 0)
        put(row, point_of(row, action), colour)
        if rule != SIMPLE:
            remember(row)
    store(row, PLY, load(row, PLY) + 1)
    store(row, THIRD_LAST, load(row, BEFORE_LAST))
    store(row, BEFORE_LAST, load(row, LAST))
    store(row, LAST, action)


@kernel
def board(row, out):
    """int8 [N * N]: 1 Black, -1 White, 0 empty."""
    for action in range(load(row, SIZE) * load(row, SIZE)):
        colour = load(row, cell(point_of(row, action)) + COLOUR)
        store(out, action, (colour == BLACK) - (colour == WHITE))


@part
def planes(row, history, out, at):
    """Writes 2 * history + 1 planes of N * N floats into `out` from index `at`.

    Own and enemy stones of the newest board, of the one before, and so on (AlphaGo Zero, "Neural
    network architecture"); boards before the start are empty.  Last plane: 1 if Black is to move.
    """
    size = load(row, SIZE)
    depth = load(row, DEPTH)
    black_moves = load(row, TO_PLAY) == BLACK
    for age in range(history):
        slot = load(row, NEWEST) - age
        if slot < 0:
            slot += depth
        black = load(row, AT_BOARDS) + 2 * size * slot
        own = black if black_moves else black + size
        for side in range(2):
            begin = own if side == 0 else 2 * black + size - own
            for r in range(size):
                bits = load(row, begin + r)
                for c in range(size):
                    store(out, at + c, np.float32((bits >> c) & 1))
                at += size
    for i in range(size * size):
        store(out, at + i, np.float32(black_moves))


@kernel
def position_hash(row):
    """A hash of stones, side to move and whether the last move was a pass."""
    return mix(load_long(row, HASH_LOW) ^ (2 * load(row, TO_PLAY) + (load(row, PASSES) > 0)))
