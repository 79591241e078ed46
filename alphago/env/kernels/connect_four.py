"""Connect Four on packed rows (see `rows`): a stone falls to the lowest empty point of its column."""

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
    end_turn,
    longest_line,
    loops_over,
    points,
    stone_planes,
)
from alphago.system.kernels.jit import kernel, load, part, store

CONNECT = 4


@part
def play(row, action):
    """Drop a stone into the column `action`."""
    width = load(row, WIDTH)
    point = (load(row, HEIGHT) - 1) * width + action  # the lowest of the column, and from there up
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


@part
def legal_mask(row, out):
    going = load(row, OVER) == 0
    for column in range(load(row, WIDTH)):
        store(out, column, going and load(row, HEADER + column) == EMPTY)


@part
def planes(row, out):
    stone_planes(row, out, 0)


@kernel
def reset_batch(rows, slots, height, width):
    for i in range(slots.shape[0]):
        clear(rows[slots[i]], height, width)


play_batch, replay_batch, legal_mask_batch, planes_batch, decisive_moves_batch = loops_over(play, legal_mask, planes)
