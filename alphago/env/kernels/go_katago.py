"""The planes "katago" of Go: the input of KataGo's networks, as 30 planes from the mover's view.

Source: KataGo, cpp/neuralnet/nninputs.cpp, fillRowV7, for area scoring without tax, button and handicap bonus.  The
planes are its spatial features 0-6 and 9-19; its global features 0-8, 14 and 18, each as a constant plane; and zeros.

    0 on the board; 1, 2 own and enemy stones; 3-5 chains with 1, 2, 3 liberties; 6 points that only ko forbids;
    7-11 the last five moves, the latest first; 12-14 stones in a ladder, in this board, before the last move, and
    before the move before; 15 moves that catch an enemy chain of two liberties in a ladder; 16, 17 own and enemy area;
    18-22 ones if the last moves were passes; 23 own komi / 20; 24, 25 the ko rule; 26 whether suicide is allowed;
    27 whether a pass ends the game; 28 a wave of own komi; 29 zeros

After the end of a game only its last move counts.  Under simple ko, KataGo also ends a game at its second repetition,
and when a side passes twice in one position; these games end by passes alone.
"""

import math

import numpy as np

from alphago.env.kernels import go_ladders as ladders
from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_alive import VITAL, find_alive
from alphago.env.kernels.go_chains import is_stone
from alphago.env.kernels.go_legal import allowed, legal_bits
from alphago.env.kernels.go_row import action_of, cell, neighbour, occupied_bits, pass_ends, point_of
from alphago.system.kernels.jit import kernel, load, lowest_bit, part, store

PLANES, DEPTH = 30, 4  # planes, and boards that a row keeps for them: three, and one more for the ko point
MOVES = 5
OWN, LIBERTIES, FORBIDDEN, LAST_MOVES, LADDERS, WORKING, OWN_AREA, PASSES = 1, 3, 6, 7, 12, 15, 16, 18
KOMI, KO_RULE, SUICIDE, PASS_ENDS, WAVE = 23, 24, 26, 27, 28


@part
def fill(out, plane, points, value):
    for i in range(plane * points, plane * points + points):
        store(out, i, np.float32(value))


@part
def write_numbers(row, points, out):
    """Write the constant planes that do not depend on the moves, and that of all ones."""
    fill(out, 0, points, 1)
    komi = load(row, layout.KOMI2) / 2 if load(row, layout.TO_PLAY) == layout.WHITE else load(row, layout.KOMI2) / -2
    komi = min(max(komi, -points - 20.0), points + 20.0)
    fill(out, KOMI, points, np.float32(komi) / np.float32(20))
    rule = load(row, layout.KO_RULE)
    if rule != layout.SIMPLE:
        fill(out, KO_RULE, points, 1)
        fill(out, KO_RULE + 1, points, 0.5 if rule == layout.POSITIONAL else -0.5)
    fill(out, SUICIDE, points, load(row, layout.SUICIDE))
    fill(out, PASS_ENDS, points, pass_ends(row))
    # Points above the largest komi below that could give a draw, which is odd on a board of odd area.
    odd = points & 1
    above = komi - odd - 2 * math.floor((komi - odd) / 2)
    fill(out, WAVE, points, above if above < 0.5 else 1 - above if above < 1.5 else above - 2)


@part
def known_moves(row):
    """Return how many of the last five actions are known, the latest first; a skipped turn is not."""
    for age in range(MOVES):
        if last_action(row, age) == layout.NO_ACTION:
            return age
    return MOVES


@part
def last_action(row, age):
    return load(row, layout.LAST + age if age < 3 else layout.FOURTH_LAST - 3 + age)


@part
def write_moves(row, points, known, out):
    for age in range(known):
        action = last_action(row, age)
        if action == points:
            fill(out, PASSES + age, points, 1)
        else:
            store(out, (LAST_MOVES + age) * points + action, np.float32(1))


@part
def write_forbidden(row, points, out):
    """Write the empty points that only the ko rule forbids, also suicide of several stones."""
    size = load(row, layout.SIZE)
    mover = load(row, layout.TO_PLAY)
    for r in range(size):
        forbidden = ~occupied_bits(row, r) & ((1 << size) - 1) & ~legal_bits(row, r)
        while forbidden:
            action = r * size + lowest_bit(forbidden)
            forbidden &= forbidden - 1
            point = point_of(row, action)
            joins = False
            for side in range(4):
                joins |= load(row, cell(neighbour(point, side, size + 1)) + layout.COLOUR) == mover
            check_repetition = False
            if (joins and load(row, layout.SUICIDE) != 0) or allowed(row, point, mover, check_repetition):
                store(out, FORBIDDEN * points + action, np.float32(1))


@part
def lay_board(row, age, board):
    """Place the stones of the board before the last `age` moves on a board for reading ladders."""
    size = load(row, layout.SIZE)
    slot = load(row, layout.NEWEST) - age
    if slot < 0:
        slot += load(row, layout.DEPTH)
    at = load(row, layout.AT_BOARDS) + 2 * size * slot
    for action in range(size * size):
        store(board, cell(point_of(row, action)) + layout.COLOUR, layout.EMPTY)
    for r in range(size):
        stones = load(row, at + r) | load(row, at + size + r)
        while stones:
            c = lowest_bit(stones)
            stones &= stones - 1
            colour = layout.BLACK if load(row, at + r) >> c & 1 else layout.WHITE
            ladders.move(board, (r + 1) * (size + 1) + c + 1, colour, ladders.at_frames_of(board))
    store(board, ladders.at_frames_of(board) + ladders.KO, 0)


@part
def mark_chain(board, head, plane, points, out):
    stone = head
    while True:
        store(out, plane * points + action_of(board, stone), np.float32(1))
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == head:
            return


@part
def write_ladders(board, age, enemy, points, out):
    """Write the stones in a ladder of a board, and for the newest board also liberties and working moves."""
    at_frame = ladders.at_frames_of(board)
    at = load(board, at_frame + ladders.MOVES_END)
    for action in range(points):
        head = point_of(board, action)
        colour = load(board, cell(head) + layout.COLOUR)
        if is_stone(colour) == 0 or load(board, cell(head) + layout.HEAD) != head:
            continue
        liberties = ladders.list_liberties(board, head, 3 if age > 0 else 4, at)
        if age == 0 and liberties <= 3:
            mark_chain(board, head, LIBERTIES + liberties - 1, points, out)
        caught = False
        if liberties == 1:
            store(board, at_frame + ladders.FRAME + ladders.MOVES_END, at)
            caught = ladders.is_caught(board, head, at_frame + ladders.FRAME)
        elif liberties == 2:
            works = ladders.working_moves(board, head, at_frame + ladders.FRAME)
            caught = works != 0
            while works and age == 0 and colour == enemy:
                if works & 0xFFFF:
                    store(out, WORKING * points + action_of(board, works & 0xFFFF), np.float32(1))
                works >>= 16
        if caught:
            mark_chain(board, head, LADDERS + age, points, out)


@part
def write_all_ladders(row, known, included, board, points, out):
    """Write the ladders of three boards, from the oldest on; a board that is not known is the next newer one."""
    included = min(included, 2)
    oldest = min(included + 1, known)  # a move more tells the ko point of the oldest board
    enemy = 3 - load(row, layout.TO_PLAY)
    lay_board(row, oldest, board)
    for age in range(oldest, -1, -1):
        if age <= included:
            write_ladders(board, age, enemy, points, out)
        if age > 0:
            action = last_action(row, age - 1)
            at_frame = ladders.at_frames_of(board)
            if action == points:
                store(board, at_frame + ladders.KO, 0)
            else:
                colour = enemy if age & 1 else 3 - enemy
                ladders.move(board, point_of(row, action), colour, at_frame)
    for age in range(included + 1, 3):
        for i in range(points):
            store(out, (LADDERS + age) * points + i, load(out, (LADDERS + age - 1) * points + i))


@part
def take_point(out, plane, points, action):
    """Make a point the area of a side, whose plane is OWN_AREA or OWN_AREA + 1."""
    store(out, (2 * OWN_AREA + 1 - plane) * points + action, np.float32(0))
    store(out, plane * points + action, np.float32(1))


@part
def is_taken(out, points, action):
    return load(out, OWN_AREA * points + action) + load(out, (OWN_AREA + 1) * points + action) != 0


@part
def write_areas(row, scratch, points, out):
    """Write the area of both sides (KataGo, cpp/game/board.cpp, calculateArea): pass-alive chains and their territory.

    Territory of living chains is a region that touches no other chain and has no enemy stone, or at most one point
    beside which there is no own stone.  Then regions without enemy stones, and stones.  scratch: as in `go_alive`.
    """
    size = load(row, layout.SIZE)
    at_begins = points
    at_open = 2 * points + 1
    at_counts = 3 * points + 1 + (size + 1) * (size + 2) + 1
    for colour in range(layout.BLACK, layout.WHITE + 1):
        plane = OWN_AREA if colour == load(row, layout.TO_PLAY) else OWN_AREA + 1
        regions = find_alive(row, colour, scratch)
        stones = False
        for action in range(points):
            at_cell = cell(point_of(row, action))
            if load(row, at_cell + layout.COLOUR) == colour:
                stones = True
                if load(scratch, at_counts + load(row, at_cell + layout.HEAD)) >= VITAL:
                    take_point(out, plane, points, action)
        for region in range(regions):
            begin = load(scratch, at_begins + region)
            end = load(scratch, at_begins + region + 1)
            inner = enemies = 0
            for i in range(begin, end):
                point = load(scratch, i)
                enemies += load(row, cell(point) + layout.COLOUR) == 3 - colour
                alone = True
                for side in range(4):
                    alone &= load(row, cell(neighbour(point, side, size + 1)) + layout.COLOUR) != colour
                inner += alone
            surely = load(scratch, at_open + region) != 0 and (inner <= 1 or enemies == 0)
            if stones and (surely or enemies == 0):
                for i in range(begin, end):
                    action = action_of(row, load(scratch, i))
                    if surely or not is_taken(out, points, action):
                        take_point(out, plane, points, action)
    for action in range(points):
        colour = load(row, cell(point_of(row, action)) + layout.COLOUR)
        if colour != layout.EMPTY and not is_taken(out, points, action):
            take_point(out, OWN_AREA + (colour != load(row, layout.TO_PLAY)), points, action)


@kernel
def katago_planes_batch(rows, slots, board, scratch, out):
    """Write the planes for each slot into its row of `out`, float32 [n, 30 * N * N].

    board: int32 [ladder_words(N)], scratch: int32 [go_alive.scratch_words(N)]; both are overwritten.
    """
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        planes = out[i]
        points = load(row, layout.SIZE) * load(row, layout.SIZE)
        if i == 0:
            ladders.lay_out(board, row)
        for j in range(PLANES * points):
            store(planes, j, np.float32(0))
        known = known_moves(row)
        is_over = load(row, layout.PASSES) >= load(row, layout.PASSES_TO_END)
        included = min(known, 1) if is_over else known
        write_numbers(row, points, planes)
        write_moves(row, points, included, planes)
        write_forbidden(row, points, planes)
        write_all_ladders(row, known, included, board, points, planes)
        write_areas(row, scratch, points, planes)
        for action in range(points):
            colour = load(row, cell(point_of(row, action)) + layout.COLOUR)
            if colour != layout.EMPTY:
                plane = OWN + (colour != load(row, layout.TO_PLAY))
                store(planes, plane * points + action, np.float32(1))
