"""The planes of Go that a network receives: rule planes, or history planes.

Rule planes (`SETS`) show what the rules imply: stones, liberties, forbidden points, last moves, areas, komi and score.
History planes are the boards of the last moves, as in AlphaGo Zero; a network has to learn liberties, superko and area
by itself.

To add a rule plane, add a number below, its computation in `rule_planes_batch`, a set in SETS that contains it, and its
twin in `go_planes.cuh`. Do not change existing sets, since networks were trained with them.

The argument `places` is int64 [PLANES]: the index of each rule plane in the network's input, or ABSENT.
"""

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_legal import is_repetition, legal_bits
from alphago.env.kernels.go_row import action_of, cell, neighbour, occupied_bits
from alphago.env.kernels.go_score import mark_areas, marked_area, mover_margin
from alphago.env.kernels.rows import over_slots, write_batch
from alphago.system.kernels.jit import kernel, load, lowest_bit, part, store

# Rule planes, all from the mover's view.
OWN, ENEMY = 0, 1
ONE_LIBERTY, TWO_LIBERTIES, MORE_LIBERTIES = 2, 3, 4  # chains of either colour
FORBIDDEN = 5  # empty points where the mover may not play: suicide, superko
LAST_MOVE, SECOND_LAST_MOVE, THIRD_LAST_MOVE = 6, 7, 8  # where the latest three moves were played
OWN_REGION, ENEMY_REGION = 9, 10  # empty regions that touch stones of one side only
ON_BOARD = 11  # all ones
PASSED = 12  # all ones if the last move was a pass
KOMI = 13  # the mover's komi in tens of points
SCORE = 14  # the mover's margin if the game ended here, in tens of points, -3 to 3
AHEAD = 15  # the sign of that margin
KO = 16  # points forbidden because a board would be repeated
PLIES_LEFT = 17  # plies left until `max_moves`, divided by 2 N^2, at most 1
PLANES = 18

# Sets of rule planes, in the order of the network's input.  Each set has a different even number of planes, so that the
# number of planes identifies the set (history planes are an odd number).
SETS = {"rules": tuple(range(OWN, AHEAD + 1)), "turns": tuple(range(OWN, PLIES_LEFT + 1))}
ABSENT = -1


def plane_indices(name):
    """Return the index of each rule plane in the named set, int64 [PLANES]; ABSENT for planes not in the set."""
    indices = np.full(PLANES, ABSENT, np.int64)
    indices[list(SETS[name])] = np.arange(len(SETS[name]))
    return indices


@part
def liberties_to_three(row, head_point):
    """Return a chain's number of liberties, but at most 3."""
    stride = load(row, layout.SIZE) + 1
    none = -1
    first = second = none  # the liberties found so far
    stone = head_point
    while True:
        for side in range(4):
            near = neighbour(stone, side, stride)
            is_known = near == first or near == second
            if load(row, cell(near) + layout.COLOUR) == layout.EMPTY and not is_known:
                if first == none:
                    first = near
                elif second == none:
                    second = near
                else:
                    return 3
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == head_point:
            return 1 if second == none else 2


@part
def write_constant(value, points, place, out):
    """Set all `points` numbers of the plane with index `place` to `value`; do nothing if `place` is ABSENT."""
    if place != ABSENT:
        for i in range(points * place, points * place + points):
            store(out, i, np.float32(value))


@part
def write_chain(row, head, place, out):
    """Set the stones of the chain with this head point to 1 in the plane with index `place`."""
    begin = load(row, layout.SIZE) * load(row, layout.SIZE) * place
    stone = head
    while True:
        store(out, begin + action_of(row, stone), np.float32(1))
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == head:
            return


@part
def write_liberties(row, places, out):
    """Write the three planes for chains with 1, 2, and 3 or more liberties: each stone is 1 in one of them.

    Args:
        places: the index of each plane in `out`, or ABSENT.
    """
    size = load(row, layout.SIZE)
    for plane in range(ONE_LIBERTY, MORE_LIBERTIES + 1):
        write_constant(0, size * size, load(places, plane), out)  # writes nothing if the place is ABSENT
    for r in range(size):
        stones = occupied_bits(row, r)
        while stones:
            point = (r + 1) * (size + 1) + lowest_bit(stones) + 1
            stones &= stones - 1  # clears the lowest bit
            if load(row, cell(point) + layout.HEAD) == point:  # a chain's head, so once for each chain
                place = load(places, ONE_LIBERTY + liberties_to_three(row, point) - 1)
                if place != ABSENT:
                    write_chain(row, point, place, out)


@part
def write_bits(bits, size, place, out, at):
    """Write a board row, given as bits, into the plane with index `place`, at index `at` of the plane."""
    if place != ABSENT:
        at += size * size * place
        for c in range(size):
            store(out, at + c, np.float32((bits >> c) & 1))


@part
def repeating_bits(row, r, forbidden):
    """Return, as bits, the points among `forbidden` (bits of board row r) that only the ko rule forbids."""
    size = load(row, layout.SIZE)
    unchecked = forbidden
    while unchecked:
        c = lowest_bit(unchecked)
        if not is_repetition(row, r * size + c):
            forbidden &= ~(1 << c)
        unchecked &= unchecked - 1  # clears the lowest bit
    return forbidden


@part
def write_rows(row, places, out):
    """Write the planes that are computed as bits: stones, forbidden points and regions.

    Args:
        places: the index of each plane in `out`, or ABSENT.
    """
    size = load(row, layout.SIZE)
    # In the board, and in the marks of `mark_areas`, Black's words come first, then White's.
    own, enemy = (0, size) if load(row, layout.TO_PLAY) == layout.BLACK else (size, 0)
    at_stones = load(row, layout.AT_BOARDS) + 2 * size * load(row, layout.NEWEST)
    at_marks = load(row, layout.AT_SCRATCH)
    for r in range(size):
        begin = r * size
        empty = ~occupied_bits(row, r) & ((1 << size) - 1)
        own_reach = load(row, at_marks + own + r)
        enemy_reach = load(row, at_marks + enemy + r)
        forbidden = empty & ~legal_bits(row, r)
        write_bits(load(row, at_stones + own + r), size, load(places, OWN), out, begin)
        write_bits(load(row, at_stones + enemy + r), size, load(places, ENEMY), out, begin)
        write_bits(forbidden, size, load(places, FORBIDDEN), out, begin)
        write_bits(empty & own_reach & ~enemy_reach, size, load(places, OWN_REGION), out, begin)
        write_bits(empty & enemy_reach & ~own_reach, size, load(places, ENEMY_REGION), out, begin)
        if load(places, KO) != ABSENT:
            write_bits(repeating_bits(row, r, forbidden), size, load(places, KO), out, begin)


@part
def write_last_moves(row, places, out):
    """Write the planes of the latest three moves; a pass sets no point.

    Args:
        places: the index of each plane in `out`, or ABSENT.
    """
    points = load(row, layout.SIZE) * load(row, layout.SIZE)
    for age in range(3):
        action = load(row, layout.LAST + age)  # LAST, BEFORE_LAST or THIRD_LAST
        place = load(places, LAST_MOVE + age)
        write_constant(0, points, place, out)  # writes nothing if the place is ABSENT
        if 0 <= action < points and place != ABSENT:
            store(out, points * place + action, np.float32(1))


@kernel
def rule_planes_batch(rows, slots, places, out):
    """Write a set of rule planes for each slot into its row of `out`, float32 [n, planes * N * N].

    Args:
        places: see the module.
    """
    # Not split into a function for one row and a loop: numba would compile the function by itself and once more within
    # the loop, which takes half a second.
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        planes = out[i]
        points = load(row, layout.SIZE) * load(row, layout.SIZE)
        black_moves = load(row, layout.TO_PLAY) == layout.BLACK
        mark_areas(row)
        margin = mover_margin(row, marked_area(row))
        write_rows(row, places, planes)
        write_liberties(row, places, planes)
        write_last_moves(row, places, planes)
        komi = np.float32(load(row, layout.KOMI2)) / np.float32(20)  # from twice the komi to tens of points
        write_constant(1, points, load(places, ON_BOARD), planes)
        write_constant(load(row, layout.PASSES) > 0, points, load(places, PASSED), planes)
        write_constant(-komi if black_moves else komi, points, load(places, KOMI), planes)
        clipped = min(max(margin / np.float32(10), np.float32(-3)), np.float32(3))
        write_constant(clipped, points, load(places, SCORE), planes)
        write_constant(np.float32(margin > 0) - np.float32(margin < 0), points, load(places, AHEAD), planes)
        plies_left = np.float32(load(row, layout.MAX_MOVES) - load(row, layout.PLY)) / np.float32(2 * points)
        write_constant(min(plies_left, np.float32(1)), points, load(places, PLIES_LEFT), planes)


@part
def history_planes(row, out):
    """Write into `out` 2 planes of N * N floats for each board that the row keeps, and a last plane.

    The planes are own and enemy stones of the newest board, of the board before, and so on (AlphaGo Zero, "Neural
    network architecture"); boards before the start are empty.  The last plane is 1 if Black is to move.
    """
    size = load(row, layout.SIZE)
    depth = load(row, layout.DEPTH)
    black_moves = load(row, layout.TO_PLAY) == layout.BLACK
    at = 0
    for age in range(depth):
        slot = load(row, layout.NEWEST) - age  # in the ring buffer of boards
        if slot < 0:
            slot += depth
        at_black = load(row, layout.AT_BOARDS) + 2 * size * slot
        at_white = at_black + size
        at_own, at_enemy = (at_black, at_white) if black_moves else (at_white, at_black)
        for at_stones in (at_own, at_enemy):
            for r in range(size):
                bits = load(row, at_stones + r)
                for c in range(size):
                    store(out, at + c, np.float32((bits >> c) & 1))
                at += size
    for i in range(size * size):
        store(out, at + i, np.float32(black_moves))


history_planes_batch = over_slots(write_batch, history_planes)
