"""Ladders on a board of Go, read as KataGo reads them for its networks.

Source: KataGo, cpp/game/board.cpp, searchIsLadderCaptured.  The attacker tries to keep a chain of the defender in atari
until it is captured; the defender extends the chain or captures attackers in atari beside it.  At the attacker's turn a
chain with two liberties is read on, with three it is free.  Kos count for the defender.

KataGo counts a chain as free at once if a move at its last liberty gives three liberties, and by mistake also if some
capture does; here only the former.  So in a few positions of ten thousand a chain is caught here and free there.

A board for reading is an int32 array, made by `new_board`: header and cells as in a row (see `go_row`), where moves can
be taken back; then a frame for each move of the line that is being read; then the moves that are still to be tried.  A
frame is FRAME words from index `at_frame`: the move's point; for each of its four sides the head of the chain that it
captured or joined there, 0 for none; the point where ko forbids to retake, 0 for none; the indices of the next move to
be tried, and of the end of these moves; and the point's HEAD, NEXT and liberties before the move, which may belong to a
captured chain.
"""

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_chains import add_liberties, in_atari, join, liberty, place_stone
from alphago.env.kernels.go_legal import has_empty_neighbour, has_liberties
from alphago.env.kernels.go_row import bordered_points, cell, load_long, neighbour, store_long
from alphago.system.kernels.jit import load, lowest_bit, part, store

POINT, SIDES, KO, NEXT_MOVE, MOVES_END, OLD, FRAME = 0, 1, 5, 6, 7, 8, 12
FREE, CAUGHT, OPEN = 0, 1, 2  # what is known of a chain; OPEN: moves must be tried
BUDGET = 25_000  # moves, after which a chain counts as free


def new_board(row):
    """Return an empty board for reading ladders, made from the row of an empty board."""
    size = int(row[layout.SIZE])
    begin = layout.HEADER + layout.CELL * bordered_points(size)
    frames = most_moves(size) + 2
    moves_to_try = 8 * size * size
    board = np.zeros(begin + FRAME * frames + moves_to_try, np.int32)
    board[:begin] = row[:begin]
    board[begin + MOVES_END] = begin + FRAME * frames
    return board


def most_moves(size):
    """Return the number of moves after which a chain that is still read counts as caught."""
    return 3 * size * size // 2


@part
def first_frame(board):
    """Return the index of the frame for the last move before a ladder is read."""
    size = load(board, layout.SIZE)
    return layout.HEADER + layout.CELL * ((size + 1) * (size + 2) + 1)


@part
def recolour(board, head, colour, other, sign):
    """Give a chain's points a colour, and add `sign` liberties there to the chains of `other`; return how many points.

    A chain is taken off with EMPTY and 1, and put back with its colour and -1.
    """
    stride = load(board, layout.SIZE) + 1
    stones = 0
    stone = head
    while True:
        store(board, cell(stone) + layout.COLOUR, colour)
        for side in range(4):
            at_near = cell(neighbour(stone, side, stride))
            if load(board, at_near + layout.COLOUR) == other:
                add_liberties(board, cell(load(board, at_near + layout.HEAD)), sign * liberty(stone))
        stones += 1
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == head:
            return stones


@part
def move(board, point, colour, at_frame):
    """Play a move and write its frame; suicide must be allowed, and cannot be taken back."""
    stride = load(board, layout.SIZE) + 1
    at = cell(point)
    store(board, at_frame + POINT, point)
    store(board, at_frame + OLD, load(board, at + layout.HEAD))
    store(board, at_frame + OLD + 1, load(board, at + layout.NEXT))
    store_long(board, at_frame + OLD + 2, load_long(board, at + layout.LIBERTIES_LOW))
    dead = place_stone(board, point, colour)  # bit `side` is set if the enemy chain there lost its last liberty
    joined = stones = ko = 0
    for side in range(4):
        at_near = cell(neighbour(point, side, stride))
        lost = 0
        if load(board, at_near + layout.COLOUR) == colour:
            joined = 1
            head = load(board, at + layout.HEAD)
            near_head = load(board, at_near + layout.HEAD)
            if head != near_head:
                lost = join(board, head, near_head)
        store(board, at_frame + SIDES + side, lost)
    while dead:
        side = lowest_bit(dead)
        dead &= dead - 1  # clears the lowest bit
        at_near = cell(neighbour(point, side, stride))
        if load(board, at_near + layout.COLOUR) != layout.EMPTY:  # not captured on an earlier side
            ko = load(board, at_near + layout.HEAD)
            store(board, at_frame + SIDES + side, ko)
            stones += recolour(board, ko, layout.EMPTY, colour, 1)
    head = load(board, at + layout.HEAD)
    liberties = load_long(board, cell(head) + layout.LIBERTIES_LOW) >> layout.COUNT_BITS
    if liberties == 0:
        recolour(board, head, layout.EMPTY, 3 - colour, 1)
    store(board, at_frame + KO, ko if stones == 1 and liberties == 1 and joined == 0 else 0)


@part
def take_back(board, at_frame):
    """Take back the move of a frame; the board is then what it was, down to the order of stones in each chain."""
    stride = load(board, layout.SIZE) + 1
    point = load(board, at_frame + POINT)
    at = cell(point)
    colour = load(board, at + layout.COLOUR)
    for side in range(4):
        lost = load(board, at_frame + SIDES + side)
        if lost != 0 and load(board, cell(lost) + layout.COLOUR) == layout.EMPTY:  # captured
            recolour(board, lost, 3 - colour, colour, -1)
    for side in range(3, -1, -1):
        lost = load(board, at_frame + SIDES + side)
        if lost != 0 and load(board, cell(lost) + layout.COLOUR) == colour:  # joined
            part_chains(board, lost)
    store(board, at + layout.COLOUR, layout.EMPTY)
    store(board, at + layout.HEAD, load(board, at_frame + OLD))
    store(board, at + layout.NEXT, load(board, at_frame + OLD + 1))
    store_long(board, at + layout.LIBERTIES_LOW, load_long(board, at_frame + OLD + 2))
    for side in range(4):
        at_near = cell(neighbour(point, side, stride))
        near_colour = load(board, at_near + layout.COLOUR)
        if near_colour == layout.BLACK or near_colour == layout.WHITE:
            add_liberties(board, cell(load(board, at_near + layout.HEAD)), liberty(point))


@part
def part_chains(board, lost):
    """Undo `join`; lost: the head that it returned."""
    at_lost = cell(lost)
    at_kept = cell(load(board, at_lost + layout.HEAD))
    after_kept = load(board, at_kept + layout.NEXT)
    store(board, at_kept + layout.NEXT, load(board, at_lost + layout.NEXT))
    store(board, at_lost + layout.NEXT, after_kept)
    add_liberties(board, at_kept, -load_long(board, at_lost + layout.LIBERTIES_LOW))
    stone = lost
    while True:
        store(board, cell(stone) + layout.HEAD, lost)
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == lost:
            return


@part
def list_liberties(board, stone, most, at, found):
    """Add the liberties of a stone's chain to a list of `found` points at index `at`, until it has `most`.

    Returns the number of points in the list.
    """
    stride = load(board, layout.SIZE) + 1
    begin = stone
    while True:
        for side in range(4):
            near = neighbour(stone, side, stride)
            if load(board, cell(near) + layout.COLOUR) == layout.EMPTY and is_new(board, near, at, at + found):
                store(board, at + found, near)
                found += 1
                if found == most:
                    return found
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == begin:
            return found


@part
def is_new(board, point, at, end):
    for i in range(at, end):
        if load(board, i) == point:
            return False
    return True


@part
def last_liberty(board, head):
    """Return the liberty of a chain in atari."""
    liberties = load_long(board, cell(head) + layout.LIBERTIES_LOW)
    total = (liberties >> layout.SUM_BITS) & ((1 << (layout.COUNT_BITS - layout.SUM_BITS)) - 1)
    return total // (liberties >> layout.COUNT_BITS)


@part
def list_captures(board, stone, at):
    """Write the points that take enemy chains beside a stone's chain from index `at` on; return the end's index."""
    stride = load(board, layout.SIZE) + 1
    enemy = 3 - load(board, cell(stone) + layout.COLOUR)
    end = at
    begin = stone
    while True:
        for side in range(4):
            at_near = cell(neighbour(stone, side, stride))
            if load(board, at_near + layout.COLOUR) == enemy:
                head = load(board, at_near + layout.HEAD)
                if in_atari(board, cell(head)):
                    point = last_liberty(board, head)
                    if is_new(board, point, at, end):
                        store(board, end, point)
                        end += 1
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == begin:
            return end


@part
def count_empty(board, point):
    """Return the number of empty neighbours of a point."""
    stride = load(board, layout.SIZE) + 1
    count = 0
    for side in range(4):
        count += load(board, cell(neighbour(point, side, stride)) + layout.COLOUR) == layout.EMPTY
    return count


@part
def is_ko_mouth(board, point, colour, at):
    """Return whether the attacker can take a ko of `colour` here, and filling it leaves at most two liberties.

    at: index of free memory.
    """
    stride = load(board, layout.SIZE) + 1
    in_danger = single = liberties = 0
    for side in range(4):
        near = neighbour(point, side, stride)
        near_colour = load(board, cell(near) + layout.COLOUR)
        if near_colour == colour:
            if in_atari(board, cell(load(board, cell(near) + layout.HEAD))):
                in_danger += 1
                single += load(board, cell(near) + layout.NEXT) == near
            liberties = list_liberties(board, near, 4, at, liberties)
        elif near_colour != layout.BORDER:
            return False
    return in_danger == 1 and single == 1 and liberties <= 3  # one of them is the point itself


@part
def look(board, stone, defends, at_frame):
    """Return what is known of a chain before any further move; if OPEN, write the moves to be tried.

    defends: whether the defender is to move.
    """
    at = load(board, at_frame - FRAME + MOVES_END)
    store(board, at_frame + NEXT_MOVE, at)
    head = load(board, cell(stone) + layout.HEAD)
    atari = in_atari(board, cell(head))
    if defends:
        if not atari or load(board, at_frame - FRAME + KO) != 0:
            return FREE
        point = last_liberty(board, head)
        if count_empty(board, point) >= 3:
            return FREE
        at = list_captures(board, stone, at)
        store(board, at, point)
        store(board, at_frame + MOVES_END, at + 1)
        return OPEN
    if atari:
        return CAUGHT
    if list_liberties(board, stone, 3, at, 0) == 3:
        return FREE
    first = load(board, at)
    second = load(board, at + 1)
    ways1 = count_empty(board, first)
    ways2 = count_empty(board, second)
    end = at + 2
    if ways1 == 0 and ways2 == 0:
        colour = load(board, cell(stone) + layout.COLOUR)
        if is_ko_mouth(board, first, colour, end) and is_ko_mouth(board, second, colour, end):
            if list_captures(board, stone, end) == end:  # a double ko that only the attacker gains from
                return CAUGHT
    if not is_adjacent(board, first, second):
        if ways1 >= 3 and ways2 >= 3:
            return FREE
        end -= ways1 >= 3 or ways2 >= 3  # the attacker must play where the defender would be free
    if ways2 > ways1:
        store(board, at, second)
        store(board, at + 1, first)
    store(board, at_frame + MOVES_END, end)
    return OPEN


@part
def is_adjacent(board, first, second):
    distance = abs(first - second)
    return distance == 1 or distance == load(board, layout.SIZE) + 1


@part
def can_move(board, point, colour, ko):
    """Return whether a move on an empty point is neither suicide nor at the point `ko`."""
    return point != ko and (has_empty_neighbour(board, point) or has_liberties(board, point, colour))


@part
def is_caught(board, stone, at_first):
    """Return whether a chain is lost with the defender to move; kos of earlier moves count for it.

    at_first: index of the frame of the move before.
    """
    size = load(board, layout.SIZE)
    defender = load(board, cell(stone) + layout.COLOUR)
    store(board, at_first + KO, 0)
    at_frame = at_first + FRAME
    depth = moves = 0
    known = look(board, stone, True, at_frame)
    while depth > 0 or known == OPEN:
        defends = depth & 1 == 0
        if known != OPEN:
            depth -= 1
            at_frame -= FRAME
            take_back(board, at_frame)
            if moves < BUDGET and (known == FREE) == defends:  # the move before did not help its side
                known = OPEN
            continue
        at = load(board, at_frame + NEXT_MOVE)
        if at == load(board, at_frame + MOVES_END):
            known = CAUGHT if defends else FREE
            continue
        store(board, at_frame + NEXT_MOVE, at + 1)
        point = load(board, at)
        mover = defender if defends else 3 - defender
        if can_move(board, point, mover, load(board, at_frame - FRAME + KO)):
            move(board, point, mover, at_frame)
            moves += 1
            depth += 1
            if depth == 3 * size * size // 2:  # as `most_moves`
                known = CAUGHT
            elif moves == BUDGET or load(board, at_frame + MOVES_END) + size * size > board.shape[0]:
                known = FREE
            else:
                known = look(board, stone, not defends, at_frame + FRAME)
            at_frame += FRAME
    return known == CAUGHT


@part
def catching_moves(board, stone, liberties, at_first):
    """Read the ladders of a chain with one or two liberties; return the attacker's moves that catch it.

    They are `first + 65536 * second`, 0 for none.  For a chain in atari, which the attacker catches without a move if
    the defender moves first, the result is its liberty or 0.  at_first: index of the frame of the first move.
    """
    at = load(board, at_first - FRAME + MOVES_END)
    store(board, at_first + MOVES_END, at)
    list_liberties(board, stone, liberties, at, 0)
    first = load(board, at)
    second = load(board, at + liberties - 1)
    apart = not is_adjacent(board, first, second)
    attacker = 3 - load(board, cell(stone) + layout.COLOUR)
    ko = load(board, at_first - FRAME + KO)
    works = 0
    for i in range(liberties):
        point, other = (first, second) if i == 0 else (second, first)
        if liberties == 2:
            if (apart and count_empty(board, other) >= 3) or not can_move(board, point, attacker, ko):
                continue
            move(board, point, attacker, at_first)
        if is_caught(board, stone, at_first):
            works += point << (16 * i)
        if liberties == 2:
            take_back(board, at_first)
    return works
