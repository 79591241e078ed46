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

import numpy as np

from alphago.env.kernels import go_alive as alive
from alphago.env.kernels import go_ladders as ladders
from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import play
from alphago.env.kernels.go_alive import mark_alive_chains, part_words
from alphago.env.kernels.go_chains import count_beside, put
from alphago.env.kernels.go_legal import allowed
from alphago.env.kernels.go_planes import write_chain, write_constant
from alphago.env.kernels.go_row import action_of, cell, copy, is_vacated, pass_ends, point_of
from alphago.system.kernels.jit import kernel, load, part, store

# DEPTH: boards that a row keeps, the three that are shown, and one more for the ko point of the oldest of them.
PLANES, DEPTH = 30, 4
MOVES = 5  # the last moves that are shown, and that the row keeps
# The index of a plane, or of the first plane of several, see the module.
ON_BOARD, OWN, LIBERTIES, FORBIDDEN, LAST_MOVES, LADDERS, CATCHING, OWN_AREA, PASSES = 0, 1, 3, 6, 7, 12, 15, 16, 18
KOMI, KO_RULE_PLANE, SUPERKO_KIND_PLANE, SUICIDE_PLANE, PASS_ENDS, WAVE = 23, 24, 25, 26, 27, 28


@part
def write_numbers(row, points, out):
    """Write the constant planes that do not depend on the moves."""
    rule = load(row, layout.KO_RULE)
    most = 2 * points + 40
    komi2 = load(row, layout.KOMI2) if load(row, layout.TO_PLAY) == layout.WHITE else -load(row, layout.KOMI2)
    komi2 = min(max(komi2, -most), most)  # twice the mover's komi
    # A draw is possible only if the komi is an even number; on a board with an odd number of points, an odd number.
    above2 = (komi2 - 2 * (points & 1)) % 4  # twice the distance from the next such komi below, 0 to 3
    # A triangle wave: it rises to 0.5 at 0.5, falls to -0.5 at 1.5, and rises to 0 at 2.
    wave2 = min(above2, 2 - above2)
    superko_kind2 = (rule == layout.POSITIONAL) - (rule == layout.SITUATIONAL)
    write_constant(np.float32(1), points, ON_BOARD, out)
    write_constant(np.float32(komi2) / np.float32(40), points, KOMI, out)
    write_constant(np.float32(rule != layout.SIMPLE), points, KO_RULE_PLANE, out)
    write_constant(np.float32(superko_kind2) / np.float32(2), points, SUPERKO_KIND_PLANE, out)
    write_constant(np.float32(load(row, layout.SUICIDE)), points, SUICIDE_PLANE, out)
    write_constant(np.float32(pass_ends(row)), points, PASS_ENDS, out)
    write_constant(np.float32(wave2) / np.float32(2), points, WAVE, out)


@part
def known_moves(row):
    """Return how many of the last five actions, from the latest back, are known; they end where a turn was skipped."""
    known = 0
    while known < MOVES and load(row, layout.LAST + known) != layout.NO_ACTION:
        known += 1
    return known


@part
def only_ko_forbids(row, point):
    """Return whether a move on an empty point is forbidden, and only by the ko rule."""
    mover = load(row, layout.TO_PLAY)
    # A stone beside an empty point has a liberty, and where none was ever removed a stone cannot repeat a board.
    if count_beside(row, point, layout.EMPTY) > 0 and not is_vacated(row, point):
        return False
    # Beside an own stone, suicide would be of several stones, which the rules may allow.
    suicide_is_legal = load(row, layout.SUICIDE) != 0 and count_beside(row, point, mover) > 0
    # The last argument of `allowed` is whether to check the ko rule.  If the move is no suicide, or a legal suicide,
    # only the ko rule can forbid it.
    is_allowed = allowed(row, point, mover, True)
    return not is_allowed and (suicide_is_legal or allowed(row, point, mover, False))


@part
def write_last_moves(row, count, points, out):
    """Write the last `count` moves, and ones for passes among them."""
    for age in range(count):
        action = load(row, layout.LAST + age)
        if action == points:  # a pass
            write_constant(np.float32(1), points, PASSES + age, out)
        else:
            store(out, (LAST_MOVES + age) * points + action, np.float32(1))


@part
def lay_board(row, age, board):
    """Place the stones of the present board, or of an earlier board of the game, on an empty board.

    Args:
        row: the position, with its earlier boards.
        age: how many moves ago the board was there, 0 for the present board.
        board: the row of an empty board, changed in place.
    """
    size = load(row, layout.SIZE)
    slot = (load(row, layout.NEWEST) - age) % load(row, layout.DEPTH)
    at = load(row, layout.AT_BOARDS) + 2 * size * slot
    for i in range(2 * size):  # the board rows of Black's stones, then those of White's
        for c in range(size):
            if load(row, at + i) >> c & 1:
                put(board, point_of(row, i % size * size + c), layout.BLACK if i < size else layout.WHITE)


@part
def list_first_moves(board, stone, liberties):
    """List the first moves in a ladder of a chain for `is_caught`, see `go_ladders`; return whether there are any.

    A chain with one liberty gets the list of only NO_MOVE, since the defender moves first.

    Args:
        stone: a stone of the chain.
        liberties: the number of the chain's liberties.
    """
    if liberties == 1:
        at = load(board, ladders.AT_LIST)
        store(board, at, at + 2)  # the index at which the list begins
        store(board, at + 1, at + 3)  # the index at which the list ends, after one entry
        store(board, at + 2, ladders.NO_MOVE)
        return True
    # `judge_chain` lists the moves, unless it finds the chain FREE without a move. False: the attacker is to move.
    return liberties == 2 and ladders.judge_chain(board, stone, False) != ladders.FREE


@part
def write_board(boards, age, enemy, points, out):
    """Write the planes of liberties and ladders for one board, boards[0].

    Args:
        boards: see `go_ladders`; the others are scratch memory.
        age: how many moves ago the board was there.  Liberties and moves that catch are written for age 0 only.
        enemy: the colour of the side that is not to move in the newest board.
        points: the number of points, N * N.
    """
    board = boards[0]
    at = load(board, ladders.AT_LIST)  # here are two indices, where a list begins and where it ends, and then the list
    for action in range(points):
        head = point_of(board, action)
        colour = load(board, cell(head) + layout.COLOUR)
        if colour == layout.EMPTY or load(board, cell(head) + layout.HEAD) != head:
            continue
        # `list_liberties` extends a list, here an empty one that begins and ends at `at` + 2, to at most 4 points,
        # and returns the index at which the list then ends.
        liberties = ladders.list_liberties(board, head, at + 2, at + 2, 4) - (at + 2)
        if age == 0 and liberties <= 3:
            write_chain(board, head, LIBERTIES + liberties - 1, out)
        if not list_first_moves(board, head, liberties):
            continue
        for i in range(load(board, at), load(board, at + 1)):
            start = load(board, i)
            if ladders.is_caught(boards, head, start):
                write_chain(board, head, LADDERS + age, out)
                if age == 0 and colour == enemy and start != ladders.NO_MOVE:
                    store(out, CATCHING * points + action_of(board, start), np.float32(1))


@part
def write_ladders(row, oldest_age, laid_out_age, empty, boards, points, out):
    """Write liberties and ladders; a board that is not shown gets the ladders of the next newer one.

    The age of a board is how many moves ago it was there.

    Args:
        oldest_age: the age of the oldest board that is shown, 0 to 2.
        laid_out_age: the age of the board that is laid out stone by stone.  The newer boards are made from this one by
            playing the game's moves.
        empty, boards: as in `katago_planes`.
    """
    enemy = 3 - load(row, layout.TO_PLAY)
    copy(empty, boards[0])
    lay_board(row, laid_out_age, boards[0])
    for age in range(laid_out_age, -1, -1):
        if age <= oldest_age:
            write_board(boards, age, enemy, points, out)
        if age > 0:
            # The enemy played the last move (age 1), the mover the one before.
            store(boards[0], layout.TO_PLAY, enemy if age & 1 else 3 - enemy)
            play(boards[0], load(row, layout.LAST + age - 1))
    # The plane of a board that is not shown is a copy of the plane before it.
    for j in range((LADDERS + oldest_age + 1) * points, (LADDERS + 3) * points):
        store(out, j, load(out, j - points))


@part
def write_territory(row, colour, scratch, points, out):
    """Write one side's pass-alive chains and the regions that it owns into the plane OWN_AREA.

    The numbers are 1 if it is the mover's side, else -1.  `write_areas` says which regions a side owns.
    """
    at_area = OWN_AREA * points
    at_begins = alive.BEGINS * part_words(row)
    at_open = alive.IS_OPEN * part_words(row)
    sign = np.float32(1 if colour == load(row, layout.TO_PLAY) else -1)
    for region in range(mark_alive_chains(row, colour, sign, scratch, out, at_area)):
        begin = load(scratch, at_begins + region)
        end = load(scratch, at_begins + region + 1)
        # inner: points without an own stone beside them; enemies: points with a stone, which is the enemy's.
        inner = enemies = 0
        for i in range(begin, end):
            point = load(scratch, i)
            inner += count_beside(row, point, colour) == 0
            enemies += load(row, cell(point) + layout.COLOUR) != layout.EMPTY
        touches_own = inner < end - begin  # not so on a board without own stones, where the side owns nothing
        touches_only_alive = load(scratch, at_open + region) != 0
        # With at most one inner point, the enemy has no room for two eyes in the region.
        owns_all = touches_own and touches_only_alive and (inner <= 1 or enemies == 0)
        owns_rest = touches_own and enemies == 0  # the points of the region that neither side owns yet
        for i in range(begin, end):
            at_point = at_area + action_of(row, load(scratch, i))
            if owns_all or (owns_rest and load(out, at_point) == 0):
                store(out, at_point, sign)


@part
def write_areas(row, scratch, points, out):
    """Write stones, points that only ko forbids, and areas.

    Source: KataGo, cpp/game/board.cpp, calculateArea.  A side's area has: its pass-alive chains; regions that touch
    only these chains, and have no enemy stone or at most one point without an own stone beside it; other regions
    without enemy stones; its other stones.  A point belongs to the first of these that has it.  `write_territory`
    writes the first three into the plane OWN_AREA, as 1 for the mover and -1 for the enemy.  At the end this plane is
    split into two planes of 0 and 1.
    """
    mover = load(row, layout.TO_PLAY)
    for colour in range(layout.BLACK, layout.WHITE + 1):
        write_territory(row, colour, scratch, points, out)
    for action in range(points):
        point = point_of(row, action)
        colour = load(row, cell(point) + layout.COLOUR)
        is_forbidden = colour == layout.EMPTY and only_ko_forbids(row, point)
        store(out, FORBIDDEN * points + action, np.float32(is_forbidden))
        side = (colour == mover) - (colour == 3 - mover)
        owner = load(out, OWN_AREA * points + action)  # 1 the mover, -1 the enemy, 0 neither
        owner = np.float32(side) if owner == 0 else owner  # a stone outside both areas is its own side's
        for plane in range(2):  # the plane of the mover's points, which are 1, then that of the enemy's, which are -1
            store(out, (OWN + plane) * points + action, np.float32(side == 1 - 2 * plane))
            store(out, (OWN_AREA + plane) * points + action, np.float32(owner == 1 - 2 * plane))


@part
def katago_planes(row, empty, boards, scratch, out):
    """Write the planes of a position into `out`, float32 [30 * N * N].

    Args:
        empty: the row of an empty board by simple ko, by which ladders are read in every game.
        boards: see `go_ladders`, overwritten.
        scratch: int32, see `go_alive`, overwritten.
    """
    points = load(row, layout.SIZE) * load(row, layout.SIZE)
    for j in range(PLANES * points):
        store(out, j, np.float32(0))
    known = known_moves(row)
    is_over = load(row, layout.PASSES) >= load(row, layout.PASSES_TO_END)  # by passes, not by the ply limit
    moves_shown = min(known, 1) if is_over else known  # KataGo shows only the last move of a finished game
    # The age of a board is how many moves ago it was there. KataGo shows ladders of the boards of age 0, 1 and 2.
    oldest_age = min(moves_shown, 2)  # of the boards whose ladders are shown
    # The board before the oldest is laid out, if known: the move from there tells the ko point of the oldest board.
    laid_out_age = min(oldest_age + 1, known)
    write_numbers(row, points, out)
    write_last_moves(row, moves_shown, points, out)
    write_ladders(row, oldest_age, laid_out_age, empty, boards, points, out)
    write_areas(row, scratch, points, out)


@kernel
def katago_planes_batch(rows, slots, empty, boards, scratch, out):
    """Write the planes of each slot into its row of `out`, float32 [n, 30 * N * N]; see `katago_planes`."""
    for i in range(slots.shape[0]):
        katago_planes(rows[slots[i]], empty, boards, scratch, out[i])
