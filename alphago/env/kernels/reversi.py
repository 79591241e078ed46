"""Reversi on packed rows (see `rows`): a move must enclose enemy stones, which change colour.

On boards of up to 8 x 8, where a side's stones fit into a word of 64 bits (bit 8 row + column), bit shifts find all
legal points at once.  Larger boards are searched point by point.
"""

from alphago.env.kernels import rows as layout
from alphago.env.kernels.rows import clear, end_turn, loops_over, points, stone_planes
from alphago.system.kernels.jit import kernel, load, part, store, wrap

ROW_BITS = 8  # bits of a word for each board row: boards of up to 8 x 8 points fit into a word
INNER = 0x7E7E7E7E7E7E7E7E  # all columns but the first and the last, so that shifts do not wrap around the edge


@part
def stones_of(row, colour):
    """Return the points of one colour as bits; 0 on boards larger than 8 x 8 (ROW_BITS), which do not use the bits."""
    size = load(row, layout.WIDTH)
    bits = 0
    if size > ROW_BITS:
        return bits
    for r in range(size):
        for c in range(size):
            if load(row, layout.HEADER + r * size + c) == colour:
                bits |= wrap(1 << (ROW_BITS * r + c))
    return bits


@part
def board_bits(size):
    """Return the points of the board as bits, with ROW_BITS bits for a board row."""
    line = (1 << size) - 1
    bits = 0
    for r in range(size):
        bits |= wrap(line << (ROW_BITS * r))
    return bits


@part
def line_ends(own, crossed, shift):
    """Return, as bits, the points directly beyond a line of enemy stones that begins next to an own stone.

    Args:
        own: the own stones as bits.
        crossed: the enemy stones, as bits, that the line may cross.
        shift: distance in bits of neighbours along the line; both directions of the line count.
    """
    low = (1 << (64 - shift)) - 1  # clears the ones that signed shifts to the right bring in
    # The enemy stones of such lines in the direction of higher bits and of lower bits: first the stone next to an own
    # one, then a stone more in each round. A line of the board has at most ROW_BITS - 2 stones between two others.
    up = crossed & wrap(own << shift)
    down = crossed & (own >> shift) & low
    for _ in range(ROW_BITS - 3):
        up |= crossed & wrap(up << shift)
        down |= crossed & (down >> shift) & low
    return wrap(up << shift) | ((down >> shift) & low)


@part
def legal_bits(own, enemy, size):
    """Return the empty points, as bits, on which a stone would enclose enemy stones."""
    inner = enemy & INNER  # lines along a row or a diagonal cross no stone in the first or last column
    ends = line_ends(own, inner, 1) | line_ends(own, enemy, ROW_BITS)
    ends |= line_ends(own, inner, ROW_BITS - 1) | line_ends(own, inner, ROW_BITS + 1)
    return ends & ~(own | enemy) & board_bits(size)


@kernel
def reset(row, height, width):
    """Put four stones in the middle: Black's at the upper right and lower left, White's on the other diagonal."""
    clear(row, height, width)
    upper_left = layout.HEADER + (height // 2 - 1) * (width + 1)  # row and column height // 2 - 1: the board is square
    lower_left = upper_left + width
    store(row, upper_left, layout.WHITE)
    store(row, upper_left + 1, layout.BLACK)
    store(row, lower_left, layout.BLACK)
    store(row, lower_left + 1, layout.WHITE)


@part
def count_enclosed(row, point, mover, down, right):
    """Return how many enemy stones a stone of `mover` on this point would enclose in one direction.

    Args:
        down, right: the direction, each -1, 0 or 1.
    """
    size = load(row, layout.WIDTH)
    r = point // size + down
    c = point % size + right
    count = 0
    while 0 <= r < size and 0 <= c < size:
        colour = load(row, layout.HEADER + r * size + c)
        if colour == mover:
            return count
        if colour == layout.EMPTY:
            return 0
        count += 1
        r += down
        c += right
    return 0


@part
def allowed(row, point, mover):
    """Return whether a stone of `mover` on this point would enclose enemy stones."""
    if load(row, layout.HEADER + point) != layout.EMPTY:
        return False
    for down in range(-1, 2):
        for right in range(-1, 2):
            if (down != 0 or right != 0) and count_enclosed(row, point, mover, down, right) > 0:
                return True
    return False


@part
def can_move(row, mover):
    """Return whether `mover` can place a stone."""
    size = load(row, layout.WIDTH)
    if size <= ROW_BITS:  # bit shifts find all points at once
        return legal_bits(stones_of(row, mover), stones_of(row, -mover), size) != 0
    for point in range(points(row)):
        if allowed(row, point, mover):
            return True
    return False


@part
def play(row, action):
    """Place a stone and turn the enemy stones that it encloses, or pass."""
    mover = load(row, layout.TO_PLAY)
    size = load(row, layout.WIDTH)
    if action < points(row):  # otherwise it is a pass, which never ends the game, since the other side can move
        turned = 0
        for down in range(-1, 2):
            for right in range(-1, 2):
                count = count_enclosed(row, action, mover, down, right)  # 0 for (0, 0), since the point is empty
                for step in range(1, count + 1):
                    store(row, layout.HEADER + action + step * (down * size + right), mover)
                turned += count
        store(row, layout.HEADER + action, mover)
        store(row, layout.MARGIN, load(row, layout.MARGIN) + mover * (2 * turned + 1))
        store(row, layout.OVER, not can_move(row, mover) and not can_move(row, -mover))
    end_turn(row)


@kernel
def settle(row):
    """Compute the margin, and whether the game is over, for a row whose stones and side to move were set."""
    margin = 0
    for point in range(points(row)):
        margin += load(row, layout.HEADER + point)
    store(row, layout.MARGIN, margin)
    store(row, layout.OVER, not can_move(row, layout.BLACK) and not can_move(row, layout.WHITE))


@part
def write_legal(row, player, own, enemy, out, at):
    """Write into `out` from index `at` whether a player may place a stone on each point; return whether on any.

    Args:
        own, enemy: the stones of the player and of the other side, from `stones_of`; not used on boards that do not
            fit into a word.
    """
    size = load(row, layout.WIDTH)
    if size <= ROW_BITS:  # the board fits into a word, and bit shifts find all points at once
        bits = legal_bits(own, enemy, size)
        for r in range(size):
            for c in range(size):
                store(out, at + r * size + c, (bits >> (ROW_BITS * r + c)) & 1)
        return bits != 0
    any_legal = False
    for point in range(points(row)):
        legal = allowed(row, point, player)
        store(out, at + point, legal)
        any_legal = any_legal or legal
    return any_legal


@part
def legal_mask(row, out):
    """Write whether each action is legal; a pass is legal only if the mover can place no stone and the game goes on."""
    mover = load(row, layout.TO_PLAY)
    # From index 0 of `out` on. After the end of the game neither side can place a stone, so nothing is legal.
    can_place = write_legal(row, mover, stones_of(row, mover), stones_of(row, -mover), out, 0)
    store(out, points(row), not can_place and load(row, layout.OVER) == 0)


@part
def planes(row, out):
    """Write four planes: the stones of the mover and of the other side, and the points where each may place a stone."""
    mover = load(row, layout.TO_PLAY)
    own, enemy = stones_of(row, mover), stones_of(row, -mover)
    stone_planes(row, out, 0)
    write_legal(row, mover, own, enemy, out, 2 * points(row))
    write_legal(row, -mover, enemy, own, out, 3 * points(row))


play_batch, replay_batch, legal_mask_batch, planes_batch, decisive_moves_batch = loops_over(play, legal_mask, planes)
