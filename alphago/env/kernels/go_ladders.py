"""Ladders on a board of Go, read as KataGo reads them for its networks.

Source: KataGo, cpp/game/board.cpp, searchIsLadderCaptured.  The attacker tries to keep a chain of the defender in atari
until it is captured; the defender extends the chain or captures attackers in atari beside it.  At the attacker's turn a
chain with two liberties is read on, with three it is free.  Kos count for the defender.

KataGo counts a chain as free at once if a move at its last liberty gives three liberties, and by mistake also if some
capture does; here only the former.  So in a few positions of ten thousand a chain is caught here and free there.

`boards` is int32 [lines, words], made by `new_boards`: the position, and one row (see `go_row`) for each move of the
line that is being read, by simple ko and without suicide.  After a row's last word, at AT_HASHES, follow the index of
the next move to be tried, the index after the last of these moves, and the moves, which are points.
"""

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import play
from alphago.env.kernels.go_chains import count_beside, in_atari
from alphago.env.kernels.go_legal import allowed
from alphago.env.kernels.go_row import action_of, cell, copy, neighbour, store_long
from alphago.system.kernels.jit import load, part, store

FREE, CAUGHT, OPEN = 0, 1, 2  # what is known of a chain; OPEN: moves must be tried
BUDGET = 25_000  # moves, after which a chain counts as free


def new_boards(row):
    """Return boards for reading ladders; row: an empty board by simple ko, without suicide."""
    points = int(row[layout.SIZE]) ** 2
    longest_line = 3 * points // 2  # after it a chain counts as caught
    return np.empty((longest_line + 2, len(row) + points + 4), np.int32)


@part
def list_liberties(row, stone, begin, end, most):
    """Add the liberties of a stone's chain to the list row[begin:end] until it has `most` points; return its end."""
    stride = load(row, layout.SIZE) + 1
    head = stone
    while True:
        for side in range(4):
            near = neighbour(stone, side, stride)
            if load(row, cell(near) + layout.COLOUR) == layout.EMPTY:
                i = begin
                while i < end and load(row, i) != near:
                    i += 1
                if i == end:
                    store(row, end, near)
                    end += 1
                    if end == begin + most:
                        return end
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == head:
            return end


@part
def list_captures(row, stone, begin, end):
    """Add the points that take enemy chains beside a stone's chain to the list row[begin:end]; return its end."""
    stride = load(row, layout.SIZE) + 1
    enemy = 3 - load(row, cell(stone) + layout.COLOUR)
    head = stone
    while True:
        for side in range(4):
            near = neighbour(stone, side, stride)
            if load(row, cell(near) + layout.COLOUR) == enemy and is_in_atari(row, near):
                end = list_liberties(row, near, begin, end, stride * stride)
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == head:
            return end


@part
def is_in_atari(row, stone):
    return in_atari(row, cell(load(row, cell(stone) + layout.HEAD)))


@part
def is_ko_mouth(row, point, colour, begin):
    """Return whether the attacker can take a ko of `colour` here, and filling it leaves at most two liberties.

    Args:
        begin: index of free memory.
    """
    stride = load(row, layout.SIZE) + 1
    in_danger = 0  # chains in atari, those of several stones twice
    end = begin
    for side in range(4):
        near = neighbour(point, side, stride)
        near_colour = load(row, cell(near) + layout.COLOUR)
        if near_colour == colour:
            in_danger += is_in_atari(row, near) * (2 - (load(row, cell(near) + layout.NEXT) == near))
            end = list_liberties(row, near, begin, end, 4)
        elif near_colour != layout.BORDER:
            return False
    return in_danger == 1 and end <= begin + 3  # one of these liberties is the point itself


@part
def look(row, stone, defends):
    """Return what is known of a chain before any further move, and list the moves to be tried.

    Args:
        defends: whether the defender is to move.
    """
    at = load(row, layout.AT_HASHES)
    begin = at + 2
    if is_in_atari(row, stone) != defends:  # a free defender is to move, or the attacker takes
        return FREE if defends else CAUGHT
    end = list_liberties(row, stone, begin, begin, 3)
    store(row, at, begin)
    store(row, at + 1, end)
    first = load(row, begin)
    if defends:
        store(row, at + 1, list_captures(row, stone, begin, end))
        return FREE if count_beside(row, first, layout.EMPTY) >= 3 else OPEN
    if end == begin + 3:
        return FREE
    second = load(row, begin + 1)
    # Empty points beside either liberty, at which the defender could go on.
    ways1 = count_beside(row, first, layout.EMPTY)
    ways2 = count_beside(row, second, layout.EMPTY)
    if ways1 == 0 and ways2 == 0:
        colour = load(row, cell(stone) + layout.COLOUR)
        if is_ko_mouth(row, first, colour, end) and is_ko_mouth(row, second, colour, end):
            if list_captures(row, stone, end, end) == end:  # a double ko that only the attacker gains from
                return CAUGHT
    distance = abs(first - second)
    if distance != 1 and distance != load(row, layout.SIZE) + 1:  # neither move takes a way from the other
        if ways1 >= 3 and ways2 >= 3:
            return FREE
        if ways1 >= 3:  # the attacker must play where the defender would be free
            store(row, at + 1, begin + 1)
        elif ways2 >= 3:
            store(row, at, begin + 1)
    return OPEN


@part
def left_ko(before, row, point):
    """Return whether the last move, at this point, took a single stone that only ko forbids to retake."""
    took_one = load(row, layout.EMPTY_COUNT) == load(before, layout.EMPTY_COUNT)
    return took_one and load(row, cell(point) + layout.NEXT) == point and is_in_atari(row, point)


@part
def is_caught(boards, stone, start):
    """Return whether a chain of boards[0] is lost in a ladder.

    Args:
        start: the point of the attacker's first move; 0 for none, where the defender moves first.
    """
    check_repetition = True
    first = boards[1]
    defender = load(boards[0], cell(stone) + layout.COLOUR)
    copy(boards[0], first)
    if start != 0:
        if not allowed(first, start, 3 - defender, check_repetition):
            return False
        store(first, layout.TO_PLAY, 3 - defender)
        play(first, action_of(first, start))
    store(first, layout.TO_PLAY, defender)
    store_long(first, layout.BEFORE_LOW, -1)  # no board: a ko now is the defender's
    depth = 1
    moves = 0
    known = look(first, stone, True)  # True: the defender is to move, as at every odd depth
    while depth > 1 or known == OPEN:
        if known != OPEN:
            depth -= 1
            if moves < BUDGET and (known == CAUGHT) == (depth & 1 == 1):  # the move did not help its side
                known = OPEN
            continue
        row = boards[depth]
        defends = depth & 1 == 1
        at = load(row, layout.AT_HASHES)
        if load(row, at) == load(row, at + 1):  # no move is left to be tried
            known = CAUGHT if defends else FREE
            continue
        point = load(row, load(row, at))
        store(row, at, load(row, at) + 1)
        if allowed(row, point, load(row, layout.TO_PLAY), check_repetition):
            moves += 1
            depth += 1
            copy(row, boards[depth])
            play(boards[depth], action_of(row, point))
            if depth == boards.shape[0] - 1:
                known = CAUGHT
            elif moves == BUDGET or (not defends and left_ko(row, boards[depth], point)):
                known = FREE
            else:
                known = look(boards[depth], stone, not defends)
    return known == CAUGHT
