"""Go's kernels for many games: `rows` int32 [count, words] (see `go_row`), `slots` int64 [n], `out` [n, ...]."""

import math

import numpy as np

from alphago.env.kernels import go_row as layout
from alphago.env.kernels import rows as row_kernels
from alphago.env.kernels.go import give_turn, play, play_step, position_hash
from alphago.env.kernels.go_legal import legal_mask
from alphago.env.kernels.go_row import copy, is_over
from alphago.env.kernels.go_score import ownership, score
from alphago.env.kernels.rows import answer_batch, over_slots, write_batch
from alphago.system.kernels.jit import kernel, load, specialise, store


@kernel
def reset_batch(rows, slots, start, doubled_komi):
    """Make each row equal to `start` (see `lay_out`), with the komi `doubled_komi` / 2."""
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        copy(start, row)
        store(row, layout.KOMI2, doubled_komi)


copy_batch = kernel(specialise(row_kernels.copy_rows, copy=copy))
play_batch = kernel(specialise(row_kernels.play_batch, play=play))
# In Go a path has steps, which may also skip a turn (see `play_step`).
replay_batch = kernel(specialise(row_kernels.replay_batch, play=play_step, copy=copy))
legal_mask_batch = over_slots(write_batch, legal_mask)
ownership_batch = over_slots(write_batch, ownership)  # int8 [n, N * N]: 1 the mover, -1 the other side, 0 neither
is_over_batch = over_slots(answer_batch, is_over)
hash_batch = over_slots(answer_batch, position_hash)
score_batch = over_slots(answer_batch, score)


@kernel
def give_turn_batch(rows, slots, movers):
    """Let `movers` (int8 [n], +1 Black, -1 White) play next: where it is the other side's turn, skip it."""
    for i in range(slots.shape[0]):
        mover = layout.BLACK if movers[i] > 0 else layout.WHITE
        # Where it is the mover's turn, `give_turn` is not called, since it would forget the passes so far.
        if load(rows[slots[i]], layout.TO_PLAY) != mover:
            give_turn(rows[slots[i]], mover)


@kernel
def to_play_batch(rows, slots, out):
    """Write the side to move: +1 Black, -1 White."""
    for i in range(slots.shape[0]):
        out[i] = 3 - 2 * load(rows[slots[i]], layout.TO_PLAY)  # BLACK is 1, WHITE is 2


@kernel
def outcome_batch(rows, slots, margin_weight, out):
    """Write each mover's outcome: (1 - margin_weight) result + margin_weight tanh(margin / 10).

    result: -1, 0 or 1, the sign of the mover's margin in points.
    """
    for i in range(slots.shape[0]):
        margin = score(rows[slots[i]])
        sign = np.float32(margin > 0) - np.float32(margin < 0)
        out[i] = (1 - margin_weight) * sign + margin_weight * math.tanh(margin / 10)
