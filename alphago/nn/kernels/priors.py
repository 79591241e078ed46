"""Priors and values from a network's raw output."""

import math

import numpy as np

from alphago.system.kernels.jit import kernel

LEAST = np.float32(1e-12)  # weight of a legal action, where the best has 1: a legal action is never impossible


@kernel
def masked_softmax_batch(logits, mask, out_priors):
    """Compute the softmax over each row's legal actions: positive there, exactly 0 elsewhere.

    logits: float32 [n, A]. mask: bool [n, A]. out_priors: float32 [n, A], overwritten.

    A row without legal actions becomes all 0.  Returns how many rows have a legal action whose logit is not finite; the
    priors of such a row are undefined.
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
    """Write `raw`, float32 [n], clipped to -1 .. 1, to `out_values`; return how many of them are not finite."""
    broken = 0
    for i in range(raw.shape[0]):
        broken += not math.isfinite(raw[i])
        out_values[i] = min(max(raw[i], np.float32(-1)), np.float32(1))
    return broken
