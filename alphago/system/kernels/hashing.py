"""Bit mixing for hashes and random numbers."""

from alphago.system.kernels.jit import part, wrap

# Odd factors that spread bits, as signed numbers: 2^64 / golden ratio, and the two factors in `mix`.
GOLDEN = -7046029254386353131
FIRST_FACTOR, SECOND_FACTOR = -4658895280553007687, -7723592293110705685


@part
def mix(x):
    """Scramble the 64 bits of x (the finaliser of "SplitMix", Steele et al. 2014, with signed shifts)."""
    x = wrap((x ^ (x >> 30)) * FIRST_FACTOR)
    x = wrap((x ^ (x >> 27)) * SECOND_FACTOR)
    return x ^ (x >> 31)
