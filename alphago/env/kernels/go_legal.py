"""Where a stone may be placed on Go's packed rows: three ko rules, suicide or none, own eyes."""

from alphago.env.kernels.go_chains import in_atari, is_stone, stone_hash
from alphago.env.kernels.go_row import (
    AT_FILTER,
    AT_HASHES,
    AT_VACATED,
    BEFORE_LOW,
    BOARDS_SEEN,
    BORDER,
    CHAIN_LOW,
    COLOUR,
    EMPTY,
    FILTER_BITS,
    FIRST_PASS,
    HASH_LOW,
    HEAD,
    KO_RULE,
    PLY,
    SIDE_FACTOR,
    SIMPLE,
    SITUATIONAL,
    SIZE,
    SUICIDE,
    TO_PLAY,
    cell,
    is_over,
    load_long,
    neighbour,
    occupied_bits,
    point_of,
    store_long,
)
from alphago.system.kernels.jit import kernel, load, lowest_bit, part, store


@part
def situation(row, board, mover):
    """What superko compares: the board's hash, where the rule says so with the side to move."""
    return board ^ (mover * SIDE_FACTOR) if load(row, KO_RULE) == SITUATIONAL else board


@part
def remember(row):
    """Enters the present board, with its side to move, into the superko record."""
    board = situation(row, load_long(row, HASH_LOW), load(row, TO_PLAY))
    seen = load(row, BOARDS_SEEN)
    store_long(row, load(row, AT_HASHES) + 2 * seen, board)
    store(row, BOARDS_SEEN, seen + 1)
    bit = board & (load(row, FILTER_BITS) - 1)
    at = load(row, AT_FILTER) + (bit >> 5)
    store(row, at, load(row, at) | (1 << (bit & 31)))


@part
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


@part
def has_empty_neighbour(row, point):
    stride = load(row, SIZE) + 1
    empties = 0
    for side in range(4):
        empties += load(row, cell(neighbour(point, side, stride)) + COLOUR) == EMPTY
    return empties != 0


@kernel
def allowed(row, point, colour, check_repetition):
    """Whether a stone may be placed on this empty point: no board that the ko rule forbids, suicide by the rules.

    Without `check_repetition` ko is left out, but for suicide.
    """
    if has_empty_neighbour(row, point) or has_liberties(row, point, colour):
        return not check_repetition or not occurred(row, hash_after(row, point, colour), 3 - colour)
    return load(row, SUICIDE) != 0 and suicide_allowed(row, point, colour)


@part
def has_liberties(row, point, colour):
    """Whether a stone without an empty point beside it has a liberty all the same: an own chain's, or by taking one."""
    stride = load(row, SIZE) + 1
    found = 0
    for side in range(4):
        near = cell(neighbour(point, side, stride))
        other = load(row, near + COLOUR)
        stone = is_stone(other)
        found |= stone & (in_atari(row, cell(load(row, near + HEAD) * stone)) ^ (other == colour))
    return found != 0


@part
def hash_after(row, point, colour):
    """The board's hash after a stone that takes the enemy's chains in atari beside it."""
    return hash_without(row, point, 3 - colour, True) ^ stone_hash(point, colour)


@part
def hash_without(row, point, colour, only_in_atari):
    """The board's hash without the chains of `colour` beside a point, all of them or those in atari."""
    stride = load(row, SIZE) + 1
    board = load_long(row, HASH_LOW)
    first = second = third = 0
    for side in range(4):
        near = cell(neighbour(point, side, stride))
        if load(row, near + COLOUR) == colour:
            head = cell(load(row, near + HEAD))
            if head != first and head != second and head != third and (not only_in_atari or in_atari(row, head)):
                board ^= load_long(row, head + CHAIN_LOW)
                third = second
                second = first
                first = head
    return board


@part
def suicide_allowed(row, point, colour):
    """Whether the ko rule allows a stone that takes itself and its chains off the board.

    A stone alone would leave the board as it was: that is a repetition under every rule.
    """
    board = hash_without(row, point, colour, False)
    return board != load_long(row, HASH_LOW) and not occurred(row, board, 3 - colour)


@part
def is_repetition(row, action):
    """Whether an illegal empty point is illegal only because the board would repeat."""
    return load(row, SUICIDE) != 0 or allowed(row, point_of(row, action), load(row, TO_PLAY), False)


@part
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
    own = colour  # this bit is left while there is a stone of that colour, or the border, on each side
    for side in range(4):
        own &= load(row, cell(neighbour(point, side, stride)) + COLOUR)
    if own == 0:
        return False
    enemies = 0
    edge = 0
    for side in range(4):
        step = stride + 1 if side & 1 else stride - 1
        other = load(row, cell(point + (step if side & 2 else -step)) + COLOUR)
        enemies += other == 3 - colour
        edge |= other == BORDER
    return enemies + edge < 2


@part
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


@part
def legal_mask(row, out, at):
    """Writes N * N + 1 flags into `out` from index `at`; none is set once the game is over.

    A pass is legal from ply FIRST_PASS, and before where there is nothing else.
    """
    size = load(row, SIZE)
    going = not is_over(row)
    points = 0
    for r in range(size):
        legal = legal_bits(row, r) if going else 0
        points |= legal
        for c in range(size):
            store(out, at + r * size + c, (legal >> c) & 1)
    store(out, at + size * size, going and (load(row, PLY) >= load(row, FIRST_PASS) or points == 0))
