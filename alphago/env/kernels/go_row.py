"""Go's packed row: one position in one row of int32 words, the same on every device.

    header          HEADER words: rules, side, ply, komi, hash, last moves, and the indices of the parts below
    cells           CELL words per point of the bordered board: colour, chain, pseudo-liberties (see `go_chains`),
                    and the list of empty points
    vacated         1 word per board row: bits of points from which a stone was ever removed
    scratch         2 words per board row, for the score
    boards          a ring buffer of `depth` boards, 2 words per board row: Black's stones, White's stones
    filter          bits that say which board hashes may have occurred
    hashes          2 words per board that occurred, in order; `copy` stops after the last one in use

Filter and hashes are for superko; a row with simple ko does not have them.

A point is an index into the bordered board, p = (row + 1) * (N + 1) + column + 1, so that its
neighbours are p - 1, p + 1, p - (N + 1), p + (N + 1).  An action is row * N + column, pass N * N.
"""

from alphago.system.kernels.jit import kernel, load, load_pair, part, store

# Header words.
SIZE, TO_PLAY, PLY, PASSES, KOMI2, MAX_MOVES = 0, 1, 2, 3, 4, 5  # PASSES: in a row; KOMI2: twice the komi
FIRST_PASS = 6  # the ply from which a pass is legal while there is another move
# DEPTH: how many boards the ring buffer has; NEWEST: the index of the newest board in it.
# BOARDS_SEEN: how many hashes are kept for superko; HASH_LOW, HASH_HIGH: the hash of the current board.
DEPTH, NEWEST, BOARDS_SEEN, HASH_LOW, HASH_HIGH = 7, 8, 9, 10, 11
# Where the parts of the row begin, and the size of the filter.
AT_VACATED, AT_SCRATCH, AT_BOARDS, AT_FILTER, AT_HASHES, FILTER_BITS = 12, 13, 14, 15, 16, 17
PER_SIZE, PER_STRIDE = 18, 19  # 65536 / N and 65536 / (N + 1), rounded up, to divide by multiplying with them
BEFORE_LOW, BEFORE_HIGH = 20, 21  # hash of the board before the last move
# How many actions older than THIRD_LAST the row keeps, in the words after THIRD_LAST; unused words are 0.
FURTHER_LAST_MOVES = 22
EMPTY_COUNT = 23  # how many points are empty
KO_RULE, SUICIDE = 24, 25  # SUICIDE 1: a move may remove several own stones
PASSES_TO_END = 26  # passes in a row that end the game
LAST, BEFORE_LAST, THIRD_LAST = 27, 28, 29  # the latest actions, NO_ACTION before the start
HEADER = 32

# Words of a cell. For a stone, HEAD and NEXT are the points of its chain's head and of the chain's next stone;
# LIBERTIES and CHAIN (a hash) of the head are the chain's. For an empty point, HEAD is 0 until a stone was removed from
# it, and PLACE is its index in the list of empty points. EMPTY_POINT of cell i is entry i of that list.
COLOUR, HEAD, NEXT, EMPTY_POINT, LIBERTIES_LOW, LIBERTIES_HIGH, CHAIN_LOW, CHAIN_HIGH = 0, 1, 2, 3, 4, 5, 6, 7
PLACE = NEXT
CELL = 8
ALIGNMENT = 4  # a row begins at a multiple of so many words, which a GPU copies at once

# A chain's pseudo-liberties packed into one number: the sum of squares of points from bit 0, the sum of points, the
# count. k stones have at most 2 k + 2 pseudo-liberties, and an empty point counts at most 4 times: that is at most 834
# on 25x25, where the sum of squares needs 29 bits, the sum 20 and the count 10.
SUM_BITS, COUNT_BITS = 31, 52  # first bits of the sum and of the count

# A side's bit is set in its own number and in that of the border.  The other side of `colour` is 3 - colour.
EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 3
NO_ACTION = -1

# Ko rules: a move must not restore the board before the other side's last move (SIMPLE), any board that occurred
# (POSITIONAL), or any that occurred with the same side to move, also after a pass (SITUATIONAL).
SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
SIDE_FACTOR = 0x5DEECE66D123457  # adds the side to move to the key of situational superko


def bordered_points(size):
    """Return the number of points of the bordered board, which is the number of cells."""
    # N + 2 rows of N + 1 points, since the left border of a row is the right border of the row above, and a last point.
    return (size + 1) * (size + 2) + 1


def row_words(size, depth, ko_rule, max_moves):
    """Return the number of int32 words of a row.

    Args:
        depth: number of boards kept for history planes.
        max_moves: the most plies of a game.
    """
    # 3 * size: for each board row a word for the vacated points, and two of scratch, see the module.
    words = HEADER + CELL * bordered_points(size) + 3 * size + 2 * size * depth
    if ko_rule != SIMPLE:
        hash_words = 2 * (max_moves + 1)  # two words for each board of the longest game
        words += filter_bits(size, max_moves) // 32 + hash_words
    return -(-words // ALIGNMENT) * ALIGNMENT  # rounded up to a multiple of ALIGNMENT


def filter_bits(size, max_moves):
    """Return the number of bits of the superko filter: a power of two, at least 256, and 16 or more per board.

    The boards are those of the longest game, of which at most 4 N^2 are counted.
    """
    boards = min(max_moves + 1, 4 * size * size)
    bits = 256
    while bits < 16 * boards:
        bits *= 2
    return bits


@kernel
def cell(point):
    """Return the index in a row at which the cell of a point begins."""
    return HEADER + CELL * point


@kernel
def point_of(row, action):
    """Return the point of an action: action + board row + N + 2, where the board row is action / N, see PER_SIZE."""
    return action + ((action * load(row, PER_SIZE)) >> 16) + load(row, SIZE) + 2


@kernel
def action_of(row, point):
    """Return the action of a point, the inverse of `point_of`."""
    return point - board_row(row, point) - load(row, SIZE) - 2


@part
def board_row(row, point):
    """Return the board row of a point: point / (N + 1), rounded down, minus 1."""
    return ((point * load(row, PER_STRIDE)) >> 16) - 1


@kernel
def neighbour(point, side, stride):
    """Return the neighbour of a point on side 0 (left), 1 (up), 2 (right) or 3 (down); `stride`: N + 1."""
    step = stride if side & 1 else 1
    return point + (step if side & 2 else -step)


@kernel
def load_long(row, i):
    """Return the signed 64-bit number in the words i (low) and i + 1 (high)."""
    return load_pair(row, i)


@part
def store_long(row, i, value):
    """Write the low 32 bits of a 64-bit number into the word i, and the high 32 bits into the word i + 1.

    `store` drops the bits of a value that do not fit into a word.  The compiler makes one store of the two.
    """
    store(row, i, value)
    store(row, i + 1, value >> 32)


@part
def point_bit(row, point, r):
    """Return a point as a bit of its board row r: 1 << column."""
    return 1 << (point - (r + 1) * (load(row, SIZE) + 1) - 1)


@part
def flip_bit(row, at_board, point):
    """Flip a point's bit in the N row words that begin at `at_board`."""
    r = board_row(row, point)
    store(row, at_board + r, load(row, at_board + r) ^ point_bit(row, point, r))


@part
def is_vacated(row, point):
    """Return whether a stone was ever removed from an empty point."""
    return load(row, cell(point) + HEAD) != 0


@part
def occupied_bits(row, r):
    """Return the stones of both colours in board row r as bits; for a row off the board all bits are set."""
    size = load(row, SIZE)
    if r < 0 or r >= size:
        return (1 << size) - 1
    at = load(row, AT_BOARDS) + 2 * size * load(row, NEWEST) + r
    return load(row, at) | load(row, at + size)


@kernel
def is_over(row):
    """Return whether the game has ended, by two passes or by its ply limit."""
    return load(row, PASSES) >= load(row, PASSES_TO_END) or load(row, PLY) >= load(row, MAX_MOVES)


@kernel
def pass_ends(row):
    """Return whether a pass now would end the game; never in games with fixed turns."""
    return load(row, PASSES) + 1 >= load(row, PASSES_TO_END)


@part
def copy(source, target):
    """Make the row `target` equal to the row `source`, except for the unused words after the last board hash."""
    for i in range(load(source, AT_HASHES) + 2 * load(source, BOARDS_SEEN)):
        store(target, i, load(source, i))
