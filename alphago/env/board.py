"""Games with stones on a board: names of points, drawings as text, positions."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from alphago.drawing.board_view import COLUMNS, BoardView, Places, column_letters, grid_view
from alphago.drawing.shapes import Drawing
from alphago.env.batch import GameBatch
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.position import PLAIN, Look, Position
from alphago.system.validation import list_keywords, shown

PLAYERS = {"black": 1, "b": 1, "white": -1, "w": -1}


def check_player(player: int | str) -> int:
    """Return a player as +1 (Black) or -1 (White); raise ValueError for anything else.

    Args:
        player: "black", "white", "b" or "w", in upper or lower case; or +1 or -1.
    """
    value = PLAYERS.get(player.lower()) if isinstance(player, str) else player
    if isinstance(value, (bool, np.bool_)) or value not in (1, -1):  # True equals 1
        raise ValueError(f"to_play must be 'black' or 'white' (or +1, -1), got {shown(player)}")
    return int(value)


def check_board(board: object, shape: tuple[int, int], name: str = "board") -> np.ndarray:
    """Return a board as int8 [height, width] of 1, -1 and 0; raise ValueError for a wrong shape or other numbers."""
    try:
        stones = np.asarray(board)
    except ValueError:  # rows of different lengths
        stones = np.zeros(0)  # refused below because of its shape
    if stones.shape != tuple(shape) or not np.isin(stones, (-1, 0, 1)).all():
        raise ValueError(
            f"{name} must be {list(shape)} points of 1, -1 and 0, got {list(stones.shape)}: {shown(board)}"
        )
    return stones.astype(np.int8)


def check_history(history: object, shape: tuple[int, int]) -> list[np.ndarray]:
    """Return earlier boards as a list, each checked by `check_board`; raise ValueError if they are not a sequence."""
    if isinstance(history, str) or not isinstance(history, Iterable):
        raise ValueError(f"history must be a sequence of boards, the oldest first, got {shown(history)}")
    return [check_board(board, shape) for board in history]


def point_text(point: int, height: int, width: int) -> str:
    """Return the name of the point row * width + column, such as 'D4'.

    Columns are letters without I, rows count from the bottom.
    """
    row, column = divmod(int(point), width)
    return f"{COLUMNS[column]}{height - row}"


def draw_board(board: np.ndarray, last: int | None = None, marks: Mapping[int, str] | None = None) -> str:
    """Return `board` [height, width] as text: X for 1, O for -1, a dot for 0, brackets around the point `last`.

    Args:
        marks: {point: sign}, the signs to draw on empty points instead of a dot.
    """
    height, width = board.shape
    signs = [".XO"[colour] for colour in board.ravel()]  # index -1 is O
    for point, sign in (marks or {}).items():
        if signs[point] == ".":
            signs[point] = sign
    column_names = "   " + "".join(f" {letter}" for letter in column_letters(width))
    lines = [column_names]
    for row in range(height):
        text = f" {' '.join(signs[row * width : (row + 1) * width])} "
        if last is not None and last // width == row:
            begin = 2 * (last % width)  # of the blank before the sign
            text = f"{text[:begin]}({text[begin + 1]}){text[begin + 3 :]}"
        lines.append(f"{height - row:2d} {text}{height - row:2d}")
    return "\n".join([*lines, column_names])


class StonesEnv(GameEnv):
    """A game with stones: positions can be drawn, and moves have the names of points in the drawing.

    With as many actions as points (and perhaps `further_actions` and a pass), each action is a point, row by row from
    the top, written 'D4'. With as many actions as columns, each action is a column, written 'D'. In any other game
    actions are written as numbers, unless its class defines `to_text` and `from_text`.
    """

    further_actions: tuple[str, ...] = ()  # names of the actions between the last point and the pass, such as "swap"
    surface = ""  # "lines", "squares" or "holes", see BoardView; "": holes if actions are columns, else squares

    @cached_property
    def board_view(self) -> BoardView:
        """How the board is drawn: as a grid if actions are points or columns, else as `GameEnv.board_view` says."""
        height, width = self.plane_shape
        cells = range(height * width)
        others = self.action_space - len(cells)  # actions besides the points, such as a pass; negative without points
        stones_fall = self.action_space == width  # actions are columns
        # `action_names` are numbers if actions are neither points nor columns, unless the game has names of its own.
        names_are_numbers = self.action_names[0].isdecimal()
        # For a game with names of its own, only the number of actions tells that they are neither points nor columns.
        if names_are_numbers or (others < 0 and not stones_fall):
            return super().board_view
        places: Places
        if stones_fall:  # a stone lands in the first empty cell of its column, from the bottom
            places = tuple(tuple(reversed(cells[column::width])) for column in range(width))
        else:
            places = (*((cell,) for cell in cells), *[()] * others)
        surface = self.surface or ("holes" if stones_fall else "squares")
        return grid_view(self.title_and_size, surface, self.plane_shape, places)

    def make_position(self, batch: GameBatch, setup: Mapping[str, object]) -> "StonesPosition":
        return StonesPosition(self, batch, setup)

    def position(self, *, history: Sequence[object] = (), **setup: Any) -> Position:
        """Return the start position, or a set-up position.

        Args:
            history: the boards before `board`, oldest first; one legal move must lead from each board to the next.  The
                position's `moves` are these moves.
            setup: the game's own keywords.  Most games have `board`, the stones, [height, width] of 1 Black, -1 White,
                0 empty; and `to_play`, the side to move, "black" or "white" (or +1, -1), by default found from
                `history` or `board`.

        Raises:
            TypeError: for an unknown keyword, with a suggestion of similar keywords.
            ValueError: for a `history` without `board` or without legal moves between its boards.
        """
        boards = check_history(history, self.plane_shape)  # `board` is appended below
        if not boards:
            return super().position(**setup)
        if "board" not in setup:
            raise ValueError("history must be given together with the board that it leads to, got no board")
        boards.append(check_board(setup.pop("board"), self.plane_shape))
        to_play = check_player(setup.pop("to_play")) if "to_play" in setup else None
        return follow(boards, to_play, lambda board, mover: self.position(board=board, to_play=mover, **setup))

    def position_of(self, batch: GameBatch, slot: int) -> Position:
        """Return a slot's position without its moves; the stones become its set-up if the game has such set-ups."""
        position: Any = super().position_of(batch, slot)
        if "board" not in list_keywords(position.batch.reset):
            return position
        return self.make_position(position.batch, {"board": position.board.tolist(), "to_play": position.to_play})

    @cached_property
    def action_names(self) -> list[str]:
        """The names of all actions, in the order of the actions."""
        height, width = self.plane_shape
        columns = list(column_letters(width))
        points = [point_text(point, height, width) for point in range(height * width)] if columns else []
        passes = [] if self.pass_action is None else ["pass"]
        points_and_others = [*points, *self.further_actions, *passes]
        numbers = [str(action) for action in range(self.action_space)]
        return next(names for names in (points_and_others, columns, numbers) if len(names) == self.action_space)

    @property
    def first_actions_are_points(self) -> bool:
        """Whether the first actions are the points and have their names; other actions, such as a pass, may follow."""
        # The first name tells: `action_names` begins with the names of all points, or has none of them.
        return self.action_names[0] == point_text(0, *self.plane_shape)

    @cached_property
    def named_actions(self) -> dict[str, int]:
        """The actions by name."""
        return {name: action for action, name in enumerate(self.action_names)}

    def to_text(self, action: int) -> str:
        """Return an action's name, 'D4', 'D' or 'pass'; columns are letters without I, rows count from the bottom.

        Raises:
            ValueError: if the game has no such action.
        """
        if not 0 <= action < self.action_space:
            raise ValueError(f"no action {action} in {self}: actions are 0 to {self.action_space - 1}")
        return self.action_names[action]

    def from_text(self, text: str) -> int:
        """Return the action that a text names, such as 'D4', 'd4' or 'pass'; raise ValueError for any other text."""
        if text in self.named_actions:
            return self.named_actions[text]
        word = re.sub(r"(?<=[A-Z])0(?=[1-9]$)", "", text.strip().upper())  # D04 is D4
        for name in (word, word.lower()):  # in lower case: pass, and further actions
            if name in self.named_actions:
                return self.named_actions[name]
        names = self.action_names
        if names[0].isdecimal():  # the actions are neither points nor columns
            return super().from_text(text)
        if len(names[0]) == 1:  # "A", a column; the name of a point also has a number
            raise ValueError(f"{shown(text)} is not a column of {self}: expected A to {names[-1]}")
        height, width = self.plane_shape
        last_point = f"{COLUMNS[width - 1]}{height}"
        expected = " or ".join([f"A1 to {last_point} (no column I)", *names[height * width :]])
        raise ValueError(f"{shown(text)} is not a point of {self}: expected {expected}")


class StonesPosition(Position):
    """A position of a game with stones; its planes 0 and 1 must be the mover's and the other side's stones."""

    @cached_property
    def board(self) -> np.ndarray:
        """The stones, int8 [height, width]: 1 Black, -1 White, 0 empty; row 0 at the top."""
        own, other = self.planes()[:2]
        stones = (self.to_play * (own - other)).astype(np.int8)
        stones.flags.writeable = False
        return stones

    @property
    def marks(self) -> dict[int, str]:
        """The signs that `str` draws on empty points, as {point: sign}: none, unless a game overrides this."""
        return {}

    @property
    def last_point(self) -> int | None:
        """The point of the last stone; None before the first move and after a pass.

        A game whose actions are not points overrides this property, or gets None; see also `last_cell`.
        """
        on_board = self.env.first_actions_are_points and self.moves and self.moves[-1] < self.board.size
        return self.moves[-1] if on_board else None

    @property
    def contents(self) -> list[int]:
        """The stone in each cell of the board: 1 Black, -1 White, 0 none."""
        return self.board.ravel().tolist()

    @property
    def state_text(self) -> str:
        """The side to move, or the result of the game, as text."""
        return f"game over, {result_text(self.score())}" if self.is_over else super().state_text

    def drawing(self, look: Look = PLAIN) -> Drawing:
        """Return the drawing of the board, which needs no `board_view` in games with stones."""
        view = self.env.board_view
        if view.surface == "text":  # the game does not say where its actions are on a board, but its stones are known
            surface = self.env.surface or "squares"
            return self.board_drawing(grid_view(view.title, surface, self.board.shape, places=()), look)
        return super().drawing(look)

    def why_illegal(self, action: int) -> str:
        """Return which side has a stone on the point of the action; without a stone there, what `Position` says."""
        is_point = self.env.first_actions_are_points and action < self.board.size
        stone = self.board.ravel()[action] if is_point else 0
        return f"{self.env.board_view.side(stone)} has a stone there" if stone else super().why_illegal(action)

    def __str__(self) -> str:
        """Return the board with coordinates; X the first side, O the second, and brackets around the last stone."""
        side = self.env.board_view.side(self.to_play)
        state = self.state_text if self.is_over else f"{side} ({'.XO'[self.to_play]}) to play"
        return f"{draw_board(self.board, self.last_point, self.marks)}\n   move {self.move_number}: {state}"


def follow(boards: Sequence[np.ndarray], to_play: int | None, start: Callable[[np.ndarray, int], Any]) -> Any:
    """Return the position at the end of a sequence of boards; one legal move must lead from each board to the next.

    Args:
        to_play: the side to move at the end; None to find it from the moves, Black if both sides are possible.
        start: a function of a board [height, width] and a side to move (+1 or -1) that returns their position.

    Raises:
        ValueError: if no legal moves lead through the boards, or if they lead to another side to move.
    """
    ends = []  # the positions at the end, for each side that can have moved first
    most_reached = 0  # how many boards after the first one could be reached
    for first_mover in (1, -1):
        position = start(boards[0], first_mover)
        for reached, board in enumerate(boards[1:], 1):
            if (position := play_to(position, board)) is None:
                break
            most_reached = max(most_reached, reached)
        else:  # without break: the last board was reached
            ends.append(position)
    fitting = [end for end in ends if to_play in (None, end.to_play)]  # with None, any side may be to move
    if fitting:
        return max(fitting, key=lambda end: end.to_play)  # Black (+1) if both sides are possible
    if ends and to_play is not None:  # None would fit any end; the test is for type checkers
        expected, given = PLAYER_NAMES[ends[0].to_play].lower(), PLAYER_NAMES[to_play].lower()
        raise ValueError(f"to_play must be {expected!r} after this history, got {given!r}")
    stuck = f"from board {most_reached + 1} to board {most_reached + 2}"  # boards are counted from 1
    raise ValueError(f"history must have a legal move between its boards, got none {stuck}")


def play_to(position: StonesPosition, board: np.ndarray) -> StonesPosition | None:
    """Return the position after the legal move that leads to this board; None if no legal move leads to it."""
    candidates = np.flatnonzero(position.legal_mask)[::-1]  # the pass first: if no stone is added, it is likely
    added = np.flatnonzero((board.ravel() != 0) & (position.board.ravel() == 0))
    if position.env.actions_are_points and len(added):
        candidates = np.intersect1d(candidates, added)
    positions_after = (position.play(int(action)) for action in candidates)
    return next((after for after in positions_after if np.array_equal(after.board, board)), None)


def result_text(margin: float) -> str:
    """Return 'B+2.5', 'W+0.5' or 'draw', from Black's margin."""
    if margin == 0:
        return "draw"
    return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}"
