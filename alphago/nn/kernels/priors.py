"""Compute priors and values from a network's raw output."""

import math

import numpy as np

from alphago.system.kernels.jit import kernel

LEAST = np.float32(1e-12)  # least prior of a legal action, relative to the best action's, so that none is 0


@kernel
def masked_softmax_batch(logits, mask, out_priors):
    """Compute the softmax of each row over its legal actions.

    Args:
        logits: float32 [n, A].
        mask: bool [n, A], whether an action is legal.
        out_priors: float32 [n, A], overwritten: positive for legal actions, exactly 0 for illegal ones.

    Returns:
        The number of rows in which a legal action's logit is not finite; the priors of such a row are undefined.
    """
    broken = 0
    for i in range(logits.shape[0]):
        highest = np.float32(-np.inf)
        unknown = False
        for a in range(logits.shape[1]):
            if mask[i, a]:
                unknown |= not math.isfinite(logits[i, a])
                highest = max(highest, logits[i, a])
        total = np.float32(0)
        for a in range(logits.shape[1]):
            if mask[i, a]:
                weight = max(np.float32(math.exp(logits[i, a] - highest)), LEAST)
                out_priors[i, a] = weight
                total += weight
            else:
                out_priors[i, a] = np.float32(0)
        if total > 0:
            for a in range(logits.shape[1]):
                out_priors[i, a] /= total
        broken += unknown
    return broken


@kernel
def clip_values(raw, out_values):
    """Clip values to -1 .. 1, and return the number of values that are not finite.

    Args:
        raw: float32 [n].
        out_values: float32 [n], overwritten with the clipped values.
    """
    broken = 0
    for i in range(raw.shape[0]):
        broken += not math.isfinite(raw[i])
        out_values[i] = min(max(raw[i], np.float32(-1)), np.float32(1))
    return broken
