"""The planes that networks learn Go from fastest: stones, liberties, last moves, areas, komi and score.

A network sees AlphaGo Zero's history planes and has to find out about liberties, superko and area by itself;
here the rules say it.  Nothing in these planes is knowledge beyond the rules.
"""

import numpy as np

from alphago.env.kernels.go import (
    AT_BOARDS,
    AT_SCRATCH,
    BLACK,
    BORDER,
    COLOUR,
    EMPTY,
    HEAD,
    KOMI2,
    LAST,
    NEWEST,
    NEXT,
    NO_ACTION,
    PASSES,
    SIZE,
    TO_PLAY,
    board_row,
    cell,
    legal_bits,
    mark_areas,
    marked_area,
    mover_margin,
    occupied_bits,
    point_of,
)
from alphago.env.kernels.jit import kernel, load, store

# Planes, all from the mover's view.
OWN, ENEMY = 0, 1
ONE_LIBERTY, TWO_LIBERTIES, MORE_LIBERTIES = 2, 3, 4  # chains of either colour
FORBIDDEN = 5  # empty points where the mover may not play: suicide, superko
LAST_MOVE = 6  # and 7, 8: where the latest three moves were played
OWN_REGION, ENEMY_REGION = 9, 10  # empty regions that touch stones of one side only
ON_BOARD = 11  # ones
PASSED = 12  # all ones if the last move was a pass
KOMI = 13  # the mover's komi in tens of points
SCORE = 14  # the mover's margin if the game ended here, in tens of points, -3 to 3
AHEAD = 15  # its sign
PLANES = 16


@kernel
def liberties_to_three(row, head_point):
    """How many different liberties a chain has: 1, 2, or 3 for any number above."""
    stride = load(row, SIZE) + 1
    first = second = NO_ACTION
    stone = head_point
    while True:
        for side in range(4):
            step = stride if side & 1 else 1
            near = stone + (step if side & 2 else -step)
            if load(row, cell(near) + COLOUR) == EMPTY and near != first and near != second:
                if first == NO_ACTION:
                    first = near
                elif second == NO_ACTION:
                    second = near
                else:
                    return 3
        stone = load(row, cell(stone) + NEXT)
        if stone == head_point:
            return 1 if second == NO_ACTION else 2


@kernel
def write_liberties(row, out, at):
    """Sets each stone in the plane of its chain's liberties; `at`: where ONE_LIBERTY begins, all zeros."""
    size = load(row, SIZE)
    points = size * size
    for action in range(points):
        point = point_of(row, action)
        colour = load(row, cell(point) + COLOUR)
        if colour == EMPTY or colour == BORDER or load(row, cell(point) + HEAD) != point:
            continue
        begin = at + points * (liberties_to_three(row, point) - 1)
        stone = point
        while True:
            r = board_row(row, stone)
            store(out, begin + r * size + stone - (r + 1) * (size + 1) - 1, np.float32(1))
            stone = load(row, cell(stone) + NEXT)
            if stone == point:
                break


@kernel
def write_bits(bits, size, out, at):
    """Writes one board row of a plane."""
    for c in range(size):
        store(out, at + c, np.float32((bits >> c) & 1))


@kernel
def write_constant(value, points, out, at):
    for i in range(points):
        store(out, at + i, np.float32(value))


@kernel
def features(row, out, at):
    """Writes PLANES planes of N * N floats into `out` from index `at`."""
    size = load(row, SIZE)
    points = size * size
    black = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST)
    black_moves = load(row, TO_PLAY) == BLACK
    own = black if black_moves else black + size
    enemy = 2 * black + size - own
    mark_areas(row)
    margin = mover_margin(row, marked_area(row))
    own_marks = load(row, AT_SCRATCH) + own - black
    enemy_marks = load(row, AT_SCRATCH) + enemy - black
    for i in range(points * ONE_LIBERTY, points * FORBIDDEN):
        store(out, at + i, np.float32(0))
    for i in range(points * LAST_MOVE, points * OWN_REGION):
        store(out, at + i, np.float32(0))
    write_liberties(row, out, at + points * ONE_LIBERTY)
    for r in range(size):
        begin = at + r * size
        empty = ~occupied_bits(row, r) & ((1 << size) - 1)
        mine = load(row, own_marks + r)
        theirs = load(row, enemy_marks + r)
        write_bits(load(row, own + r), size, out, begin + points * OWN)
        write_bits(load(row, enemy + r), size, out, begin + points * ENEMY)
        write_bits(empty & ~legal_bits(row, r), size, out, begin + points * FORBIDDEN)
        write_bits(empty & mine & ~theirs, size, out, begin + points * OWN_REGION)
        write_bits(empty & theirs & ~mine, size, out, begin + points * ENEMY_REGION)
    for age in range(3):
        action = load(row, LAST + age)
        if 0 <= action < points:
            store(out, at + points * (LAST_MOVE + age) + action, np.float32(1))
    komi = np.float32(load(row, KOMI2)) / np.float32(20)
    write_constant(1, points, out, at + points * ON_BOARD)
    write_constant(load(row, PASSES) > 0, points, out, at + points * PASSED)
    write_constant(-komi if black_moves else komi, points, out, at + points * KOMI)
    clipped = min(max(margin / np.float32(10), np.float32(-3)), np.float32(3))
    write_constant(clipped, points, out, at + points * SCORE)
    write_constant(np.float32(margin > 0) - np.float32(margin < 0), points, out, at + points * AHEAD)


@kernel
def features_batch(rows, slots, out):
    """`out` is float32 [n, PLANES * N * N]."""
    for i in range(slots.shape[0]):
        features(rows[slots[i]], out[i], 0)
