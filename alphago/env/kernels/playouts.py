"""Random games of Go to their end: light playouts, from which a search without a network learns values.

`state` is int64 [1], the seed and then the stream of a generator (splitmix64); it advances with every move.
"""

from alphago.env.kernels.go import play
from alphago.env.kernels.go_legal import allowed, is_own_eye
from alphago.env.kernels.go_row import AT_SCRATCH, SIZE, TO_PLAY, is_over, is_vacated, occupied_bits
from alphago.env.kernels.hashing import GOLDEN, mix
from alphago.env.kernels.jit import count_bits, kernel, load, lowest_bit, store, wrap


@kernel
def next_random(state):
    """Advances state[0] (splitmix64) and returns 32 random bits."""
    seed = wrap(load(state, 0) + GOLDEN)
    store(state, 0, seed)
    return (mix(seed) >> 16) & 0xFFFFFFFF


@kernel
def random_action(row, state, fill_eyes):
    """A uniformly random legal point; pass when there is none. Without `fill_eyes`, own eyes are left out."""
    size = load(row, SIZE)
    colour = load(row, TO_PLAY)
    at = load(row, AT_SCRATCH)
    left = 0
    for r in range(size):
        bits = ~occupied_bits(row, r) & ((1 << size) - 1)
        store(row, at + r, bits)
        left += count_bits(bits)
    while left > 0:
        k = (next_random(state) * left) >> 32
        r = 0
        bits = load(row, at)
        count = count_bits(bits)
        while k >= count:
            k -= count
            r += 1
            bits = load(row, at + r)
            count = count_bits(bits)
        rest = bits
        for _ in range(k):
            rest &= rest - 1
        c = lowest_bit(rest)
        point = (r + 1) * (size + 1) + c + 1
        if (fill_eyes or not is_own_eye(row, point, colour)) and allowed(row, point, colour, is_vacated(row, point)):
            return r * size + c
        store(row, at + r, bits & ~(1 << c))
        left -= 1
    return size * size


@kernel
def playout(row, state, fill_eyes):
    """Plays random moves to the end of the game; returns the number of moves."""
    moves = 0
    while not is_over(row):
        play(row, random_action(row, state, fill_eyes))
        moves += 1
    return moves


@kernel
def playout_batch(rows, slots, state, fill_eyes):
    """Plays every slot to its end with random moves; returns the number of moves."""
    moves = 0
    for i in range(slots.shape[0]):
        moves += playout(rows[slots[i]], state, fill_eyes)
    return moves
