"""Chains of stones on Go's packed rows: place, join and capture them; and the list of empty points.

Chains are circular lists.  A chain's head counts pseudo-liberties (pairs of a stone and an empty
neighbour), with the sum and the sum of squares of those neighbours.  The chain has a single liberty exactly
if count * squares == sum * sum, which detects atari without listing liberties.  The three numbers are
packed into one, so that a liberty is added or removed by one addition.

The colours around a point are unpredictable, and a mispredicted branch costs as much as twenty additions, so the code
avoids branches: for an empty neighbour or the border it adds 0 to cell 0, which belongs to no chain.
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_row import board_row, cell, flip_bit, load_long, neighbour, point_bit, store_long
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import load, lowest_bit, part, store, wrap


@part
def stone_hash(point, colour):
    """Return the hash of a stone; the hash of a board or a chain combines its stones by exclusive or."""
    return mix(wrap((2 * point + colour) * GOLDEN))


@part
def liberty(point):
    """Return the packed number of one pseudo-liberty at this point; a chain keeps their sum (see the module)."""
    return (1 << layout.COUNT_BITS) + (point << layout.SUM_BITS) + point * point


@part
def is_stone(colour):
    """Return 1 for BLACK and WHITE (1 and 2), 0 for EMPTY and BORDER (0 and 3), without a branch."""
    return (colour ^ (colour >> 1)) & 1


@part
def in_atari(row, at_head):
    """Return whether a chain has at most one liberty; at_head: the index in the row of the cell of its head.

    That is so if all its pseudo-liberties are the same point: only then the square of the sum of their points equals
    their count times the sum of squares.
    """
    liberties = load_long(row, at_head + layout.LIBERTIES_LOW)
    # The sum of squares begins at bit 0, the sum of points at bit SUM_BITS (31), and the count at bit COUNT_BITS (52).
    squares = liberties & ((1 << layout.SUM_BITS) - 1)
    sum_of_points = (liberties >> layout.SUM_BITS) & ((1 << (layout.COUNT_BITS - layout.SUM_BITS)) - 1)
    count = liberties >> layout.COUNT_BITS
    return count * squares == sum_of_points * sum_of_points


@part
def count_beside(row, point, colour):
    """Return the number of neighbours of a point that have a colour, which may be EMPTY."""
    stride = load(row, layout.SIZE) + 1
    count = 0
    for side in range(4):
        count += load(row, cell(neighbour(point, side, stride)) + layout.COLOUR) == colour
    return count


@part
def add_liberties(row, at_head, liberties):
    """Add packed pseudo-liberties (negative to remove them) to the sum of a chain; return the new sum.

    Args:
        at_head: the index in the row of the cell of the chain's head.
    """
    liberties += load_long(row, at_head + layout.LIBERTIES_LOW)
    store_long(row, at_head + layout.LIBERTIES_LOW, liberties)
    return liberties


@part
def list_empty(row, point):
    """Append a point to the list of empty points.

    The list is spread over the cells: cell number i has the entry i of the list, in its word EMPTY_POINT.  The cell of
    the point itself gets the point's place in the list, in its word PLACE.
    """
    place = load(row, layout.EMPTY_COUNT)
    store(row, layout.EMPTY_COUNT, place + 1)
    store(row, cell(place) + layout.EMPTY_POINT, point)
    store(row, cell(point) + layout.PLACE, place)


@part
def unlist_empty(row, point):
    """Remove a point from the list of empty points, and move the last point of the list to its place."""
    last = load(row, layout.EMPTY_COUNT) - 1
    store(row, layout.EMPTY_COUNT, last)
    place = load(row, cell(point) + layout.PLACE)
    moved = load(row, cell(last) + layout.EMPTY_POINT)
    store(row, cell(place) + layout.EMPTY_POINT, moved)
    store(row, cell(moved) + layout.PLACE, place)


@part
def swap_empties(row, a, b):
    """Exchange the points at places `a` and `b` of the list of empty points."""
    point_a = load(row, cell(a) + layout.EMPTY_POINT)
    point_b = load(row, cell(b) + layout.EMPTY_POINT)
    store(row, cell(a) + layout.EMPTY_POINT, point_b)
    store(row, cell(b) + layout.EMPTY_POINT, point_a)
    store(row, cell(point_b) + layout.PLACE, a)
    store(row, cell(point_a) + layout.PLACE, b)


@part
def join(row, a, b):
    """Join the chains whose heads are the points `a` and `b`; the chain with more pseudo-liberties keeps its head."""
    at_a = cell(a)
    at_b = cell(b)
    # The count of a chain's pseudo-liberties begins at bit COUNT_BITS.
    count_a = load_long(row, at_a + layout.LIBERTIES_LOW) >> layout.COUNT_BITS
    count_b = load_long(row, at_b + layout.LIBERTIES_LOW) >> layout.COUNT_BITS
    if count_a < count_b:  # the chain of `b`, whose stones get another head, should be the smaller one
        a, b = b, a
        at_a, at_b = at_b, at_a
    add_liberties(row, at_a, load_long(row, at_b + layout.LIBERTIES_LOW))
    chain_hash = load_long(row, at_a + layout.CHAIN_LOW) ^ load_long(row, at_b + layout.CHAIN_LOW)
    store_long(row, at_a + layout.CHAIN_LOW, chain_hash)
    stone = b
    while True:
        store(row, cell(stone) + layout.HEAD, a)
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == b:
            break
    # The two circles become one: the stone after each head is exchanged with the stone after the other head.
    after_a = load(row, at_a + layout.NEXT)
    store(row, at_a + layout.NEXT, load(row, at_b + layout.NEXT))
    store(row, at_b + layout.NEXT, after_a)


@part
def take(row, head_point, taker, at_board):
    """Capture the chain of stones with this head point: its points become empty, and are marked as vacated.

    Args:
        taker: the colour of the capturing stones, which gain liberties.
        at_board: row index at which the bits of the captured colour begin in the newest board.
    """
    stride = load(row, layout.SIZE) + 1
    at_vacated = load(row, layout.AT_VACATED)
    stone = head_point
    while True:
        at = cell(stone)
        next_stone = load(row, at + layout.NEXT)  # read now: `list_empty` overwrites it with PLACE
        store(row, at + layout.COLOUR, layout.EMPTY)
        list_empty(row, stone)
        flip_bit(row, at_board, stone)
        r = board_row(row, stone)
        store(row, at_vacated + r, load(row, at_vacated + r) | point_bit(row, stone, r))
        for side in range(4):
            at_near = cell(neighbour(stone, side, stride))
            gains = load(row, at_near + layout.COLOUR) == taker
            near_head = load(row, at_near + layout.HEAD) * gains
            add_liberties(row, cell(near_head), liberty(stone) * gains)  # without a gain, 0 is added to cell 0
        stone = next_stone
        if stone == head_point:  # the chain is a ring
            break


@part
def place_stone(row, point, colour):
    """Put a stone on an empty point as a chain of its own, and remove the point from the liberties of its neighbours.

    Returns:
        4 bits, one for each side.  One bit is set for each enemy chain that has no liberty left.  If such a chain lies
        on several sides, it is the bit of the last of them: each side takes a pseudo-liberty, and only then none is
        left.
    """
    stride = load(row, layout.SIZE) + 1
    enemy = 3 - colour
    lost = liberty(point)
    liberties = 0
    dead = 0
    for side in range(4):
        near = neighbour(point, side, stride)
        near_colour = load(row, cell(near) + layout.COLOUR)
        has_stone = is_stone(near_colour)
        near_head = load(row, cell(near) + layout.HEAD) * has_stone
        remaining = add_liberties(row, cell(near_head), -lost * has_stone)  # without a stone, 0 is added to cell 0
        dead |= ((near_colour == enemy) & (remaining == 0)) << side
        liberties += liberty(near) * (near_colour == layout.EMPTY)
    at = cell(point)
    store(row, at + layout.COLOUR, colour)
    store(row, at + layout.HEAD, point)
    store(row, at + layout.NEXT, point)
    store_long(row, at + layout.LIBERTIES_LOW, liberties)
    store_long(row, at + layout.CHAIN_LOW, stone_hash(point, colour))
    return dead


@part
def put(row, point, colour):
    """Place a stone, join it with its neighbours, and capture chains without liberties: first enemy ones, then its own.

    Updates the newest board, the hash and the list of empty points; whose turn it is and the ply stay.
    """
    size = load(row, layout.SIZE)
    stride = size + 1
    at_black = load(row, layout.AT_BOARDS) + 2 * size * load(row, layout.NEWEST)
    at_white = at_black + size
    at_own, at_enemy = (at_black, at_white) if colour == layout.BLACK else (at_white, at_black)
    board_hash = load_long(row, layout.HASH_LOW) ^ stone_hash(point, colour)
    unlist_empty(row, point)
    # Bit i of `dead` is set if on side i of the point there is an enemy chain without liberties, once for each chain.
    dead = place_stone(row, point, colour)
    flip_bit(row, at_own, point)
    for side in range(4):
        at_near = cell(neighbour(point, side, stride))
        if load(row, at_near + layout.COLOUR) == colour:
            head = load(row, cell(point) + layout.HEAD)
            near_head = load(row, at_near + layout.HEAD)
            if head != near_head:
                join(row, head, near_head)
    while dead:
        at_near = cell(neighbour(point, lowest_bit(dead), stride))
        dead &= dead - 1  # clears the lowest bit
        near_head = load(row, at_near + layout.HEAD)
        board_hash ^= load_long(row, cell(near_head) + layout.CHAIN_LOW)
        take(row, near_head, colour, at_enemy)
    head = load(row, cell(point) + layout.HEAD)
    if load_long(row, cell(head) + layout.LIBERTIES_LOW) == 0:  # suicide
        enemy = 3 - colour
        board_hash ^= load_long(row, cell(head) + layout.CHAIN_LOW)
        take(row, head, enemy, at_own)
    store_long(row, layout.HASH_LOW, board_hash)
