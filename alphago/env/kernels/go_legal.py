"""Legal moves, and the eyes of the mover, on the packed rows of Go."""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_chains import count_beside, in_atari, is_stone, stone_hash
from alphago.env.kernels.go_ko import ko_forbids
from alphago.env.kernels.go_row import cell, is_over, load_long, neighbour, occupied_bits, point_of
from alphago.system.kernels.jit import kernel, load, lowest_bit, part, store


@kernel
def allowed(row, point, colour, check_repetition):
    """Return whether the rules of ko and suicide allow a stone of `colour` on this empty point.

    Args:
        check_repetition: whether to check the ko rule for a move that is not suicide.  It need not be checked on a
            point from which no stone was ever removed, see `legal_bits`.
    """
    enemy = 3 - colour  # the side to move afterwards, which superko compares too
    if count_beside(row, point, layout.EMPTY) > 0 or has_liberties(row, point, colour):
        return not check_repetition or not ko_forbids(row, hash_after(row, point, colour), enemy)
    return load(row, layout.SUICIDE) != 0 and suicide_allowed(row, point, colour)


@part
def has_liberties(row, point, colour):
    """Return whether a stone of `colour` on this point, which has no empty neighbour, would have a liberty."""
    stride = load(row, layout.SIZE) + 1
    has_liberty = 0  # 1 as soon as a liberty is known
    for side in range(4):
        at_near = cell(neighbour(point, side, stride))
        near_colour = load(row, at_near + layout.COLOUR)
        has_stone = is_stone(near_colour)
        near_head = load(row, at_near + layout.HEAD) * has_stone
        atari = in_atari(row, cell(near_head))  # without a stone, of the unused cell 0
        is_own = near_colour == colour
        has_liberty |= has_stone & (atari ^ is_own)  # an own chain not in atari, or an enemy chain in atari: captured
    return has_liberty != 0


@part
def hash_after(row, point, colour):
    """Return the board's hash after a stone of `colour` on this point and the captures it makes."""
    enemy = 3 - colour
    atari_only = True  # only enemy chains in atari are captured
    return hash_without(row, point, enemy, atari_only) ^ stone_hash(point, colour)


@part
def hash_without(row, point, colour, atari_only):
    """Return the board's hash without the chains of `colour` that are adjacent to a point.

    Args:
        atari_only: whether to leave out only the chains that are in atari.
    """
    stride = load(row, layout.SIZE) + 1
    board_hash = load_long(row, layout.HASH_LOW)
    cut1 = cut2 = cut3 = 0  # row indices of the head cells of chains left out already; 0 for none
    for side in range(4):
        at_near = cell(neighbour(point, side, stride))
        if load(row, at_near + layout.COLOUR) == colour:
            at_head = cell(load(row, at_near + layout.HEAD))
            if at_head != cut1 and at_head != cut2 and at_head != cut3 and (not atari_only or in_atari(row, at_head)):
                board_hash ^= load_long(row, at_head + layout.CHAIN_LOW)
                cut3 = cut2
                cut2 = cut1
                cut1 = at_head
    return board_hash


@part
def suicide_allowed(row, point, colour):
    """Return whether the ko rule allows a suicide on this point.

    A suicide removes the new stone and the chains that it joins. Suicide of a single stone does not change the board,
    which is a repetition under every rule.
    """
    enemy = 3 - colour
    # A suicide removes all chains of `colour` beside the point, so none is tested for atari. The new stone, which is
    # removed too, is not in the hash.
    atari_only = False
    board_hash = hash_without(row, point, colour, atari_only)
    return board_hash != load_long(row, layout.HASH_LOW) and not ko_forbids(row, board_hash, enemy)


@part
def is_repetition(row, action):
    """Return whether an illegal move on an empty point is illegal only because it would repeat a board.

    The other reason is suicide, if that is not allowed.
    """
    check_repetition = False
    mover = load(row, layout.TO_PLAY)
    return load(row, layout.SUICIDE) != 0 or allowed(row, point_of(row, action), mover, check_repetition)


@part
def legal_bits(row, r):
    """Return the legal points of board row r as bits.

    A point is legal without further tests if it has an empty neighbour and no stone was ever removed from it: a stone
    there is not suicide, and cannot repeat a board, since no earlier board has a stone there. All other points are
    tested one by one.
    """
    size = load(row, layout.SIZE)
    colour = load(row, layout.TO_PLAY)
    full = (1 << size) - 1
    empty = ~occupied_bits(row, r) & full
    # Rows off the board count as occupied, so that no point is beside an empty one there.
    beside_empty = (empty << 1) | (empty >> 1) | ~occupied_bits(row, r - 1) | ~occupied_bits(row, r + 1)
    vacated = load(row, load(row, layout.AT_VACATED) + r)
    legal = empty & beside_empty & ~vacated
    doubtful = empty & ~legal
    while doubtful:
        c = lowest_bit(doubtful)
        point = (r + 1) * (size + 1) + c + 1
        check_repetition = (vacated >> c) & 1 == 1
        if allowed(row, point, colour, check_repetition):
            legal |= 1 << c
        doubtful &= doubtful - 1  # clears the lowest bit
    return legal


@kernel
def is_own_eye(row, point, colour):
    """Return whether an empty point is an eye of `colour` that one move cannot make false (libego's rule).

    All neighbours must be stones of this colour or the border.  At most one of the diagonal points may have an enemy
    stone, and none on the edge of the board.
    """
    stride = load(row, layout.SIZE) + 1
    enemy = 3 - colour
    own = colour  # becomes 0 if a neighbour is neither of this colour nor the border, which has the bits of both
    for side in range(4):
        own &= load(row, cell(neighbour(point, side, stride)) + layout.COLOUR)
    if own == 0:
        return False
    enemies = 0
    edge = 0
    for side in range(4):
        step = stride + 1 if side & 1 else stride - 1  # the diagonal points are point +- (stride + 1), +- (stride - 1)
        diagonal = load(row, cell(point + (step if side & 2 else -step)) + layout.COLOUR)
        enemies += diagonal == enemy
        edge |= diagonal == layout.BORDER
    return enemies + edge < 2


@part
def without_own_eyes(row, r, legal):
    """Return the bits of `legal` (points of board row r) without the points that are the mover's own eyes."""
    size = load(row, layout.SIZE)
    colour = load(row, layout.TO_PLAY)
    unchecked = legal
    while unchecked:
        c = lowest_bit(unchecked)
        point = (r + 1) * (size + 1) + c + 1
        if is_own_eye(row, point, colour):
            legal &= ~(1 << c)
        unchecked &= unchecked - 1  # clears the lowest bit
    return legal


@part
def legal_mask(row, out):
    """Write N * N + 1 flags into `out`, of one game: 1 for a legal action, else 0; all 0 once the game is over.

    A pass is legal from ply FIRST_PASS on; before that ply it is legal only if there is no other move.
    """
    size = load(row, layout.SIZE)
    going = not is_over(row)
    columns = 0  # the columns in which any row has a legal point, as bits
    for r in range(size):
        legal = legal_bits(row, r) if going else 0
        columns |= legal
        for c in range(size):
            store(out, r * size + c, (legal >> c) & 1)
    may_pass = load(row, layout.PLY) >= load(row, layout.FIRST_PASS) or columns == 0
    store(out, size * size, going and may_pass)


@kernel
def clear_own_eyes_batch(rows, slots, out):
    """Clear in `out` the flags of the points that are own eyes of each slot's mover.

    Args:
        out: bool [n, N * N + 1], a flag for each action, changed in place.
    """
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        colour = load(row, layout.TO_PLAY)
        for action in range(load(row, layout.SIZE) * load(row, layout.SIZE)):
            if out[i, action] and is_own_eye(row, point_of(row, action), colour):
                out[i, action] = 0


@kernel
def joined_and_free_batch(rows, slots, actions, out):
    """Write for a stone of each slot, bool [n], whether its chain has at least two stones and two liberties.

    Args:
        actions: int64 [n], where the stones were placed.  A stone that was removed by suicide gets False.
    """
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        point = point_of(row, actions[i])
        stays = is_stone(load(row, cell(point) + layout.COLOUR)) != 0  # not after suicide
        is_joined = load(row, cell(point) + layout.NEXT) != point
        at_head = cell(load(row, cell(point) + layout.HEAD))
        store(out, i, stays and is_joined and not in_atari(row, at_head))
