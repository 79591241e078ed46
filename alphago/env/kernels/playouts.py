"""Light playouts: random games of Go to their end, whose results replace a network's values in a search.

`state` is int64 [1], the state of a random generator (splitmix64): at first its seed, changed by each random number.
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import play
from alphago.env.kernels.go_chains import swap_empties
from alphago.env.kernels.go_legal import allowed, is_own_eye
from alphago.env.kernels.go_row import action_of, cell, is_over, is_vacated
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import kernel, load, part, store, wrap


@part
def next_random(state):
    """Advance state[0] (splitmix64) and return 32 random bits."""
    seed = wrap(load(state, 0) + GOLDEN)
    store(state, 0, seed)
    return (mix(seed) >> 16) & 0xFFFFFFFF


@kernel
def random_action(row, state, fill_eyes):
    """Return a uniformly random legal point, as an action, or a pass if there is none.

    Points are drawn from the list of empty points; a point that is rejected is moved to the end of the list.

    Args:
        state: the random generator, changed in place (see the module).
        fill_eyes: whether the mover's own eyes count as legal points.
    """
    colour = load(row, layout.TO_PLAY)
    left = load(row, layout.EMPTY_COUNT)  # the points before this place of the list have not been rejected
    while left > 0:
        place = (next_random(state) * left) >> 32  # from 32 random bits, a number from 0 to left - 1
        point = load(row, cell(place) + layout.EMPTY_POINT)
        # The ko rule must be checked only on a point from which a stone was ever removed, see `allowed`.
        if (fill_eyes or not is_own_eye(row, point, colour)) and allowed(row, point, colour, is_vacated(row, point)):
            return action_of(row, point)
        left -= 1
        swap_empties(row, place, left)
    return load(row, layout.SIZE) * load(row, layout.SIZE)


@kernel
def playout(row, state, fill_eyes):
    """Play random moves in `row`, in place, to the end of the game; return the number of moves.

    Args:
        state: the random generator, changed in place (see the module).
        fill_eyes: as in `random_action`.
    """
    moves = 0
    while not is_over(row):
        play(row, random_action(row, state, fill_eyes))
        moves += 1
    return moves


@kernel
def playout_batch(rows, slots, state, fill_eyes):
    """Play every slot to its end with random moves; return the total number of moves.

    Args:
        state: the random generator, changed in place (see the module).
        fill_eyes: as in `random_action`.
    """
    moves = 0
    for i in range(slots.shape[0]):
        moves += playout(rows[slots[i]], state, fill_eyes)
    return moves
