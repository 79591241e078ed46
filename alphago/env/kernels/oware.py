"""Oware Abapa on packed rows (see `rows`): cells are houses and hold numbers of seeds.

Houses 0 to 5 are Black's, 6 to 11 White's, each from its player's left to right; seeds are sown in this cyclic order.
In `sow` and `capture` a house is given by the index of its word in the row, HEADER + 0 to HEADER + 11. Seeds that are
not in houses are in the players' stores, so the margin determines what each store holds. After the houses come the
options, and the hashes of the positions since the last capture, two words of 32 bits each; earlier positions, with more
seeds in the houses, cannot occur again.
"""

import numpy as np

from alphago.env.kernels import rows as layout
from alphago.env.kernels.rows import answer_batch, clear, end_turn, loops_over, over_slots, write_batch
from alphago.system.kernels.hashing import FIRST_FACTOR, GOLDEN
from alphago.system.kernels.jit import kernel, load, part, store, wrap

SEEN, LIMIT = 6, 7  # header words of this game: positions since the last capture; plies at which the game ends
SIDE, HOUSES, SEEDS = 6, 12, 48  # houses of one player, and of both; seeds of the game
OPTIONS = layout.HEADER + HOUSES
AT_HASHES = OPTIONS + 1
REPETITION, REMAINDER, GRADED = 1, 2, 4  # bits of the options, see OwareEnv
EXACT = 12  # the numbers of seeds 0 .. EXACT - 1 have a plane each
PLANES = EXACT + 4
HOUSE_INPUTS, STORE_INPUTS = 24, 27  # inputs per house and per store in `one_hot`
ONE_HOT = HOUSES * HOUSE_INPUTS + 2 * STORE_INPUTS
# Graded outcomes as in CGZero (github.com/marchete/CGZero, EvalPlayer), see OwareEnv. A win counts WIN, and so much for
# each ply left and each of the winner's captured seeds, minus so much for each of the loser's. A draw counts
# PER_SEED_IN_DRAW for each seed captured by Black.
WIN, PER_PLY_LEFT, PER_WINNERS_SEED, PER_LOSERS_SEED, PER_SEED_IN_DRAW = 0.85, 0.0006, 0.0026, 0.0020, 0.0005


def row_words(limit, options):
    """Return the number of int64 words of a row, for games of at most `limit` plies with these option bits."""
    return AT_HASHES + (2 * (limit + 1) if options & REPETITION else 0)


@part
def copy(source, target):
    """Copy the words of the row `source` that are in use to the row `target`."""
    for i in range(AT_HASHES + 2 * load(source, SEEN)):
        store(target, i, load(source, i))


@part
def left_house(player):
    """Return the row index of the leftmost house of a player, BLACK or -BLACK."""
    return layout.HEADER if player == layout.BLACK else layout.HEADER + SIDE


@part
def seeds_of(row, player):
    """Return the number of seeds in the houses of one player."""
    left = left_house(player)
    total = 0
    for i in range(SIDE):
        total += load(row, left + i)
    return total


@part
def in_store(row, player):
    """Return the number of seeds that a player (BLACK or -BLACK) has captured."""
    captured = SEEDS - seeds_of(row, layout.BLACK) - seeds_of(row, -layout.BLACK)
    return (captured + player * load(row, layout.MARGIN)) // 2


@part
def board_key(row):
    """Return a hash of houses and side to move; it is faster to compute than `position_hash`."""
    key = load(row, layout.TO_PLAY)
    factor = GOLDEN  # in the round of house i it is GOLDEN * FIRST_FACTOR ** (i + 1); FIRST_FACTOR is from `mix`
    for i in range(HOUSES):
        factor = wrap(factor * FIRST_FACTOR)
        key = wrap(key + wrap(factor * load(row, layout.HEADER + i)))
    return key


@part
def record_position(row):
    """Record the position for the rule of repetition; return whether it is new since the last capture."""
    key = board_key(row)
    low, high = wrap(key << 32) >> 32, key >> 32  # as signed words of 32 bits, which the rows on a GPU have
    seen = load(row, SEEN)
    at = AT_HASHES + 2 * seen - 4  # two positions back, since the same side must be to move
    while at >= AT_HASHES:
        if load(row, at) == low and load(row, at + 1) == high:
            return False
        at -= 4
    store(row, AT_HASHES + 2 * seen, low)
    store(row, AT_HASHES + 2 * seen + 1, high)
    store(row, SEEN, seen + 1)
    return True


@part
def sow(row, house):
    """Sow the seeds of the house with row index `house`; return the row index of the house of the last seed."""
    seeds = load(row, house)
    store(row, house, 0)
    i = house
    while seeds > 0:
        i += 1
        if i == layout.HEADER + HOUSES:
            i = layout.HEADER
        if i != house:
            store(row, i, load(row, i) + 1)
            seeds -= 1
    return i


@part
def capture(row, last):
    """Capture twos and threes from the enemy house `last` (a row index) backwards.

    Nothing is captured if that would take all seeds of the enemy.
    """
    mover = load(row, layout.TO_PLAY)
    left = left_house(-mover)
    first = last + 1  # the houses from `first` to `last` are captured, at first none
    captured = 0  # the number of their seeds
    if left <= last < left + SIDE:
        while first > left and 2 <= load(row, first - 1) <= 3:
            first -= 1
            captured += load(row, first)
    if 0 < captured < seeds_of(row, -mover):
        for i in range(first, last + 1):
            store(row, i, 0)
        store(row, layout.MARGIN, load(row, layout.MARGIN) + mover * captured)
        store(row, SEEN, 0)  # earlier positions, with more seeds in the houses, cannot occur again


@part
def allowed(row, left, house, enemy_seeds):
    """Return whether the mover may sow its house 0 to 5: it has seeds, and feeds an enemy that has none.

    Args:
        left: row index of the mover's first house.
        enemy_seeds: the number of seeds in the houses of the other side.
    """
    seeds = load(row, left + house)
    reaches_enemy = house + seeds >= SIDE
    return seeds > 0 and (reaches_enemy or enemy_seeds > 0)


@part
def can_move(row, own_seeds, enemy_seeds):
    """Return whether the mover has a legal move, given the numbers of seeds in its houses and in the enemy's."""
    if own_seeds > 0 and enemy_seeds > 0:  # any house with seeds may be sown
        return True
    left = left_house(load(row, layout.TO_PLAY))
    for house in range(SIDE):
        if allowed(row, left, house, enemy_seeds):
            return True
    return False


@part
def end_if_decided(row):
    """End the game if it is won, at a repeated position, at the ply limit, or if the mover has no legal move.

    Unless it is won, each side captures the seeds in its houses; at the ply limit only if REMAINDER is set.
    """
    mover = load(row, layout.TO_PLAY)
    own_seeds = seeds_of(row, mover)
    enemy_seeds = seeds_of(row, -mover)
    margin = load(row, layout.MARGIN)
    twice_the_fuller_store = SEEDS - own_seeds - enemy_seeds + abs(margin)
    if twice_the_fuller_store > SEEDS:  # more than half of all seeds: the game is won
        store(row, layout.OVER, 1)
        return
    options = load(row, OPTIONS)
    # `record_position` records the position, and returns False if it was recorded before.
    is_repeated = options & REPETITION != 0 and not record_position(row)
    at_limit = load(row, layout.PLY) >= load(row, LIMIT)
    if is_repeated or at_limit or not can_move(row, own_seeds, enemy_seeds):
        store(row, layout.OVER, 1)
        if not at_limit or options & REMAINDER != 0:
            store(row, layout.MARGIN, margin + mover * (own_seeds - enemy_seeds))
            for i in range(layout.HEADER, layout.HEADER + HOUSES):
                store(row, i, 0)


@kernel
def reset(row, start):
    """Set up a position.

    Args:
        start: int64 [17]: the side to move, the margin, the ply, the ply limit, the option bits, and the seeds of 12
            houses.
    """
    clear(row, 2, SIDE)
    store(row, layout.TO_PLAY, load(start, 0))
    store(row, layout.MARGIN, load(start, 1))
    store(row, layout.PLY, load(start, 2))
    store(row, LIMIT, load(start, 3))
    store(row, OPTIONS, load(start, 4))
    for i in range(HOUSES):
        store(row, layout.HEADER + i, load(start, 5 + i))
    end_if_decided(row)


@part
def play(row, action):
    """Sow a house of the mover, capture, and end the game if it is decided."""
    last_house = sow(row, left_house(load(row, layout.TO_PLAY)) + action)
    capture(row, last_house)
    end_turn(row)
    end_if_decided(row)


@part
def legal_mask(row, out):
    """Write whether the mover may sow each of its houses; all are 0 once the game is over."""
    mover = load(row, layout.TO_PLAY)
    left = left_house(mover)
    enemy_seeds = seeds_of(row, -mover)
    going = load(row, layout.OVER) == 0
    for house in range(SIDE):
        store(out, house, going and allowed(row, left, house, enemy_seeds))


@part
def planes(row, out):
    """Write PLANES planes of 2 x 6: EXACT of them for numbers of seeds, then seeds / 12, stores / 48, and ply / limit.

    Plane n of the first EXACT (12) ones says whether a house has exactly n seeds, n = 0 .. 11.

    The lower row has the mover's houses from the mover's left; the upper row has the enemy's houses from the enemy's
    right, so that opposite houses share a column. The planes of the mover's store, of the enemy's store and of plies
    are constant.
    """
    mover = load(row, layout.TO_PLAY)
    for point in range(HOUSES):
        # Points 0 to 5 are the enemy's houses from the right, 6 to 11 the mover's from the left.
        house = left_house(-mover) + SIDE - 1 - point if point < SIDE else left_house(mover) + point - SIDE
        seeds = load(row, house)
        for number in range(EXACT):
            store(out, number * HOUSES + point, np.float32(seeds == number))
        store(out, EXACT * HOUSES + point, np.float32(seeds / 12))
        store(out, (EXACT + 1) * HOUSES + point, np.float32(in_store(row, mover) / SEEDS))
        store(out, (EXACT + 2) * HOUSES + point, np.float32(in_store(row, -mover) / SEEDS))
        store(out, (EXACT + 3) * HOUSES + point, np.float32(load(row, layout.PLY) / load(row, LIMIT)))


@part
def one_hot(row, out):
    """Write CGZero's input, ONE_HOT numbers of 0 or 1: the seeds of each house, then of each store, one-hot.

    The mover's houses and store come before the enemy's.  A house has 24 numbers, the last for 23 or more seeds; a
    store has 27, the last for 26 or more.
    """
    mover = load(row, layout.TO_PLAY)
    for i in range(ONE_HOT):
        store(out, i, np.float32(0))
    for i in range(HOUSES):
        house = left_house(mover) + i if i < SIDE else left_house(-mover) + i - SIDE
        store(out, i * HOUSE_INPUTS + min(load(row, house), HOUSE_INPUTS - 1), np.float32(1))
    for i in range(2):
        seeds = min(in_store(row, mover if i == 0 else -mover), STORE_INPUTS - 1)
        store(out, HOUSES * HOUSE_INPUTS + i * STORE_INPUTS + seeds, np.float32(1))


@part
def outcome(row):
    """Return the mover's outcome: 1, 0 or -1, or in games with graded outcomes a fraction (see `graded` of `OwareEnv`).

    In a graded draw, Black gains PER_SEED_IN_DRAW for each seed in Black's store, and White loses as much.
    """
    margin = load(row, layout.MARGIN) * load(row, layout.TO_PLAY)
    sign = (margin > 0) - (margin < 0)
    if load(row, OPTIONS) & GRADED == 0:
        return np.float32(sign)
    black = in_store(row, layout.BLACK)
    white = in_store(row, -layout.BLACK)
    if sign == 0:
        return np.float32(load(row, layout.TO_PLAY) * PER_SEED_IN_DRAW * black)
    plies_left = load(row, LIMIT) - load(row, layout.PLY)
    value = WIN + PER_PLY_LEFT * plies_left + PER_WINNERS_SEED * max(black, white) - PER_LOSERS_SEED * min(black, white)
    return np.float32(sign * min(value, 1.0))


one_hot_batch = over_slots(write_batch, one_hot)
outcome_batch = over_slots(answer_batch, outcome)
play_batch, replay_batch, legal_mask_batch, planes_batch, decisive_moves_batch = loops_over(play, legal_mask, planes)
