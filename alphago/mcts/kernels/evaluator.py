"""Pseudo-random evaluations, which replace a network in tests and timings."""

import numpy as np

from alphago.system.kernels.hashing import mix
from alphago.system.kernels.jit import kernel, load, wrap


@kernel
def hash_evaluation(hashes, mask, priors, values):
    """Draw priors and values from position hashes, the same on every machine.

    Args:
        hashes: int64 [n], contiguous.
        mask: bool [n, A], the legal actions.
        priors: float32 [n, A], overwritten.
        values: float32 [n], overwritten, -1 .. 1.
    """
    for i in range(hashes.shape[0]):
        total = np.float32(0)
        for action in range(mask.shape[1]):
            prior = np.float32(0)
            if mask[i, action]:
                prior = np.float32(1 + (mix(wrap(load(hashes, i) + action)) & 0xFFF))  # 12 random bits: 1 .. 4096
            priors[i, action] = prior
            total += prior
        for action in range(mask.shape[1]):
            priors[i, action] /= total
        bits = mix(wrap(load(hashes, i) - 1)) & 0xFFFF  # 16 random bits; -1, since actions add 0, 1, …
        values[i] = np.float32(bits - 0x8000) / np.float32(0x8000)
