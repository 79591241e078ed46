"""Gomoku on packed rows (see `rows`): `connect` stones or more in a line win.

After the cells, a row has the latest `depth` actions; the action of ply i is at index i % depth.  The planes need these
actions: since stones never leave the board, an older board is the newest board without the stones played since then.
In a set-up position the actions before it are UNKNOWN.
"""

import numpy as np

from alphago.env.kernels import rows as layout
from alphago.env.kernels.rows import clear, longest_line, loops_over, points, put_stone, stone_planes
from alphago.system.kernels.jit import kernel, load, part, store

CONNECT, DEPTH = 6, 7  # header words of this game
UNKNOWN = -1


@kernel
def reset(row, size, connect, depth):
    """Set the row to an empty board with Black to move; the arguments are explained in the module."""
    clear(row, size, size)
    store(row, CONNECT, connect)
    store(row, DEPTH, depth)


@part
def play(row, action):
    """Place a stone; the game is over if it makes a line of `connect` stones or fills the board."""
    index = load(row, layout.PLY) % load(row, DEPTH)  # of the oldest action, which is replaced
    store(row, layout.HEADER + points(row) + index, action)
    put_stone(row, action, load(row, CONNECT))


@part
def legal_mask(row, out):
    """Write whether each point is empty; all are 0 once the game is over."""
    going = load(row, layout.OVER) == 0
    for i in range(points(row)):
        store(out, i, going and load(row, layout.HEADER + i) == layout.EMPTY)


@part
def wins(row, action, scratch):
    """Return whether a legal action wins at once.

    The stone is placed and then removed, which is much faster than playing on a copy, so `scratch` is not used.
    """
    store(row, layout.HEADER + action, load(row, layout.TO_PLAY))
    longest = longest_line(row, action)
    store(row, layout.HEADER + action, layout.EMPTY)
    return longest >= load(row, CONNECT)


@part
def planes(row, out):
    """Write 2 * depth + 1 planes: own and enemy stones of the newest board, then of the board before it, and so on.

    Each older board is the newest one without the stones placed since then.  The last plane is 1 if Black is to move.
    Boards before the start or a set-up are empty (AlphaGo Zero's planes: Silver et al. 2017, "Neural network
    architecture").
    """
    count = points(row)
    depth = load(row, DEPTH)
    ply = load(row, layout.PLY)
    for age in range(depth):
        stone_planes(row, out, 2 * age * count)  # the newest board; later stones are taken off below
    for older in range(1, min(ply + 1, depth)):
        # This action led from the board of age `older` to the next newer one, so boards of age `older` or more lack it.
        action = load(row, layout.HEADER + count + (ply - older) % depth)
        if action == UNKNOWN:  # from before a set-up: boards of age `older` or more are unknown too, and left empty
            for i in range(2 * older * count, 2 * depth * count):
                store(out, i, np.float32(0))
            break
        plane = older % 2  # of the two planes of a board, 0 own stones, 1 enemy's: the last move was the enemy's
        for age in range(older, depth):
            store(out, (2 * age + plane) * count + action, np.float32(0))
    for i in range(count):
        store(out, 2 * depth * count + i, np.float32(load(row, layout.TO_PLAY) == layout.BLACK))


loops = loops_over(play, legal_mask, planes, wins)
play_batch, replay_batch, legal_mask_batch, planes_batch, decisive_moves_batch = loops
