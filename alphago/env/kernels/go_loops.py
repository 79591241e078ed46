"""Go's kernels for many games: `rows` int32 [count, words] (see `go_row`), `slots` int64 [n], `out` [n, ...]."""

import math

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import give_turn, play, play_step, position_hash
from alphago.env.kernels.go_legal import legal_mask
from alphago.env.kernels.go_row import copy, is_over
from alphago.env.kernels.go_score import ownership, score
from alphago.system.kernels.jit import kernel, load, store, wrap


@kernel
def reset_batch(rows, slots, start, komi2):
    """Make each row equal to `start` (see `lay_out`), with the komi `komi2` / 2."""
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        copy(start, row)
        store(row, layout.KOMI2, komi2)


@kernel
def copy_batch(from_rows, sources, rows, targets):
    for i in range(sources.shape[0]):
        copy(from_rows[sources[i]], rows[targets[i]])


@kernel
def play_batch(rows, slots, actions):
    for i in range(slots.shape[0]):
        play(rows[slots[i]], wrap(int(actions[i])))  # converted to one dtype, so that the rules are compiled once


@kernel
def replay_batch(rows, roots, paths, lengths, targets):
    """Copy each root and play the first `lengths[i]` steps of `paths[i]` (see `play_step`) on the copy."""
    for i in range(roots.shape[0]):
        target = rows[targets[i]]
        copy(rows[roots[i]], target)
        for ply in range(lengths[i]):
            play_step(target, wrap(int(paths[i, ply])))


@kernel
def give_turn_batch(rows, slots, movers):
    """Let `movers` (int8 [n], +1 Black, -1 White) play next: where it is the other side's turn, skip it."""
    for i in range(slots.shape[0]):
        mover = layout.BLACK if movers[i] > 0 else layout.WHITE
        if load(rows[slots[i]], layout.TO_PLAY) != mover:
            give_turn(rows[slots[i]], mover)


@kernel
def legal_mask_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        legal_mask(rows[slots[i]], out[i], 0)


@kernel
def is_over_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = is_over(rows[slots[i]])


@kernel
def to_play_batch(rows, slots, out):
    """Write the side to move: +1 Black, -1 White."""
    for i in range(slots.shape[0]):
        out[i] = 3 - 2 * load(rows[slots[i]], layout.TO_PLAY)  # BLACK is 1, WHITE is 2


@kernel
def hash_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = position_hash(rows[slots[i]])


@kernel
def score_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        out[i] = score(rows[slots[i]])


@kernel
def ownership_batch(rows, slots, out):
    """Write each point's owner, int8 [n, N * N]: 1 the mover, -1 the other side, 0 neither."""
    for i in range(slots.shape[0]):
        ownership(rows[slots[i]], out[i], 0)


@kernel
def outcome_batch(rows, slots, margin_weight, out):
    """Write each mover's outcome: (1 - margin_weight) result + margin_weight tanh(margin / 10).

    result: -1, 0 or 1, the sign of the mover's margin in points.
    """
    for i in range(slots.shape[0]):
        margin = score(rows[slots[i]])
        sign = np.float32(margin > 0) - np.float32(margin < 0)
        out[i] = (1 - margin_weight) * sign + margin_weight * math.tanh(margin / 10)
