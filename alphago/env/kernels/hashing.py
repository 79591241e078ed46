"""Scrambled bits, for hashes and for chance."""

from alphago.env.kernels.jit import kernel, wrap


@kernel
def mix(x):
    """Scrambles 64 bits (the finaliser of Steele et al., "SplitMix", 2014, with signed shifts)."""
    x = wrap((x ^ (x >> 30)) * -4658895280553007687)
    x = wrap((x ^ (x >> 27)) * -7723592293110705685)
    return x ^ (x >> 31)
