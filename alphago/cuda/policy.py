"""From logits to moves on a back end, and symmetries; the kernels are in `kernels/policy.cu`.

They are for whoever writes a loop that stays on the device; self-play takes torch's softmax, within its graph.
Arrays are the back end's, C-contiguous, of the types told; shapes are checked, as kernels write without looking.
Nothing here waits for the device.
"""

from typing import Any

import numpy as np

from alphago.cuda.backend import Backend


def masked_softmax(backend: Backend, logits: Any, mask: Any) -> Any:
    """Probabilities float32 [n, actions] of the actions in `mask` (bool [n, actions]) by their logits (float32).

    0 for all others; all 0 where `mask` has none.
    """
    check("a mask", mask, logits.shape)
    out = backend.zeros(logits.shape, np.float32)
    logits, mask = backend.upload(logits, np.float32), backend.upload(mask, np.bool_)
    backend.launch("masked_softmax_batch", len(logits), logits, mask, *logits.shape, out)
    return out


def arg_max(backend: Backend, values: Any) -> Any:
    """The first of the greatest values of each line of float32 [n, actions]: int32 [n]."""
    out = backend.zeros(values.shape[:1], np.int32)
    backend.launch("arg_max_batch", len(values), backend.upload(values, np.float32), *values.shape, out)
    return out


def sample(backend: Backend, weights: Any, states: Any) -> Any:
    """An action per line of float32 [n, actions], with a chance in proportion to its weight: int32 [n].

    Weights are 0 or more; where all are 0 the action is -1.  `states`, an int64 [n] array of the back end, are streams
    of random numbers (splitmix64), which advance; ValueError for others.
    """
    check("the states", states, weights.shape[:1])
    room = backend.reachable(states)
    if room is None or room.dtype != np.int64 or not room.flags.c_contiguous:
        raise ValueError(
            f"the states are C-contiguous int64 where {backend.name!r} kernels reach them, "
            f"came a {type(states).__name__} of {states.dtype}"
        )
    out = backend.zeros(weights.shape[:1], np.int32)
    backend.launch("sample_batch", len(weights), backend.upload(weights, np.float32), *weights.shape, room, out)
    return out


def permute(backend: Backend, values: Any, choices: Any, table: Any) -> Any:
    """Turns float32 [n, lines, points] by a symmetry each: after = before[..., table[choice]].

    choices: int64 [n].  table: int64 [S, points], `Symmetries.points` for planes, `Symmetries.actions` for policies.
    """
    check("the choices", choices, values.shape[:1])
    check("a table", table, (len(table), values.shape[2]))
    out = backend.zeros(values.shape, np.float32)
    values, choices = backend.upload(values, np.float32), backend.upload(choices, np.int64)
    table = backend.upload(table, np.int64)
    backend.launch("permute_batch", out.size, values, *values.shape, choices, table, out)
    return out


def check(name: str, array: Any, shape: tuple[int, ...]) -> None:
    if tuple(array.shape) != tuple(shape):
        raise ValueError(f"{name} of shape {list(shape)} was wanted, got {list(array.shape)}")
