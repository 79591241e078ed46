"""Connect Four on packed rows (see `rows`): a stone falls to the lowest empty point of its column."""

from alphago.env.kernels.jit import kernel, load, store
from alphago.env.kernels.rows import (
    EMPTY,
    HEADER,
    HEIGHT,
    MARGIN,
    OVER,
    PLY,
    TO_PLAY,
    WIDTH,
    clear,
    copy,
    end_turn,
    longest_line,
    points,
    stone_planes,
)

CONNECT = 4


@kernel
def play(row, action):
    width = load(row, WIDTH)
    point = (load(row, HEIGHT) - 1) * width + action
    while load(row, HEADER + point) != EMPTY:
        point -= width
    mover = load(row, TO_PLAY)
    store(row, HEADER + point, mover)
    end_turn(row)
    if longest_line(row, point) >= CONNECT:
        store(row, MARGIN, mover)
        store(row, OVER, 1)
    elif load(row, PLY) == points(row):
        store(row, OVER, 1)


@kernel
def legal_mask(row, out):
    going = load(row, OVER) == 0
    for column in range(load(row, WIDTH)):
        store(out, column, going and load(row, HEADER + column) == EMPTY)


@kernel
def reset_batch(rows, slots, height, width):
    for i in range(slots.shape[0]):
        clear(rows[slots[i]], height, width)


@kernel
def play_batch(rows, slots, actions):
    for i in range(slots.shape[0]):
        play(rows[slots[i]], int(actions[i]))


@kernel
def replay_batch(rows, roots, paths, lengths, targets):
    for i in range(roots.shape[0]):
        row = rows[targets[i]]
        copy(rows[roots[i]], row)
        for ply in range(lengths[i]):
            play(row, int(paths[i, ply]))


@kernel
def legal_mask_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        legal_mask(rows[slots[i]], out[i])


@kernel
def planes_batch(rows, slots, out):
    for i in range(slots.shape[0]):
        stone_planes(rows[slots[i]], out[i], 0)
