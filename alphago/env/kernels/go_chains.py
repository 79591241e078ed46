"""Chains of stones on Go's packed rows: placing, joining and taking them; and the list of empty points.

Chains are circular lists.  A chain's head counts pseudo-liberties (pairs of a stone and an empty
neighbour) with the sum and the sum of squares of those neighbours: all are the same point exactly
when count * squares == sum * sum, which is how atari is seen without listing liberties.  The three
are one number, so that a liberty comes or goes in one addition.

What is beside a point nobody can foresee, and a branch guessed wrong costs as much as twenty
additions.  So a stone's neighbours are dealt with alike: an empty point or the border stands for
cell 0, which is of no chain, and 0 is added there.
"""

from alphago.env.kernels.go_row import (
    AT_BOARDS,
    AT_VACATED,
    CHAIN_LOW,
    COLOUR,
    COUNT_BITS,
    EMPTIES,
    EMPTY,
    EMPTY_POINT,
    HASH_LOW,
    HEAD,
    LIBERTIES_LOW,
    NEWEST,
    NEXT,
    PLACE,
    SIZE,
    SUM_BITS,
    WHITE,
    board_row,
    cell,
    flip_bit,
    load_long,
    neighbour,
    store_long,
)
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import load, lowest_bit, part, store, wrap


@part
def stone_hash(point, colour):
    return mix(wrap((2 * point + colour) * GOLDEN))


@part
def liberty(point):
    """One pseudo-liberty at this point, as chains sum them up."""
    return (1 << COUNT_BITS) + (point << SUM_BITS) + point * point


@part
def is_stone(colour):
    """1 for Black and White, 0 for empty points and the border."""
    return (colour ^ (colour >> 1)) & 1


@part
def head_of(row, point):
    return cell(load(row, cell(point) + HEAD))


@part
def in_atari(row, head):
    """Whether the chain with this head cell has one liberty (or none)."""
    liberties = load_long(row, head + LIBERTIES_LOW)
    total = (liberties >> SUM_BITS) & ((1 << (COUNT_BITS - SUM_BITS)) - 1)
    return (liberties >> COUNT_BITS) * (liberties & ((1 << SUM_BITS) - 1)) == total * total


@part
def add_liberties(row, head, liberties):
    """Adds a sum of liberties, which may be negative, to a head cell's; returns what it has then."""
    liberties += load_long(row, head + LIBERTIES_LOW)
    store_long(row, head + LIBERTIES_LOW, liberties)
    return liberties


@part
def list_empty(row, point):
    """Appends a point to the list of empty points."""
    place = load(row, EMPTIES)
    store(row, EMPTIES, place + 1)
    store(row, cell(place) + EMPTY_POINT, point)
    store(row, cell(point) + PLACE, place)


@part
def unlist_empty(row, point):
    """Takes a point off the list of empty points, where the last one gets its place."""
    last = load(row, EMPTIES) - 1
    store(row, EMPTIES, last)
    place = load(row, cell(point) + PLACE)
    moved = load(row, cell(last) + EMPTY_POINT)
    store(row, cell(place) + EMPTY_POINT, moved)
    store(row, cell(moved) + PLACE, place)


@part
def swap_empties(row, a, b):
    """Exchanges two places of the list of empty points."""
    point_a = load(row, cell(a) + EMPTY_POINT)
    point_b = load(row, cell(b) + EMPTY_POINT)
    store(row, cell(a) + EMPTY_POINT, point_b)
    store(row, cell(b) + EMPTY_POINT, point_a)
    store(row, cell(point_b) + PLACE, a)
    store(row, cell(point_a) + PLACE, b)


@part
def join(row, a, b):
    """Makes one chain of the two whose heads are the points a and b; the one with fewer liberties takes the other's."""
    at_a = cell(a)
    at_b = cell(b)
    if load_long(row, at_a + LIBERTIES_LOW) >> COUNT_BITS < load_long(row, at_b + LIBERTIES_LOW) >> COUNT_BITS:
        a, b = b, a
        at_a, at_b = at_b, at_a
    add_liberties(row, at_a, load_long(row, at_b + LIBERTIES_LOW))
    store_long(row, at_a + CHAIN_LOW, load_long(row, at_a + CHAIN_LOW) ^ load_long(row, at_b + CHAIN_LOW))
    stone = b
    while True:
        store(row, cell(stone) + HEAD, a)
        stone = load(row, cell(stone) + NEXT)
        if stone == b:
            break
    after_a = load(row, at_a + NEXT)
    store(row, at_a + NEXT, load(row, at_b + NEXT))
    store(row, at_b + NEXT, after_a)


@part
def take(row, head_point, taker, at_board):
    """Takes the chain with this head off the board; `at_board`: its colour's words of the newest board."""
    stride = load(row, SIZE) + 1
    at_vacated = load(row, AT_VACATED)
    stone = head_point
    while True:
        at = cell(stone)
        after = load(row, at + NEXT)
        store(row, at + COLOUR, EMPTY)
        list_empty(row, stone)
        flip_bit(row, at_board, stone)
        r = board_row(row, stone)
        store(row, at_vacated + r, load(row, at_vacated + r) | (1 << (stone - (r + 1) * stride - 1)))
        for side in range(4):
            near = cell(neighbour(stone, side, stride))
            gains = load(row, near + COLOUR) == taker
            add_liberties(row, cell(load(row, near + HEAD) * gains), liberty(stone) * gains)
        stone = after
        if stone == head_point:
            break


@part
def place_stone(row, point, colour):
    """Makes a stone on an empty point a chain of its own, and takes the point from the liberties beside it.

    Returns the sides, as 4 bits, where an enemy chain has no liberty left.
    """
    stride = load(row, SIZE) + 1
    unlist_empty(row, point)
    lost = liberty(point)
    liberties = 0
    dead = 0
    for side in range(4):
        near = neighbour(point, side, stride)
        other = load(row, cell(near) + COLOUR)
        stone = is_stone(other)
        left = add_liberties(row, cell(load(row, cell(near) + HEAD) * stone), -lost * stone)
        dead |= ((other == 3 - colour) & (left == 0)) << side
        liberties += liberty(near) * (other == EMPTY)
    at = cell(point)
    store(row, at + COLOUR, colour)
    store(row, at + HEAD, point)
    store(row, at + NEXT, point)
    store_long(row, at + LIBERTIES_LOW, liberties)
    store_long(row, at + CHAIN_LOW, stone_hash(point, colour))
    return dead


@part
def put(row, point, colour):
    """Places a stone, joins its chains and takes what has no liberty left, the enemy's before its own.

    Keeps bits, hash and the list of empty points in step.
    """
    size = load(row, SIZE)
    stride = size + 1
    at_newest = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST)
    at_own = at_newest + (size if colour == WHITE else 0)
    board = load_long(row, HASH_LOW) ^ stone_hash(point, colour)
    dead = place_stone(row, point, colour)
    flip_bit(row, at_own, point)
    for side in range(4):
        near = cell(neighbour(point, side, stride))
        if load(row, near + COLOUR) == colour:
            mine = load(row, cell(point) + HEAD)
            other = load(row, near + HEAD)
            if mine != other:
                join(row, mine, other)
    while dead:
        near = cell(neighbour(point, lowest_bit(dead), stride))
        dead &= dead - 1
        if load(row, near + COLOUR) != EMPTY:
            head = load(row, near + HEAD)
            board ^= load_long(row, cell(head) + CHAIN_LOW)
            take(row, head, colour, 2 * at_newest + size - at_own)
    head = load(row, cell(point) + HEAD)
    if load_long(row, cell(head) + LIBERTIES_LOW) == 0:
        board ^= load_long(row, cell(head) + CHAIN_LOW)
        take(row, head, 3 - colour, at_own)
    store_long(row, HASH_LOW, board)
