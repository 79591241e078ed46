"""Boards with stones as text: names of points, a drawing, and a position of any game with stones."""

import re
from functools import cached_property

import numpy as np

from alphago.env.game import PLAYER_NAMES, GameEnv, Position

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # no I, as everywhere in Go
SYMBOLS = {1: "X", -1: "O"}


def point_text(point: int, height: int, width: int) -> str:
    """Return 'D4' for the point row * width + column: columns are letters without I, rows count from the bottom."""
    row, column = divmod(int(point), width)
    return f"{COLUMNS[column]}{height - row}"


def read_point(text: str, height: int, width: int) -> int | None:
    """Return the point of a text such as 'D4' or 'd4'; None if the board has no such point."""
    match = re.fullmatch(r"([A-Z])([0-9]{1,2})", text.strip().upper(), re.ASCII)
    column = COLUMNS.find(match[1]) if match else -1
    if match and 0 <= column < width and 1 <= int(match[2]) <= height:
        return (height - int(match[2])) * width + column
    return None


def action_text(env: GameEnv, action: int) -> str:
    """Return 'D4' or 'pass' for an action of a game on a square board whose actions are points."""
    if not 0 <= action < env.action_space:
        raise ValueError(f"no action {action} in {env}: actions are 0 to {env.action_space - 1}")
    return "pass" if action == env.pass_action else point_text(action, env.N, env.N)


def read_action(env: GameEnv, text: str) -> int:
    """Return the action of 'D4', 'd4' or, if the game has it, 'pass'; raise ValueError for other texts."""
    if env.pass_action is not None and text.strip().upper() == "PASS":
        return env.pass_action
    point = read_point(text, env.N, env.N)
    if point is None:
        others = "" if env.pass_action is None else " or pass"
        points = f"A1 to {COLUMNS[env.N - 1]}{env.N} (no column I)"
        raise ValueError(f"{text!r} is no point of {env}: expected {points}{others}")
    return point


def draw_board(board: np.ndarray, last: int | None = None) -> str:
    """Return a drawing of `board` [height, width]: X for 1, O for -1, brackets around the point `last`."""
    height, width = board.shape
    letters = "   " + "".join(f" {COLUMNS[column]}" for column in range(width))
    lines = [letters]
    for r in range(height):
        text = ""
        for c in range(width):
            before = "(" if last == r * width + c else ")" if c > 0 and last == r * width + c - 1 else " "
            text += before + ".XO"[board[r, c]]
        text += ")" if last == r * width + width - 1 else " "
        lines.append(f"{height - r:2d} {text}{height - r:2d}")
    return "\n".join([*lines, letters])


class StonesPosition(Position):
    """A position of a game with stones, whose planes 0 and 1 are the mover's and the other side's stones."""

    @cached_property
    def board(self) -> np.ndarray:
        """The stones, int8 [height, width]: 1 Black, -1 White, 0 empty; row 0 at the top."""
        own, other = self.planes()[:2]
        board = (self.to_play * (own - other)).astype(np.int8)
        board.flags.writeable = False
        return board

    @property
    def last_point(self) -> int | None:
        """The point of the last stone; None before the first move and after a pass."""
        on_board = self.env.actions_are_points and self.moves and self.moves[-1] < self.board.size
        return self.moves[-1] if on_board else None

    def why_illegal(self, action: int) -> str:
        if self.env.actions_are_points and action < self.board.size and self.board.ravel()[action]:
            return f"{PLAYER_NAMES[int(self.board.ravel()[action])]} has a stone there"
        return super().why_illegal(action)

    def __str__(self) -> str:
        """Return the board with coordinates; X Black, O White, and brackets around the last stone."""
        state = f"{PLAYER_NAMES[self.to_play]} ({SYMBOLS[self.to_play]}) to play"
        if self.is_over:
            state = f"game over, {result_text(self.score())}"
        return f"{draw_board(self.board, self.last_point)}\n   move {len(self.moves)}: {state}"


def result_text(margin: float) -> str:
    """Return 'B+2.5', 'W+0.5' or 'draw', from Black's margin."""
    return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}" if margin < 0 else "draw"
