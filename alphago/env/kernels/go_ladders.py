"""Ladders on a board of Go, read as KataGo reads them for its networks.

Source: KataGo, cpp/game/board.cpp, searchIsLadderCaptured.  The attacker tries to keep a chain of the defender in atari
until it is captured; the defender extends the chain or captures attackers in atari beside it.  A chain with two
liberties at the attacker's turn is read on, with three it is free.  Kos count for the defender.

Unlike KataGo, which sometimes looks at another of the defender's moves, the defender is not free at once for the
liberties that a capture would have: in a few positions of a thousand a chain is caught here and free there.

The boards are not rows of games, but int32 [ladder_words(size)] of scratch memory: SIZE and the cells of a row (see
`go_row`), where moves can be taken back; then a frame for each move of the line that is being read; then the moves that
are still to be tried.  A frame has FRAME words from index `at_frame`: the move's point; for each of its four sides the
head of the chain that it captured or joined there, 0 for none; the point where ko forbids to retake, 0 for none; the
indices of the next move to be tried, and of the end of these moves; and the point's HEAD, NEXT and liberties before the
move, which may belong to a captured chain.
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_chains import add_liberties, in_atari, join, liberty, place_stone
from alphago.env.kernels.go_legal import has_empty_neighbour, has_liberties
from alphago.env.kernels.go_row import bordered_points, cell, load_long, neighbour, store_long
from alphago.system.kernels.jit import load, lowest_bit, part, store

POINT, SIDES, KO, NEXT_MOVE, MOVES_END, OLD, FRAME = 0, 1, 5, 6, 7, 8, 12
FREE, CAUGHT, OPEN = 0, 1, 2  # what is known of a chain; OPEN: moves must be tried
BUDGET = 25_000  # moves, after which a chain counts as free


def ladder_words(size):
    """Return the number of int32 words of a board for reading ladders."""
    moves_to_try = 8 * size * size
    return at_frames(size) + FRAME * (most_moves(size) + 3) + moves_to_try


def at_frames(size):
    """Return the index at which the frames begin."""
    return layout.HEADER + layout.CELL * bordered_points(size)


def most_moves(size):
    """Return the length of a line at which the chain counts as caught."""
    return 3 * size * size // 2


@part
def at_frames_of(board):
    size = load(board, layout.SIZE)
    return layout.HEADER + layout.CELL * ((size + 1) * (size + 2) + 1)


@part
def lay_out(board, row):
    """Make a board ready for positions of a row's size: its header, and the border around it."""
    for word in range(layout.HEADER):
        store(board, word, load(row, word))
    size = load(board, layout.SIZE)
    for point in range((size + 1) * (size + 2) + 1):
        store(board, cell(point) + layout.COLOUR, layout.BORDER)
    moves_to_try = at_frames_of(board) + FRAME * (3 * size * size // 2 + 3)
    store(board, at_frames_of(board) + MOVES_END, moves_to_try)


@part
def retake(board, head, colour, other, sign):
    """Give all points of a chain the colour, and add `sign` liberties there to the chains of the colour `other`.

    Returns the number of stones.  A chain is taken off with EMPTY and 1, and put back with its colour and -1.
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
    """Play a move that is no suicide, or a recorded suicide, which cannot be taken back; write its frame."""
    stride = load(board, layout.SIZE) + 1
    at = cell(point)
    store(board, at_frame + POINT, point)
    store(board, at_frame + OLD, load(board, at + layout.HEAD))
    store(board, at_frame + OLD + 1, load(board, at + layout.NEXT))
    store_long(board, at_frame + OLD + 2, load_long(board, at + layout.LIBERTIES_LOW))
    dead = place_stone(board, point, colour)
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
            stones += retake(board, ko, layout.EMPTY, colour, 1)
    head = load(board, at + layout.HEAD)
    liberties = load_long(board, cell(head) + layout.LIBERTIES_LOW) >> layout.COUNT_BITS
    if liberties == 0:
        retake(board, head, layout.EMPTY, 3 - colour, 1)
    store(board, at_frame + KO, ko if stones == 1 and liberties == 1 and joined == 0 else 0)


@part
def take_back(board, at_frame):
    """Take back the move of a frame; the board is then what it was, to the order of stones in each chain."""
    stride = load(board, layout.SIZE) + 1
    point = load(board, at_frame + POINT)
    at = cell(point)
    colour = load(board, at + layout.COLOUR)
    for side in range(4):
        lost = load(board, at_frame + SIDES + side)
        if lost != 0 and load(board, cell(lost) + layout.COLOUR) == layout.EMPTY:
            retake(board, lost, 3 - colour, colour, -1)
    for side in range(3, -1, -1):
        lost = load(board, at_frame + SIDES + side)
        if lost != 0 and load(board, cell(lost) + layout.COLOUR) == colour:
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
def list_liberties(board, stone, most, at):
    """Write the liberties of a stone's chain from index `at` on, `most` at most; return their number."""
    stride = load(board, layout.SIZE) + 1
    found = 0
    begin = stone
    while True:
        for side in range(4):
            near = neighbour(stone, side, stride)
            if load(board, cell(near) + layout.COLOUR) == layout.EMPTY:
                known = False
                for i in range(at, at + found):
                    known |= load(board, i) == near
                if not known:
                    store(board, at + found, near)
                    found += 1
                    if found == most:
                        return found
        stone = load(board, cell(stone) + layout.NEXT)
        if stone == begin:
            return found


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
                    known = False
                    for i in range(at, end):
                        known |= load(board, i) == point
                    if not known:
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
def is_ko_mouth(board, point, colour):
    """Return whether a stone of the attacker on this point would take a ko of `colour`."""
    stride = load(board, layout.SIZE) + 1
    atari = single = 0
    for side in range(4):
        near = neighbour(point, side, stride)
        near_colour = load(board, cell(near) + layout.COLOUR)
        if near_colour != colour and near_colour != layout.BORDER:
            return False
        if near_colour == colour and in_atari(board, cell(load(board, cell(near) + layout.HEAD))):
            atari += 1
            single += load(board, cell(near) + layout.NEXT) == near
    return atari == 1 and single == 1


@part
def is_hopeless(board, stone, first, second, at_frame):
    """Return whether a chain's two liberties are two ko mouths that only the attacker gains from."""
    colour = load(board, cell(stone) + layout.COLOUR)
    if not (is_ko_mouth(board, first, colour) and is_ko_mouth(board, second, colour)):
        return False
    at = load(board, at_frame + NEXT_MOVE) + 2
    for point in (first, second):
        move(board, point, colour, at_frame + FRAME)
        liberties = list_liberties(board, stone, 3, at)
        take_back(board, at_frame + FRAME)
        if liberties > 2:
            return False
    return list_captures(board, stone, at) == at


@part
def look(board, stone, defends, at_frame):
    """Return what is known of a chain before any further move; if OPEN, write the moves to be tried.

    defends: whether the defender is to move, with the chain in atari.
    """
    at = load(board, at_frame - FRAME + MOVES_END)
    store(board, at_frame + NEXT_MOVE, at)
    head = load(board, cell(stone) + layout.HEAD)
    if in_atari(board, cell(head)) != defends:
        if not defends:
            return CAUGHT
        return FREE
    if defends:
        if load(board, at_frame - FRAME + KO) != 0:
            return FREE
        point = last_liberty(board, head)
        if count_empty(board, point) >= 3:
            return FREE
        at = list_captures(board, stone, at)
        store(board, at, point)
        store(board, at_frame + MOVES_END, at + 1)
        return OPEN
    if list_liberties(board, stone, 3, at) == 3:
        return FREE
    first = load(board, at)
    second = load(board, at + 1)
    ways1 = count_empty(board, first)
    ways2 = count_empty(board, second)
    if ways1 == 0 and ways2 == 0 and is_hopeless(board, stone, first, second, at_frame):
        return CAUGHT
    end = at + 2
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
    """Return whether a chain in atari is lost with the defender to move; kos of earlier moves count for it.

    at_first: index of the frame of the move before.
    """
    size = load(board, layout.SIZE)
    defender = load(board, cell(stone) + layout.COLOUR)
    store(board, at_first + KO, 0)
    depth = moves = 0
    known = look(board, stone, True, at_first + FRAME)
    while True:
        at_frame = at_first + FRAME + FRAME * depth
        defends = depth & 1 == 0
        if known == OPEN:
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
                if depth == 3 * size * size // 2:
                    known = CAUGHT
                elif moves == BUDGET or load(board, at_frame + MOVES_END) + size * size > board.shape[0]:
                    known = FREE
                else:
                    known = look(board, stone, not defends, at_frame + FRAME)
            continue
        depth -= 1
        if depth < 0:
            return known == CAUGHT
        take_back(board, at_frame - FRAME)
        if moves >= BUDGET:
            known = FREE
        elif (known == CAUGHT) == (depth & 1 == 0):  # this side's move did not help it
            known = OPEN


@part
def working_moves(board, stone, at_first):
    """Read the ladders of a chain with two liberties; return the points where one begins, `first + 65536 * second`.

    A missing point is 0.
    """
    at = load(board, at_first - FRAME + MOVES_END)
    store(board, at_first + MOVES_END, at)
    attacker = 3 - load(board, cell(stone) + layout.COLOUR)
    list_liberties(board, stone, 2, at)
    first = load(board, at)
    second = load(board, at + 1)
    apart = not is_adjacent(board, first, second)
    ko = load(board, at_first - FRAME + KO)
    works = 0
    for i in range(2):
        point, other = (first, second) if i == 0 else (second, first)
        if (apart and count_empty(board, other) >= 3) or not can_move(board, point, attacker, ko):
            continue
        move(board, point, attacker, at_first)
        if is_caught(board, stone, at_first):
            works += point << (16 * i)
        take_back(board, at_first)
    return works
