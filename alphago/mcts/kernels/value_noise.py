"""Noise on the values of leaves, drawn from a seed of each game and the leaf's node: the same on any thread."""

from alphago.mcts.kernels.nodes import ROOT
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import inlined, kernel, load, wrap

UNIT = 2.0**-52  # times 53 bits: 0 .. 2


@inlined
def drawn(seed, node):
    """Return a number of a uniform distribution over -1 .. 1, the same for the same seed and node."""
    # `mix` ends with a signed shift, so that its sign bit is 0: there are 63 bits.
    return (mix(wrap(seed + wrap((node + 1) * GOLDEN))) >> 10) * UNIT - 1.0


@kernel
def add_value_noise(wave, over, noise, values):
    """Multiply the values of the wave's leaves by 1 + spread u, u uniform over -1 .. 1, but not beyond -1 .. 1.

    over: bool [n]; values of finished games are left as they are, and so are those of roots, and what is no value.
    noise: a `ValueNoise`; a seed of 0 stands for none. values: float32 [n], overwritten.
    """
    for i in range(wave.game.shape[0]):
        leaf = load(wave.leaf, i)
        seed = load(noise.seeds, load(wave.game, i))
        if seed == 0 or over[i] or leaf == ROOT or not abs(values[i]) <= 1:
            continue
        noisy = values[i] * (1.0 + noise.spread * drawn(seed, leaf))
        values[i] = min(max(noisy, -1.0), 1.0)
