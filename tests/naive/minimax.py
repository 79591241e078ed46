"""Minimax without pruning, tables or order, and the evaluations of alpha-beta search, on readable positions."""

from collections.abc import Callable

import numpy as np

from alphago import ConnectFourEnv, GomokuEnv, OwareEnv, Position, ReversiEnv
from alphago.arena.alphabeta import POINT, WIN

# Norvig's weights of one corner's quarter of the board, and of its smaller ones.
QUARTER = [[120, -20, 20, 5], [-20, -40, -5, -5], [20, -5, 15, 3], [5, -5, 3, 3]]


def captured(position: Position) -> int:
    return int(position.score())


def squares(position: Position) -> int:
    size, total = position.env.N, 0
    for (r, c), stone in np.ndenumerate(position.board):
        total += int(stone) * QUARTER[min(r, size - 1 - r, 3)][min(c, size - 1 - c, 3)]
    return total


def lines(length: int) -> Callable[[Position], int]:
    def value(position: Position) -> int:
        board, total = position.board, 0
        height, width = board.shape
        for r in range(height):
            for c in range(width):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    points = [(r + i * down, c + i * right) for i in range(length)]
                    if all(0 <= y < height and 0 <= x < width for y, x in points):
                        stones = [int(board[point]) for point in points]
                        black, white = stones.count(1), stones.count(-1)
                        if black and not white:
                            total += 6 ** (black - 1)
                        if white and not black:
                            total -= 6 ** (white - 1)
        return total

    return value


def evaluation(position: Position) -> int:
    """Black's view."""
    env = position.env
    if isinstance(env, GomokuEnv):
        return lines(env.connect_row)(position)
    known = {OwareEnv: captured, ReversiEnv: squares, ConnectFourEnv: lines(4)}
    return known[type(env)](position)


def minimax(position: Position, depth: int) -> tuple[int, list[int]]:
    """The value for the player to move, and the actions that have it."""
    if position.is_over:
        margin = int(position.score()) * position.to_play
        sign = int(np.sign(margin))
        return sign * (WIN - len(position.moves)) + margin * POINT, []
    if depth == 0:
        return evaluation(position) * position.to_play, []
    values = {}
    for action in np.flatnonzero(position.legal_mask).tolist():
        after = position.play(action)
        value, _ = minimax(after, depth - 1)
        values[action] = value if after.to_play == position.to_play else -value
    best = max(values.values())
    return best, [action for action, value in values.items() if value == best]
