"""CGZero's choice among nearly best moves, and its noise on the values of leaves.

The noise depends only on the seed of the game and the node of the leaf, not on threads.
"""

import math

from alphago.mcts.kernels.nodes import NONE, ROOT, mean_value
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import inlined, kernel, load, wrap

UNIT = 2.0**-52  # brings an integer of 53 bits into the range 0 .. 2


@inlined
def uniform_noise(seed, node):
    """Return a pseudorandom number, uniform over -1 .. 1, that depends only on `seed` and `node`."""
    # `mix` ends with a signed shift, so its sign bit is 0 and 63 bits remain.
    return (mix(wrap(seed + wrap((node + 1) * GOLDEN))) >> 10) * UNIT - 1.0


@kernel
def add_value_noise(wave, over, noise, values):
    """Multiply the value of each leaf of the wave by 1 + spread u, with u uniform over -1 .. 1, and clip it to -1 .. 1.

    Some values stay unchanged: those of finished games and of roots, and those outside -1 .. 1 (such as NaN).

    Args:
        over: bool [n], whether the game is over at the leaf.
        noise: a `ValueNoise`; a game with seed 0 gets no noise.
        values: float32 [n], changed in place.
    """
    for i in range(wave.game.shape[0]):
        leaf = load(wave.leaf, i)
        seed = load(noise.seeds, load(wave.game, i))
        is_in_range = abs(values[i]) <= 1  # False for NaN
        if seed == 0 or over[i] or leaf == ROOT or not is_in_range:
            continue
        noisy = values[i] * (1.0 + noise.spread * uniform_noise(seed, leaf))
        values[i] = min(max(noisy, -1.0), 1.0)


@inlined
def child_score(tree, game, child):
    """Return CGZero's score of a visited child, mean value + ln(visits + 3), in the view of its parent's mover.

    The score is positive, since the mean value is at least -1 and ln 3 > 1.
    """
    return mean_value(tree, game, child) + math.log(tree.visits[game, child] + 3.0)


@kernel
def near_best(tree, games, share, out):
    """Mark the root actions whose `child_score` is at least `share` times the greatest one of their root.

    Args:
        games: int64 [n], the games of the rows of `out`.
        out: float32 [n, A], set to 1 for the marked actions and to 0 for all other actions, including unvisited ones.
    """
    for i in range(games.shape[0]):
        for action in range(out.shape[1]):
            out[i, action] = 0
        greatest = 0.0
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            if tree.visits[games[i], child] > 0:
                greatest = max(greatest, child_score(tree, games[i], child))
            child = tree.next_sibling[games[i], child]
        child = tree.first_child[games[i], ROOT]
        while child != NONE:
            if tree.visits[games[i], child] > 0 and child_score(tree, games[i], child) >= share * greatest:
                out[i, tree.action[games[i], child]] = 1
            child = tree.next_sibling[games[i], child]
