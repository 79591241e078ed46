"""Go on packed rows: captures, three ko rules, suicide or none, area score.

One position is one row of int32 words, the same on every device:

    header          HEADER words: rules, side, ply, komi, hash, last moves, and where the following parts begin
    cells           CELL words per point of the bordered board: colour, chain, pseudo-liberties
    vacated         1 word per board row: points from which a stone was ever taken
    scratch         2 words per board row, for the score
    boards          a ring of `depth` boards, 2 words per board row: Black's stones, White's stones
    filter          bits that say which board hashes may have occurred
    hashes          2 words per board that occurred, in order; a copy stops at the last one

The last two are for superko; a row under simple ko has no words for them.

A point is an index into the bordered board, p = (row + 1) * (N + 1) + column + 1, so that its
neighbours are p - 1, p + 1, p - (N + 1), p + (N + 1).  An action is row * N + column, pass N * N.

Chains are circular lists.  A chain's head counts pseudo-liberties (pairs of a stone and an empty
neighbour) with the sum and the sum of squares of those neighbours: all are the same point exactly
when count * squares == sum * sum, which is how atari is seen without listing liberties.

Nothing here checks that an action is legal: ask `legal_mask` first.
"""

import math

import numpy as np

from alphago.env.kernels.hashing import GOLDEN, mix
from alphago.env.kernels.jit import count_bits, kernel, load, lowest_bit, store, wrap

# Header words.
SIZE, TO_PLAY, PLY, PASSES, KOMI2, MAX_MOVES = 0, 1, 2, 3, 4, 5
FIRST_PASS = 6  # the ply from which a pass is legal while there is another move
DEPTH, NEWEST, BOARDS_SEEN, HASH_LOW, HASH_HIGH = 7, 8, 9, 10, 11
AT_VACATED, AT_SCRATCH, AT_BOARDS, AT_FILTER, AT_HASHES, FILTER_BITS = 12, 13, 14, 15, 16, 17
PER_SIZE, PER_STRIDE = 18, 19  # 65536 / N and 65536 / (N + 1), rounded up: division by multiplication
LAST, BEFORE_LAST, THIRD_LAST = 20, 21, 22  # the latest actions, NO_ACTION before the start
SPARES_EYES = 23  # 1: own eyes may not be filled
KO_RULE, SUICIDE = 24, 25  # SUICIDE 1: several stones may take themselves off the board
PASSES_TO_END = 26  # so many passes in a row end the game
BEFORE_LOW, BEFORE_HIGH = 27, 28  # hash of the board before the last move
HEADER = 32

# Words of a cell.
COLOUR, HEAD, NEXT, LIBERTIES, SUM, SQUARES, CHAIN_LOW, CHAIN_HIGH = 0, 1, 2, 3, 4, 5, 6, 7
CELL = 8

EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 3
NO_ACTION = -1

# Ko rules: what a stone may not bring back. The board before the other side's last move; any board that
# occurred; any that occurred with the same side to move, be it after a pass.
SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
SIDE_FACTOR = 0x5DEECE66D123457  # brings the side to move into what situational superko compares


def bordered_points(size):
    """Points of the bordered board, over which `cell` runs."""
    return (size + 1) * (size + 2) + 1


def row_words(size, depth, ko_rule, max_moves):
    """Words in a row: board side, boards kept for the planes, ko rule, longest game in plies."""
    words = HEADER + CELL * bordered_points(size) + 3 * size + 2 * size * depth
    if ko_rule == SIMPLE:
        return words
    return words + filter_bits(size, max_moves) // 32 + 2 * (max_moves + 1)


def filter_bits(size, max_moves):
    """Bits in the superko filter: a power of two, of which at most a sixteenth are set in all but endless games."""
    bits = 256
    while bits < 16 * min(max_moves + 1, 4 * size * size):
        bits *= 2
    return bits


@kernel
def cell(point):
    return HEADER + CELL * point


@kernel
def point_of(row, action):
    return action + ((action * load(row, PER_SIZE)) >> 16) + load(row, SIZE) + 2


@kernel
def board_row(row, point):
    return ((point * load(row, PER_STRIDE)) >> 16) - 1


@kernel
def stone_hash(point, colour):
    return mix(wrap((2 * point + colour) * GOLDEN))


@kernel
def load_long(row, i):
    return (load(row, i + 1) << 32) | (load(row, i) & 0xFFFFFFFF)


@kernel
def store_long(row, i, value):
    store(row, i, value & 0xFFFFFFFF)
    store(row, i + 1, value >> 32)


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
def head_of(row, point):
    return cell(load(row, cell(point) + HEAD))


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
def flip_bit(row, at_board, point):
    """Sets or clears a point in N row words that begin at `at_board`."""
    r = board_row(row, point)
    store(row, at_board + r, load(row, at_board + r) ^ (1 << (point - (r + 1) * (load(row, SIZE) + 1) - 1)))


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
def situation(row, board, mover):
    """What superko compares: the board's hash, where the rule says so with the side to move."""
    return board ^ (mover * SIDE_FACTOR) if load(row, KO_RULE) == SITUATIONAL else board


@kernel
def remember(row):
    """Enters the present board, with its side to move, into the superko record."""
    board = situation(row, load_long(row, HASH_LOW), load(row, TO_PLAY))
    seen = load(row, BOARDS_SEEN)
    store_long(row, load(row, AT_HASHES) + 2 * seen, board)
    store(row, BOARDS_SEEN, seen + 1)
    bit = board & (load(row, FILTER_BITS) - 1)
    at = load(row, AT_FILTER) + (bit >> 5)
    store(row, at, load(row, at) | (1 << (bit & 31)))


@kernel
def occurred(row, board, mover):
    """Whether the ko rule knows the board with this hash and `mover` to play: whether it may not come back."""
    if load(row, KO_RULE) == SIMPLE:
        return board == load_long(row, BEFORE_LOW)
    board = situation(row, board, mover)
    bit = board & (load(row, FILTER_BITS) - 1)
    if (load(row, load(row, AT_FILTER) + (bit >> 5)) >> (bit & 31)) & 1 == 0:
        return False
    at = load(row, AT_HASHES)
    for i in range(load(row, BOARDS_SEEN)):
        if load_long(row, at + 2 * i) == board:
            return True
    return False


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


@kernel
def advance_boards(row):
    """Makes the next board of the ring the newest, equal to the one before it."""
    words = 2 * load(row, SIZE)
    depth = load(row, DEPTH)
    if depth == 1:
        return
    newest = load(row, NEWEST)
    after = newest + 1 if newest + 1 < depth else 0
    at = load(row, AT_BOARDS)
    for i in range(words):
        store(row, at + after * words + i, load(row, at + newest * words + i))
    store(row, NEWEST, after)


@kernel
def play(row, action):
    """Plays a legal action for the side to move."""
    size = load(row, SIZE)
    colour = load(row, TO_PLAY)
    rule = load(row, KO_RULE)
    advance_boards(row)
    store(row, TO_PLAY, 3 - colour)
    store(row, BEFORE_LOW, load(row, HASH_LOW))
    store(row, BEFORE_HIGH, load(row, HASH_HIGH))
    if action == size * size:
        store(row, PASSES, load(row, PASSES) + 1)
        if rule == SITUATIONAL:
            remember(row)
    else:
        store(row, PASSES, 0)
        put(row, point_of(row, action), colour)
        if rule != SIMPLE:
            remember(row)
    store(row, PLY, load(row, PLY) + 1)
    store(row, THIRD_LAST, load(row, BEFORE_LAST))
    store(row, BEFORE_LAST, load(row, LAST))
    store(row, LAST, action)


@kernel
def is_over(row):
    """Enough passes in a row, or the longest game allowed."""
    return load(row, PASSES) >= load(row, PASSES_TO_END) or load(row, PLY) >= load(row, MAX_MOVES)


@kernel
def pass_ends(row):
    """Whether a pass would end the game: one after enough others, never in games of fixed turns."""
    return load(row, PASSES) + 1 >= load(row, PASSES_TO_END)


@kernel
def allowed(row, point, colour, check_repetition):
    """Whether a stone may be placed on this empty point: no board that the ko rule forbids, suicide by the rules.

    Without `check_repetition` ko is left out, but for suicide.
    """
    stride = load(row, SIZE) + 1
    safe = False
    board = load_long(row, HASH_LOW) ^ stone_hash(point, colour)
    first = second = third = 0
    for side in range(4):
        step = stride if side & 1 else 1
        near = point + (step if side & 2 else -step)
        other = load(row, cell(near) + COLOUR)
        if other == EMPTY:
            safe = True
        elif other == colour:
            if not in_atari(row, head_of(row, near)):
                safe = True
        elif other != BORDER:
            head = head_of(row, near)
            if in_atari(row, head):
                safe = True
                if head != first and head != second and head != third:
                    board ^= load_long(row, head + CHAIN_LOW)
                    third = second
                    second = first
                    first = head
        if safe and not check_repetition:
            return True
    if safe:
        return not occurred(row, board, 3 - colour)
    return load(row, SUICIDE) != 0 and suicide_allowed(row, point, colour)


@kernel
def suicide_allowed(row, point, colour):
    """Whether the ko rule allows a stone that takes itself and its chains off the board.

    A stone alone would leave the board as it was: that is a repetition under every rule.
    """
    stride = load(row, SIZE) + 1
    board = load_long(row, HASH_LOW)
    first = second = third = 0
    for side in range(4):
        step = stride if side & 1 else 1
        near = point + (step if side & 2 else -step)
        if load(row, cell(near) + COLOUR) == colour:
            head = head_of(row, near)
            if head != first and head != second and head != third:
                board ^= load_long(row, head + CHAIN_LOW)
                third = second
                second = first
                first = head
    return first != 0 and not occurred(row, board, 3 - colour)


@kernel
def is_vacated(row, point):
    r = board_row(row, point)
    return (load(row, load(row, AT_VACATED) + r) >> (point - (r + 1) * (load(row, SIZE) + 1) - 1)) & 1 == 1


@kernel
def occupied_bits(row, r):
    """The stones in board row r, both colours; an imaginary row outside the board is full."""
    size = load(row, SIZE)
    if r < 0 or r >= size:
        return (1 << size) - 1
    at = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST) + r
    return load(row, at) | load(row, at + size)


@kernel
def legal_bits(row, r):
    """The legal points of board row r as bits.

    A stone on a point from which nothing was ever taken cannot repeat a board (the earlier board had
    the stone, so it was taken since) unless it is suicide, and with an empty neighbour it is none: only the
    other points are looked at one by one.
    """
    size = load(row, SIZE)
    colour = load(row, TO_PLAY)
    full = (1 << size) - 1
    empty = ~occupied_bits(row, r) & full
    beside_empty = (empty << 1) | (empty >> 1) | ~occupied_bits(row, r - 1) | ~occupied_bits(row, r + 1)
    vacated = load(row, load(row, AT_VACATED) + r)
    legal = empty & beside_empty & ~vacated
    doubtful = empty & ~legal
    while doubtful:
        c = lowest_bit(doubtful)
        if allowed(row, (r + 1) * (size + 1) + c + 1, colour, (vacated >> c) & 1 == 1):
            legal |= 1 << c
        doubtful &= doubtful - 1
    return legal


@kernel
def is_own_eye(row, point, colour):
    """Whether an empty point is surrounded by `colour` and cannot be made false at once (libego's rule)."""
    stride = load(row, SIZE) + 1
    for side in range(4):
        step = stride if side & 1 else 1
        other = load(row, cell(point + (step if side & 2 else -step)) + COLOUR)
        if other != colour and other != BORDER:
            return False
    enemies = 0
    edge = 0
    for side in range(4):
        step = stride + 1 if side & 1 else stride - 1
        other = load(row, cell(point + (step if side & 2 else -step)) + COLOUR)
        enemies += other == 3 - colour
        edge |= other == BORDER
    return enemies + edge < 2


@kernel
def without_own_eyes(row, r, legal):
    """The bits of `legal`, points of board row r, that are not the mover's own eyes."""
    size = load(row, SIZE)
    colour = load(row, TO_PLAY)
    left = legal
    while left:
        c = lowest_bit(left)
        if is_own_eye(row, (r + 1) * (size + 1) + c + 1, colour):
            legal &= ~(1 << c)
        left &= left - 1
    return legal


@kernel
def legal_mask(row, out, at):
    """Writes N * N + 1 flags into `out` from index `at`; none is set once the game is over.

    A pass is legal from ply FIRST_PASS, and before where there is nothing else.
    """
    size = load(row, SIZE)
    going = not is_over(row)
    points = 0
    for r in range(size):
        legal = legal_bits(row, r) if going else 0
        if load(row, SPARES_EYES) != 0:
            legal = without_own_eyes(row, r, legal)
        points |= legal
        for c in range(size):
            store(out, at + r * size + c, (legal >> c) & 1)
    store(out, at + size * size, going and (load(row, PLY) >= load(row, FIRST_PASS) or points == 0))


@kernel
def planes(row, history, out, at):
    """Writes 2 * history + 1 planes of N * N floats into `out` from index `at`.

    Own and enemy stones of the newest board, of the one before, and so on (AlphaGo Zero, "Neural
    network architecture"); boards before the start are empty.  Last plane: 1 if Black is to move.
    """
    size = load(row, SIZE)
    depth = load(row, DEPTH)
    black_moves = load(row, TO_PLAY) == BLACK
    for age in range(history):
        slot = load(row, NEWEST) - age
        if slot < 0:
            slot += depth
        black = load(row, AT_BOARDS) + 2 * size * slot
        own = black if black_moves else black + size
        for side in range(2):
            begin = own if side == 0 else 2 * black + size - own
            for r in range(size):
                bits = load(row, begin + r)
                for c in range(size):
                    store(out, at + c, np.float32((bits >> c) & 1))
                at += size
    for i in range(size * size):
        store(out, at + i, np.float32(black_moves))


@kernel
def spread(row, own, r, size):
    """Grows the marks of scratch row r through empty points, from above, below and along the row."""
    empty = ~occupied_bits(row, r) & ((1 << size) - 1)
    marks = load(row, own + r)
    if r > 0:
        marks |= load(row, own + r - 1) & empty
    if r + 1 < size:
        marks |= load(row, own + r + 1) & empty
    before = 0
    while before != marks:
        before = marks
        marks |= ((marks << 1) | (marks >> 1)) & empty
    changed = marks != load(row, own + r)
    store(row, own + r, marks)
    return changed


@kernel
def reach(row, own, size):
    """Grows marks from the stones in scratch words `own` to every empty point they reach."""
    changed = True
    while changed:
        changed = False
        for r in range(size):
            changed |= spread(row, own, r, size)
        for r in range(size - 1, -1, -1):
            changed |= spread(row, own, r, size)


@kernel
def mark_areas(row):
    """Leaves in the scratch words what Black's stones reach, then what White's do: N words each."""
    size = load(row, SIZE)
    newest = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST)
    black = load(row, AT_SCRATCH)
    white = black + size
    for i in range(2 * size):
        store(row, black + i, load(row, newest + i))
    reach(row, black, size)
    reach(row, white, size)


@kernel
def marked_area(row):
    """Black's area minus White's, from the marks of `mark_areas`."""
    size = load(row, SIZE)
    black = load(row, AT_SCRATCH)
    white = black + size
    margin = 0
    for r in range(size):
        b = load(row, black + r)
        w = load(row, white + r)
        margin += count_bits(b & ~w) - count_bits(w & ~b)
    return margin


@kernel
def area(row):
    """Black's area minus White's (Tromp and Taylor: stones, and empty points that reach one colour only)."""
    mark_areas(row)
    return marked_area(row)


@kernel
def ownership(row, out, at):
    """Writes N * N numbers into `out` from index `at`: whose area a point is in, 1 the mover's, -1 the other's, 0."""
    size = load(row, SIZE)
    sign = 1 if load(row, TO_PLAY) == BLACK else -1
    mark_areas(row)
    black = load(row, AT_SCRATCH)
    for r in range(size):
        b = load(row, black + r)
        w = load(row, black + size + r)
        for c in range(size):
            store(out, at + r * size + c, sign * (((b & ~w) >> c & 1) - ((w & ~b) >> c & 1)))


@kernel
def mover_margin(row, black_area):
    """The mover's margin in points, komi included, from Black's area minus White's."""
    margin = np.float32(black_area) - np.float32(load(row, KOMI2)) / np.float32(2)
    return margin if load(row, TO_PLAY) == BLACK else -margin


@kernel
def score(row):
    """The mover's margin in points, komi included."""
    return mover_margin(row, area(row))


@kernel
def position_hash(row):
    """A hash of stones, side to move and whether the last move was a pass."""
    return mix(load_long(row, HASH_LOW) ^ (2 * load(row, TO_PLAY) + (load(row, PASSES) > 0)))


@kernel
def lay_out(row):
    """Makes a row of zeros, in which the header's rules are set, the empty board with Black to move."""
    size = load(row, SIZE)
    store(row, PER_SIZE, 65536 // size + 1)
    store(row, PER_STRIDE, 65536 // (size + 1) + 1)
    store(row, TO_PLAY, BLACK)
    for word in range(LAST, THIRD_LAST + 1):
        store(row, word, NO_ACTION)
    points = (size + 1) * (size + 2) + 1
    at = HEADER + CELL * points
    store(row, AT_VACATED, at)
    store(row, AT_SCRATCH, at + size)
    store(row, AT_BOARDS, at + 3 * size)
    at += 3 * size + 2 * size * load(row, DEPTH)
    store(row, AT_FILTER, at)
    store(row, AT_HASHES, at + load(row, FILTER_BITS) // 32)
    for point in range(points):
        store(row, cell(point) + COLOUR, BORDER)
    for action in range(size * size):
        store(row, cell(point_of(row, action)) + COLOUR, EMPTY)
    store_long(row, BEFORE_LOW, -1)  # no board
    if load(row, KO_RULE) != SIMPLE:
        remember(row)


@kernel
def set_up(row, colours, to_play):
    """Places stones on an empty board: `colours` int8 [N * N], 1 Black, -1 White; then `to_play` moves.

    Chains that have a liberty in the end have one on the way too (that one, or a point still to be
    filled that leads to it), so nothing is taken; if `misplaced` finds a stone afterwards, the row is
    unfit for play.  The board becomes the first that the ko rule knows; earlier ones stay empty.
    """
    size = load(row, SIZE)
    for action in range(size * size):
        colour = load(colours, action)
        if colour != 0:
            put(row, point_of(row, action), BLACK if colour > 0 else WHITE)
    store(row, TO_PLAY, to_play)
    if load(row, KO_RULE) == SIMPLE:
        return
    store(row, BOARDS_SEEN, 0)
    for i in range(load(row, FILTER_BITS) // 32):
        store(row, load(row, AT_FILTER) + i, 0)
    remember(row)


@kernel
def misplaced(row, colours):
    """An action of `set_up` whose stone was taken or has no liberty, or NO_ACTION."""
    for action in range(load(row, SIZE) * load(row, SIZE)):
        wanted = load(colours, action)
        if wanted != 0:
            at = cell(point_of(row, action))
            if load(row, at + COLOUR) == EMPTY or load(row, cell(load(row, at + HEAD)) + LIBERTIES) == 0:
                return action
    return NO_ACTION


@kernel
def is_repetition(row, action):
    """Whether an illegal empty point is illegal only because the board would repeat."""
    return load(row, SUICIDE) != 0 or allowed(row, point_of(row, action), load(row, TO_PLAY), False)


@kernel
def board(row, out):
    """int8 [N * N]: 1 Black, -1 White, 0 empty."""
    for action in range(load(row, SIZE) * load(row, SIZE)):
        colour = load(row, cell(point_of(row, action)) + COLOUR)
        store(out, action, (colour == BLACK) - (colour == WHITE))


@kernel
def copy(source, target):
    """Makes `target` equal to `source`, up to the last board hash in use."""
    for i in range(load(source, AT_HASHES) + 2 * load(source, BOARDS_SEEN)):
        store(target, i, load(source, i))


# One outer loop per verb: rows is int32 [count, words], slots int64 [n], out has n entries.


@kernel
def reset_batch(rows, slots, start, komi2, spares_eyes):
    """Makes each row equal to `start` (see `lay_out`) but for what belongs to one game."""
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        copy(start, row)
        store(row, KOMI2, komi2)
        store(row, SPARES_EYES, spares_eyes)


@kernel
def copy_batch(from_rows, sources, rows, targets):
    for i in range(sources.shape[0]):
        copy(from_rows[sources[i]], rows[targets[i]])


@kernel
def play_batch(rows, slots, actions):
    for i in range(slots.shape[0]):
        play(rows[slots[i]], int(actions[i]))


@kernel
def replay_batch(rows, roots, paths, lengths, targets):
    """Copies each root and plays the first `lengths[i]` actions of `paths[i]` on the copy."""
    for i in range(roots.shape[0]):
        target = rows[targets[i]]
        copy(rows[roots[i]], target)
        for ply in range(lengths[i]):
            play(target, int(paths[i, ply]))


@kernel
def legal_mask_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        legal_mask(rows[slots[i]], out[i], 0)


@kernel
def planes_batch(rows, slots, history, out):
    """`out` is float32 [n, (2 * history + 1) * N * N]."""
    for i in range(slots.shape[0]):
        planes(rows[slots[i]], history, out[i], 0)


@kernel
def is_over_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = is_over(rows[slots[i]])


@kernel
def to_play_batch(rows, slots, out):
    """+1 Black, -1 White."""
    for i in range(slots.shape[0]):
        out[i] = 3 - 2 * load(rows[slots[i]], TO_PLAY)


@kernel
def hash_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = position_hash(rows[slots[i]])


@kernel
def score_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = score(rows[slots[i]])


@kernel
def ownership_batch(rows, slots, out):
    """`out` is int8 [n, N * N]."""
    for i in range(slots.shape[0]):
        ownership(rows[slots[i]], out[i], 0)


@kernel
def outcome_batch(rows, slots, margin_weight, out):
    """The mover's result, -1, 0 or 1, of which `margin_weight` is replaced by tanh(margin / 10)."""
    for i in range(slots.shape[0]):
        margin = score(rows[slots[i]])
        sign = np.float32(margin > 0) - np.float32(margin < 0)
        out[i] = (1 - margin_weight) * sign + margin_weight * math.tanh(margin / 10)
