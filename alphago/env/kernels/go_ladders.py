"""Ladders on a board of Go, read as KataGo reads them for its networks.

Source: KataGo, cpp/game/board.cpp, searchIsLadderCaptured.  The attacker tries to keep a chain of the defender in atari
until it is captured; the defender extends the chain or captures attackers in atari beside it.  If the chain has three
liberties at the attacker's turn, it is free; if it has two, the attacker's moves at both are tried.  Kos count for the
defender.

KataGo counts a chain as free at once if a move at its last liberty gives three liberties, and by mistake also if some
capture does; here only the former.  So in a few positions of ten thousand a chain is caught here and free there.

`boards` is int32 [lines, words], see `boards_shape`: the position, and one row (see `go_row`) for each move of the
line that is being read, by simple ko and without suicide.  After a row's last word follow, from the index in
the word AT_LIST on: the index of the next move to be tried, the index after the last of these moves, and the moves,
which are points.
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import play
from alphago.env.kernels.go_chains import count_beside, in_atari
from alphago.env.kernels.go_legal import allowed
from alphago.env.kernels.go_row import action_of, cell, copy, neighbour, store_long
from alphago.system.kernels.jit import load, part, store

FREE, CAUGHT, OPEN = 0, 1, 2  # verdicts about a chain; OPEN: moves must be tried
AT_LIST = layout.AT_HASHES  # the list of moves is in the place of the hashes, which a row by simple ko does not have
NO_MOVE = 0  # instead of the point of a move, where none is made
BUDGET = 25_000  # the number of tried moves after which a chain counts as free


def boards_shape(row):
    """Return the shape of `boards`, see the module; row: an empty board by simple ko, without suicide."""
    points = int(row[layout.SIZE]) ** 2
    longest_line = 3 * points // 2  # after it a chain counts as caught
    # The rows: the position, the board after the attacker's first move, and one for each move of the line. After the
    # words of a row: the index of the next move to be tried, the index after the last move, at most two liberties, and
    # a list of up to `points` points.
    return longest_line + 2, len(row) + points + 4


@part
def list_liberties(row, stone, begin, end, most):
    """Add the liberties of a stone's chain to the list row[begin:end] until it has `most` points; return its end.

    A point that is in the list already is not added again.
    """
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
def is_in_atari(row, stone):
    """Return whether the chain of a stone is in atari."""
    return in_atari(row, cell(load(row, cell(stone) + layout.HEAD)))


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
                end = list_liberties(row, near, begin, end, stride * stride)  # more than all points: no limit
        stone = load(row, cell(stone) + layout.NEXT)
        if stone == head:
            return end


@part
def is_ko_mouth(row, point, colour, begin):
    """Return whether the attacker can take a ko at this point, and the defender would gain little by filling it.

    The attacker can take a ko if all neighbours of the point are the defender's, or the border, and exactly one single
    stone among them is in atari.  Little is gained if filling the point leaves the defender at most two liberties.

    Args:
        point: an empty point, the liberty of the chain that is read.
        colour: the defender's colour.
        begin: index in `row` from which on memory may be overwritten.
    """
    stride = load(row, layout.SIZE) + 1
    stones_in_atari = 0
    end = begin
    for side in range(4):
        near = neighbour(point, side, stride)
        near_colour = load(row, cell(near) + layout.COLOUR)
        if near_colour == colour:
            if is_in_atari(row, near):
                if load(row, cell(near) + layout.NEXT) != near:  # a chain of several stones: to take it is no ko
                    return False
                stones_in_atari += 1
            end = list_liberties(row, near, begin, end, 4)
        elif near_colour != layout.BORDER:  # an empty point, or the attacker's stone
            return False
    return stones_in_atari == 1 and end <= begin + 3  # liberties: the point itself and at most two others


@part
def is_hopeless_double_ko(row, stone, first, second, begin):
    """Return whether the chain of a stone hangs on two kos that only the attacker gains from.

    Args:
        first, second: the chain's two liberties.
        begin: index in `row` from which on memory may be overwritten.
    """
    colour = load(row, cell(stone) + layout.COLOUR)
    if not is_ko_mouth(row, first, colour, begin) or not is_ko_mouth(row, second, colour, begin):
        return False
    # From `begin` to `begin` is an empty list. If `list_captures` adds no point, the defender can take nothing.
    return list_captures(row, stone, begin, begin) == begin


@part
def judge_chain(row, stone, defends):
    """Return the verdict about a chain before any further move; if it is OPEN, list the moves to be tried.

    Args:
        stone: a stone of the chain that the attacker wants to take.
        defends: whether the defender is to move.
    """
    at = load(row, AT_LIST)  # here is the index of the next move, then the index at which the moves end
    begin = at + 2
    if is_in_atari(row, stone) != defends:  # no atari at the defender's turn, or atari at the attacker's
        return FREE if defends else CAUGHT
    end = list_liberties(row, stone, begin, begin, 3)
    store(row, at, begin)  # the first move to be tried; the end of the moves is stored below
    first = load(row, begin)
    if defends:  # at the only liberty, or by capturing
        store(row, at + 1, list_captures(row, stone, begin, end))
        # The empty points beside the liberty are liberties that the chain gets there: three make it free.
        return FREE if count_beside(row, first, layout.EMPTY) >= 3 else OPEN
    store(row, at + 1, end)
    if end == begin + 3:  # three liberties at the attacker's turn
        return FREE
    second = load(row, begin + 1)
    # The numbers of empty points beside the two liberties: liberties that the defender would get there.
    ways1 = count_beside(row, first, layout.EMPTY)
    ways2 = count_beside(row, second, layout.EMPTY)
    if ways1 == 0 and ways2 == 0 and is_hopeless_double_ko(row, stone, first, second, end):
        return CAUGHT
    distance = abs(first - second)
    # If the liberties are neighbours, each is among the other's ways, which then do not count as sure.
    if distance != 1 and distance != load(row, layout.SIZE) + 1:
        if ways1 >= 3 and ways2 >= 3:
            return FREE
        # The attacker must play where the defender would be free: only this liberty stays in the list.
        if ways1 >= 3:
            store(row, at + 1, begin + 1)
        elif ways2 >= 3:
            store(row, at, begin + 1)
    return OPEN


@part
def is_ko_capture(before, row, point):
    """Return whether a move at this point took a single stone, and only ko forbids to take back.

    Args:
        before, row: the boards before and after the move.
    """
    # As many empty points as before: one was filled, one became empty.
    took_one = load(row, layout.EMPTY_COUNT) == load(before, layout.EMPTY_COUNT)
    is_single = load(row, cell(point) + layout.NEXT) == point  # the stone is its chain's next one
    return took_one and is_single and is_in_atari(row, point)


@part
def take_next_move(row):
    """Take the next move to be tried off a row's list, see the module; return its point, or NO_MOVE if none is left."""
    at = load(row, AT_LIST)
    next_index = load(row, at)
    if next_index == load(row, at + 1):  # the index at which the moves end
        return NO_MOVE
    store(row, at, next_index + 1)
    return load(row, next_index)


@part
def is_caught(boards, stone, start):
    """Return whether a chain of boards[0] is lost in a ladder.

    Args:
        stone: a stone of the chain.
        start: the point of the attacker's first move; NO_MOVE if the defender moves first.
    """
    check_repetition = True
    first = boards[1]
    defender = load(boards[0], cell(stone) + layout.COLOUR)
    copy(boards[0], first)
    if start != NO_MOVE:
        if not allowed(first, start, 3 - defender, check_repetition):
            return False
        store(first, layout.TO_PLAY, 3 - defender)
        play(first, action_of(first, start))
    store(first, layout.TO_PLAY, defender)
    store_long(first, layout.BEFORE_LOW, -1)  # the hash of no board: no ko forbids the defender's first move
    # A search in depth: boards[depth] is the board after the moves that are being tried. `verdict` is about this board,
    # and OPEN as long as moves are left to be tried there.
    depth = 1
    tried = 0
    verdict = judge_chain(first, stone, True)  # True: the defender is to move, as at every odd depth
    while depth > 1 or verdict == OPEN:
        if verdict != OPEN:  # the last move is judged: go back to the board before it
            depth -= 1
            movers_loss = CAUGHT if depth & 1 == 1 else FREE  # the verdict that the side to move there must avoid
            # If its move led to this verdict, its next move is tried.  Else the move's verdict is also the board's.
            # With the budget used up, the last verdict is that of all boards before.
            if verdict == movers_loss and tried < BUDGET:
                verdict = OPEN
            continue
        row = boards[depth]
        defends = depth & 1 == 1
        point = take_next_move(row)
        if point == NO_MOVE:  # all moves have failed
            verdict = CAUGHT if defends else FREE
        elif allowed(row, point, load(row, layout.TO_PLAY), check_repetition):
            tried += 1
            depth += 1
            copy(row, boards[depth])
            play(boards[depth], action_of(row, point))
            if depth == boards.shape[0] - 1:  # no row is left for a further move
                verdict = CAUGHT
            elif tried == BUDGET or (not defends and is_ko_capture(row, boards[depth], point)):
                verdict = FREE
            else:
                verdict = judge_chain(boards[depth], stone, not defends)
    return verdict == CAUGHT
