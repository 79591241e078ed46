"""Chains of stones on Go's packed rows: placing, joining and taking them.

Chains are circular lists.  A chain's head counts pseudo-liberties (pairs of a stone and an empty
neighbour) with the sum and the sum of squares of those neighbours: all are the same point exactly
when count * squares == sum * sum, which is how atari is seen without listing liberties.
"""

from alphago.env.kernels.go_row import (
    AT_BOARDS,
    AT_VACATED,
    BORDER,
    CHAIN_LOW,
    COLOUR,
    EMPTY,
    HASH_LOW,
    HEAD,
    LIBERTIES,
    NEWEST,
    NEXT,
    SIZE,
    SQUARES,
    SUM,
    WHITE,
    board_row,
    cell,
    flip_bit,
    load_long,
    store_long,
)
from alphago.env.kernels.hashing import GOLDEN, mix
from alphago.env.kernels.jit import kernel, load, store, wrap


@kernel
def stone_hash(point, colour):
    return mix(wrap((2 * point + colour) * GOLDEN))


@kernel
def head_of(row, point):
    return cell(load(row, cell(point) + HEAD))


@kernel
def in_atari(row, head):
    """Whether the chain with this head cell has one liberty (or none)."""
    total = load(row, head + SUM)
    return load(row, head + LIBERTIES) * load(row, head + SQUARES) == total * total


@kernel
def add_liberty(row, head, point, count):
    store(row, head + LIBERTIES, load(row, head + LIBERTIES) + count)
    store(row, head + SUM, load(row, head + SUM) + count * point)
    store(row, head + SQUARES, load(row, head + SQUARES) + count * point * point)


@kernel
def join(row, a, b):
    """Makes one chain of the two whose heads are the points a and b; the smaller takes the other's head."""
    if load(row, cell(a) + LIBERTIES) < load(row, cell(b) + LIBERTIES):
        a, b = b, a
    at_a = cell(a)
    at_b = cell(b)
    for word in range(LIBERTIES, SQUARES + 1):
        store(row, at_a + word, load(row, at_a + word) + load(row, at_b + word))
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


@kernel
def take(row, head_point, taker, at_board):
    """Takes the chain with this head off the board; `at_board`: its colour's words of the newest board."""
    stride = load(row, SIZE) + 1
    at_vacated = load(row, AT_VACATED)
    stone = head_point
    while True:
        at = cell(stone)
        store(row, at + COLOUR, EMPTY)
        flip_bit(row, at_board, stone)
        r = board_row(row, stone)
        store(row, at_vacated + r, load(row, at_vacated + r) | (1 << (stone - (r + 1) * stride - 1)))
        for side in range(4):
            step = stride if side & 1 else 1
            near = stone + (step if side & 2 else -step)
            if load(row, cell(near) + COLOUR) == taker:
                add_liberty(row, head_of(row, near), stone, 1)
        stone = load(row, at + NEXT)
        if stone == head_point:
            break


@kernel
def put(row, point, colour):
    """Places a stone, joins its chains and takes what has no liberty left, the enemy's before its own.

    Keeps bits and hash in step.
    """
    size = load(row, SIZE)
    stride = size + 1
    at_newest = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST)
    board = load_long(row, HASH_LOW)
    stone = stone_hash(point, colour)
    at = cell(point)
    store(row, at + COLOUR, colour)
    store(row, at + HEAD, point)
    store(row, at + NEXT, point)
    store(row, at + LIBERTIES, 0)
    store(row, at + SUM, 0)
    store(row, at + SQUARES, 0)
    store_long(row, at + CHAIN_LOW, stone)
    flip_bit(row, at_newest + (size if colour == WHITE else 0), point)
    for side in range(4):
        step = stride if side & 1 else 1
        near = point + (step if side & 2 else -step)
        other = load(row, cell(near) + COLOUR)
        if other == EMPTY:
            add_liberty(row, at, near, 1)
        elif other != BORDER:
            add_liberty(row, head_of(row, near), point, -1)
    for side in range(4):
        step = stride if side & 1 else 1
        near = point + (step if side & 2 else -step)
        if load(row, cell(near) + COLOUR) == colour:
            mine = load(row, at + HEAD)
            other = load(row, cell(near) + HEAD)
            if mine != other:
                join(row, mine, other)
    board ^= stone
    enemy = 3 - colour
    for side in range(4):
        step = stride if side & 1 else 1
        near = point + (step if side & 2 else -step)
        if load(row, cell(near) + COLOUR) == enemy:
            head = load(row, cell(near) + HEAD)
            if load(row, cell(head) + LIBERTIES) == 0:
                board ^= load_long(row, cell(head) + CHAIN_LOW)
                take(row, head, colour, at_newest + (size if enemy == WHITE else 0))
    head = load(row, at + HEAD)
    if load(row, cell(head) + LIBERTIES) == 0:
        board ^= load_long(row, cell(head) + CHAIN_LOW)
        take(row, head, enemy, at_newest + (size if colour == WHITE else 0))
    store_long(row, HASH_LOW, board)
