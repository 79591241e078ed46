"""Published evaluations of unfinished positions, for alpha-beta search.

`row` is a packed row (`alphago.env.kernels.rows`); values are integers, from the view of the player to move.
"""

from alphago.env.kernels import connect_four, gomoku
from alphago.env.kernels.rows import HEADER, HEIGHT, TO_PLAY, WIDTH
from alphago.system.kernels.jit import load, part

# Weights of Reversi's squares: a table of 4 x 4, by the distance from the nearest horizontal edge (row) and from the
# nearest vertical edge (column).  FARTHEST stands for all greater distances too.  Source: Norvig 1992, "Paradigms of
# Artificial Intelligence Programming", section 18.3, weighted squares.
SQUARES = (120, -20, 20, 5, -20, -40, -5, -5, 20, -5, 15, 3, 5, -5, 3, 3)
FARTHEST = 3
LINE_BASE = 6  # each further stone in an open line multiplies its value by this


@part
def weighted_squares(row):
    """Return the sum of the weights of the mover's squares minus the sum of the other side's."""
    size = load(row, WIDTH)
    total = 0
    for r in range(size):
        vertical_distance = min(min(r, size - 1 - r), FARTHEST)  # from the nearest edge
        for c in range(size):
            horizontal_distance = min(min(c, size - 1 - c), FARTHEST)
            weight = SQUARES[vertical_distance * (FARTHEST + 1) + horizontal_distance]
            total += load(row, HEADER + r * size + c) * weight
    return total * load(row, TO_PLAY)


@part
def line_value(row, point, step, length):
    """Return the value for Black of the line of `length` points, `step` apart, that begins at `point`.

    The value is LINE_BASE^(stones - 1), negative for White's stones.  A line without stones, or with stones of both
    sides, has value 0.
    """
    total = 0
    stones = 0
    for i in range(length):
        owner = load(row, HEADER + point + i * step)  # 1 Black, -1 White, 0 empty
        total += owner
        stones += owner * owner
    if total == 0 or abs(total) != stones:  # no stones, or both colours
        return 0
    value = 1
    for _ in range(stones - 1):
        value *= LINE_BASE
    return value if total > 0 else -value


@part
def open_lines(row, length):
    """Return the value of the lines of `length` points that only the mover has stones on, minus that of the other side.

    Nilsson 1971, "Problem-Solving Methods in Artificial Intelligence", counts such lines in tic-tac-toe; here each line
    is weighted by the number of its stones.
    """
    height = load(row, HEIGHT)
    width = load(row, WIDTH)
    total = 0
    for r in range(height):
        for c in range(width):
            point = r * width + c
            fits_right = c + length <= width
            if fits_right:
                total += line_value(row, point, 1, length)
            fits_left = c + 1 >= length
            fits_down = r + length <= height
            if fits_down:
                total += line_value(row, point, width, length)
            if fits_down and fits_right:  # a diagonal
                total += line_value(row, point, width + 1, length)
            if fits_down and fits_left:  # the other diagonal
                total += line_value(row, point, width - 1, length)
    return total * load(row, TO_PLAY)


@part
def gomoku_lines(row):
    """Return the evaluation of a position of Gomoku, see `open_lines`."""
    return open_lines(row, load(row, gomoku.CONNECT))


@part
def connect_four_lines(row):
    """Return the evaluation of a position of Connect Four, see `open_lines`."""
    return open_lines(row, connect_four.CONNECT)
