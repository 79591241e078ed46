"""Random playouts of the small games, on packed rows (see `rows`)."""

from typing import Any

from alphago.env.kernels import connect_four, gomoku, oware, reversi
from alphago.env.kernels.playouts import next_random
from alphago.env.kernels.rows import OVER
from alphago.system.kernels.jit import kernel, load, specialise


def play(row, action):
    raise NotImplementedError


def legal_mask(row, out):
    raise NotImplementedError


def playout_batch(rows, slots, mask, state):
    """Play every slot to its end with uniformly random legal actions; return the total number of moves.

    mask: bool [A], scratch memory.
    state: int64 [1], the state of the random generator, changed in place (see `playouts`).
    """
    moves = 0
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        while load(row, OVER) == 0:
            legal_mask(row, mask)
            count = 0
            for action in range(mask.shape[0]):
                count += load(mask, action)
            drawn = (next_random(state) * count) >> 32  # from 32 random bits, a number from 0 to count - 1
            # Choose the legal action that has `drawn` legal actions before it, without an unpredictable branch: its
            # index is the number of actions at which at most `drawn` legal actions were counted.
            chosen = 0
            legal = 0
            for action in range(mask.shape[0]):
                legal += load(mask, action)
                chosen += legal <= drawn
            play(row, chosen)
            moves += 1
    return moves


def playouts_of(rules: Any) -> Any:
    """Return `playout_batch` compiled for a game's kernels."""
    return kernel(specialise(playout_batch, play=rules.play, legal_mask=rules.legal_mask))


PLAYOUTS = {
    "connect-four": playouts_of(connect_four),
    "gomoku": playouts_of(gomoku),
    "oware": playouts_of(oware),
    "reversi": playouts_of(reversi),
}
