"""Oware Abapa on packed rows (see `rows`): the cells are houses, their numbers seeds.

Houses 0 to 5 are Black's, 6 to 11 White's, each from its player's left to right; seeds are sown in that order, round
and round. In `sow` and `capture` a house is the index of its word in the row, HEADER + 0 to HEADER + 11. Black's margin
determines both stores, since the seeds that are not in houses are in stores. After the houses come the hashes of the
positions since the last capture: before it there were more seeds on the board.
"""

import numpy as np

from alphago.env.kernels.rows import (
    BLACK,
    HEADER,
    MARGIN,
    OVER,
    PLY,
    TO_PLAY,
    clear,
    end_turn,
    loops_over,
    position_hash,
)
from alphago.system.kernels.jit import kernel, load, part, store

SEEN, LIMIT = 6, 7  # header words of this game: positions since the last capture; plies at which the game ends
SIDE, HOUSES, SEEDS = 6, 12, 48  # houses of one player, and of both; seeds of the game
AT_HASHES = HEADER + HOUSES
EXACT = 12  # numbers of seeds, from 0, that have a plane of their own
PLANES = EXACT + 4


def row_words(limit):
    """Return the words of a row for games of at most `limit` plies."""
    return AT_HASHES + limit + 1


@part
def left_house(player):
    return HEADER if player == BLACK else HEADER + SIDE


@part
def seeds_of(row, player):
    """Return the seeds in the houses of one player."""
    left = left_house(player)
    total = 0
    for i in range(left, left + SIDE):
        total += load(row, i)
    return total


@part
def in_store(row, player):
    """Return the number of seeds that a player (BLACK or -BLACK) has captured."""
    captured = SEEDS - seeds_of(row, BLACK) - seeds_of(row, -BLACK)
    return (captured + player * load(row, MARGIN)) // 2


@part
def is_new(row):
    """Record the position; return False if it occurred since the last capture."""
    found = position_hash(row)
    seen = load(row, SEEN)
    for i in range(AT_HASHES, AT_HASHES + seen):
        if load(row, i) == found:
            return False
    store(row, AT_HASHES + seen, found)
    store(row, SEEN, seen + 1)
    return True


@part
def sow(row, house):
    """Sow the seeds of the house with row index `house`; return the row index of the house of the last seed."""
    seeds = load(row, house)
    store(row, house, 0)
    i = house
    while seeds > 0:
        i = HEADER + (i - HEADER + 1) % HOUSES
        if i != house:
            store(row, i, load(row, i) + 1)
            seeds -= 1
    return i


@part
def capture(row, last):
    """Capture twos and threes from the enemy house with row index `last` backwards, unless all enemy seeds would go."""
    mover = load(row, TO_PLAY)
    left = left_house(-mover)
    first = last + 1
    taken = 0
    if left <= last < left + SIDE:
        while first > left and 2 <= load(row, first - 1) <= 3:
            first -= 1
            taken += load(row, first)
    if 0 < taken < seeds_of(row, -mover):
        for i in range(first, last + 1):
            store(row, i, 0)
        store(row, MARGIN, load(row, MARGIN) + mover * taken)
        store(row, SEEN, 0)


@part
def allowed(row, house):
    """Return whether the mover may sow its house 0 to 5: it has seeds, and feeds an enemy who has none."""
    mover = load(row, TO_PLAY)
    seeds = load(row, left_house(mover) + house)
    return seeds > 0 and (house + seeds >= SIDE or seeds_of(row, -mover) > 0)


@part
def can_move(row):
    for house in range(SIDE):
        if allowed(row, house):
            return True
    return False


@part
def end_if_decided(row):
    """End a game that is won or cannot go on; in the latter case each side captures the seeds of its own houses."""
    if 2 * max(in_store(row, BLACK), in_store(row, -BLACK)) > SEEDS:
        store(row, OVER, 1)
        return
    is_repeated = not is_new(row)
    if is_repeated or load(row, PLY) >= load(row, LIMIT) or not can_move(row):
        store(row, MARGIN, load(row, MARGIN) + seeds_of(row, BLACK) - seeds_of(row, -BLACK))
        for i in range(HEADER, HEADER + HOUSES):
            store(row, i, 0)
        store(row, OVER, 1)


@kernel
def set_up(row, houses, to_play, margin, ply, limit):
    clear(row, 2, SIDE)
    store(row, LIMIT, limit)
    store(row, TO_PLAY, to_play)
    store(row, MARGIN, margin)
    store(row, PLY, ply)
    for i in range(HOUSES):
        store(row, HEADER + i, load(houses, i))
    end_if_decided(row)


@part
def play(row, action):
    capture(row, sow(row, left_house(load(row, TO_PLAY)) + action))
    end_turn(row)
    end_if_decided(row)


@part
def legal_mask(row, out):
    for house in range(SIDE):
        store(out, house, load(row, OVER) == 0 and allowed(row, house))


@part
def planes(row, out):
    """Write PLANES planes of 2 x 6: 1 for houses with 0, 1, … 11 seeds; seeds / 12; each store / SEEDS; ply / LIMIT.

    The lower row has the mover's houses from the left, the upper row the enemy's houses opposite, so from the right.
    """
    mover = load(row, TO_PLAY)
    for point in range(HOUSES):
        house = left_house(mover) + point - SIDE if point >= SIDE else left_house(-mover) + SIDE - 1 - point
        seeds = load(row, house)
        for number in range(EXACT):
            store(out, number * HOUSES + point, np.float32(seeds == number))
        store(out, EXACT * HOUSES + point, np.float32(seeds / 12))
        store(out, (EXACT + 1) * HOUSES + point, np.float32(in_store(row, mover) / SEEDS))
        store(out, (EXACT + 2) * HOUSES + point, np.float32(in_store(row, -mover) / SEEDS))
        store(out, (EXACT + 3) * HOUSES + point, np.float32(load(row, PLY) / load(row, LIMIT)))


@kernel
def reset_batch(rows, slots, houses, to_play, margin, ply, limit):
    for i in range(slots.shape[0]):
        set_up(rows[slots[i]], houses, to_play, margin, ply, limit)


play_batch, replay_batch, legal_mask_batch, planes_batch = loops_over(play, legal_mask, planes)
