"""Connect Four on packed rows (see `rows`): a stone falls to the lowest empty point of its column."""

from alphago.env.kernels import rows as layout
from alphago.env.kernels.rows import clear, loops_over, put_stone, stone_planes
from alphago.system.kernels.jit import kernel, load, part, store

CONNECT = 4


@kernel
def reset(row, height, width):
    """Set the row to the empty board with Black to move."""
    clear(row, height, width)


@part
def play(row, action):
    """Drop a stone into the column `action`."""
    width = load(row, layout.WIDTH)
    point = (load(row, layout.HEIGHT) - 1) * width + action  # the lowest point of the column
    while load(row, layout.HEADER + point) != layout.EMPTY:
        point -= width
    put_stone(row, point, CONNECT)


@part
def legal_mask(row, out):
    """Write whether the top point of each column is empty; all are 0 once the game is over."""
    going = load(row, layout.OVER) == 0
    for column in range(load(row, layout.WIDTH)):
        store(out, column, going and load(row, layout.HEADER + column) == layout.EMPTY)


@part
def planes(row, out):
    """Write two planes: the mover's stones and the other side's."""
    stone_planes(row, out, 0)


play_batch, replay_batch, legal_mask_batch, planes_batch, decisive_moves_batch = loops_over(play, legal_mask, planes)
