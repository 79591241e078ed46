"""Go by other rules in plain Python: on a torus, first capture wins, two stones a turn, boards of any outline."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
from go_on_a_graph import GraphGo

from alphago.drawing.board_view import BoardView
from alphago.env.board import StonesEnv, StonesPosition, check_player
from alphago.env.check import check_game
from alphago.env.game import GameEnv
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_float, check_int


class GraphGoEnv(StonesEnv):
    """Go on the points of a grid, of which some may be missing; area scoring, superko, no suicide.

    Passing is allowed from ply `first_pass` on; before it, only if no other move is legal.

    Args:
        board_size: the side of a square board.
        komi: White's points before the game.
        first_pass: the ply from which passing is allowed; None for half the number of points.
    """

    surface = "lines"
    setup_words = ("black", "white", "to_play")
    actions_are_points = has_ownership = cuts_games = True
    planes = GraphGo.planes_made
    torus = False  # whether the board's edges are joined
    captures_win = False  # whether the first capture wins; a side that cannot move loses then, and nobody passes
    stones_a_turn = 1  # the first turn has one stone

    def __init__(self, board_size: int = 7, komi: float = 6.5, first_pass: int | None = None) -> None:
        side = check_int("board_size", board_size, 3, 25)
        self.lay_out(side, side, komi, first_pass)
        self.config = {"board_size": side, **self.config}

    def lay_out(
        self, height: int, width: int, komi: float, first_pass: int | None, missing: frozenset[int] = frozenset()
    ) -> None:
        """Set the attributes for a board and its rules; missing: points that are no part of the board."""
        self.N, self.plane_shape, self.missing = max(height, width), (height, width), missing
        points = height * width
        self.pass_action = None if self.captures_win else points
        self.action_space = points if self.pass_action is None else points + 1
        self.max_moves = 3 * points * self.stones_a_turn
        self.komi = check_float("komi", komi)
        # With early passes the first lesson of self-play would be that two passes end a game.
        self.first_pass = points // 2 if first_pass is None else check_int("first_pass", first_pass, 0)
        self.config = {"komi": self.komi, "first_pass": first_pass}

    def match_variant(self) -> Self:
        """Return the game in which passing is always legal."""
        return self.replace(first_pass=0) if "first_pass" in self.config else self

    def accepts(self, other: GameEnv) -> bool:
        return isinstance(other, GraphGoEnv) and self.match_variant() == other.match_variant()

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The points beside each point; a missing point has no neighbours."""
        height, width = self.plane_shape

        def beside(point: int) -> Iterator[int]:
            """Yield the points beside a point; none if the point is missing."""
            if point in self.missing:
                return
            row, column = divmod(point, width)
            for r, c in ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)):
                if self.torus:
                    r, c = r % height, c % width
                on_board = 0 <= r < height and 0 <= c < width
                if on_board and r * width + c not in self.missing:
                    yield r * width + c

        # `dict.fromkeys` removes repetitions: on a narrow torus two neighbours may be the same point.
        return tuple(tuple(dict.fromkeys(beside(point))) for point in range(height * width))

    @cached_property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections that keep the outline; on a torus, combined with all shifts."""
        height, width = self.plane_shape
        board = np.arange(height * width).reshape(height, width)
        boards = [np.rot90(board, quarters) for quarters in (range(4) if height == width else (0, 2))]
        boards += [rotated[:, ::-1] for rotated in boards]
        if self.torus:
            boards = [np.roll(each, (r, c), (0, 1)) for each in boards for r in range(height) for c in range(width)]

        # A symmetry brings point sources[p] to point p.  The outline stays if it brings missing points to missing ones.
        def keeps_outline(sources: np.ndarray) -> bool:
            return {int(sources[point]) for point in self.missing} == self.missing

        points = np.stack([each.ravel() for each in boards if keeps_outline(each.ravel())])
        passes = np.full((len(points), self.action_space - board.size), board.size)
        return Symmetries(points, np.concatenate([points, passes], axis=1))

    @cached_property
    def board_view(self) -> BoardView:
        """The grid, with lines between neighbours only; on a torus lines go on beyond the edge."""
        view, width = super().board_view, self.plane_shape[1]
        lines = []
        for point, neighbours in enumerate(self.neighbours):
            y, x = divmod(point, width)
            for neighbour in neighbours:
                down, right = neighbour // width - y, neighbour % width - x
                around_the_edge = abs(down) > 1 or abs(right) > 1
                if around_the_edge:  # a short line from each of the two neighbours, off the board
                    lines.append((x, y, x - 0.45 * float(np.sign(right)), y - 0.45 * float(np.sign(down))))
                elif neighbour > point:  # drawn once for the two neighbours
                    lines.append((x, y, float(x + right), float(y + down)))
        return replace(view, lines=tuple(lines))

    def new(self, black: str = "", white: str = "", to_play: int | str = "black") -> GraphGo:
        """Return a start position; black, white: stones that are set up, such as "D4 E5"."""
        state = GraphGo(self)
        for colour, points in ((1, black), (-1, white)):
            for point in map(self.from_text, points.split()):
                if state.board[point] or not self.neighbours[point]:
                    raise ValueError(f"stones must be on empty points, got {self.to_text(point)}")
                state.put(point, colour)
        dead = [point for point, chain in enumerate(state.chains()) if chain is not None and not chain.liberties]
        if dead:
            raise ValueError(f"the chain at {self.to_text(dead[0])} has no liberty")
        state.seen, state.known, state.to_play = {state.key}, {}, check_player(to_play)
        return state

    def make_position(self, batch: object, setup: object) -> "GraphGoPosition":
        return GraphGoPosition(self, batch, setup)  # type: ignore[arg-type]


class GraphGoPosition(StonesPosition):
    """A position that shows missing points and captures."""

    @property
    def marks(self) -> dict[int, str]:
        return dict.fromkeys(self.env.missing, " ")

    @property
    def captures(self) -> tuple[int, int]:
        black, white = self.batch.states[0].captured  # type: ignore[attr-defined]
        return black, white

    def why_illegal(self, action: int) -> str:
        if action in self.env.missing:
            return "there is no point"
        if action == self.env.pass_action:
            return f"passing is allowed from move {self.env.first_pass + 1} on"
        occupied = action < self.board.size and self.board.ravel()[action]
        return super().why_illegal(action) if occupied else "suicide, or the board would repeat an earlier one"


class TorusGoEnv(GraphGoEnv):
    """Go without an edge: the left edge continues at the right one, the top at the bottom."""

    name, title, torus = "torus-go", "Torus Go", True


class CaptureGoEnv(GraphGoEnv):
    """Capture Go, how children begin: whoever captures first wins; passing is not allowed."""

    name, title, captures_win, has_ownership = "capture-go", "Capture Go", True, False

    def __init__(self, board_size: int = 7) -> None:
        super().__init__(board_size, 0.0)
        self.config = {"board_size": self.N}


class TwoStonesGoEnv(GraphGoEnv):
    """Go with two stones a turn; Black's first turn has one."""

    name, title, stones_a_turn = "two-stones-go", "Go, two stones a turn", 2


class OutlineGoEnv(GraphGoEnv):
    """Go on a rectangle from which points may be missing.

    Args:
        height: rows.
        width: columns.
        missing: points that are no part of the board, such as "C3 D4".
        komi: White's points before the game.
        first_pass: the ply from which passing is allowed; None for half of the points.
    """

    name, title = "outline-go", "Go on a board of any outline"

    def __init__(
        self, height: int = 5, width: int = 9, missing: str = "", komi: float = 6.5, first_pass: int | None = None
    ) -> None:
        sides = check_int("height", height, 2, 25), check_int("width", width, 2, 25)
        self.lay_out(*sides, komi, first_pass)  # `from_text` needs the size of the board
        points = frozenset(map(self.from_text, missing.replace(",", " ").split()))
        self.lay_out(*sides, komi, first_pass, points)
        names = " ".join(map(self.to_text, sorted(points)))
        self.config = {"height": height, "width": width, "missing": names, **self.config}

    @property
    def title_and_size(self) -> str:
        return f"Go {self.plane_shape[1]}x{self.plane_shape[0]}"


if __name__ == "__main__":
    for env in (TorusGoEnv(5), CaptureGoEnv(5), TwoStonesGoEnv(5), OutlineGoEnv(4, 5, "B2 C2")):
        check_game(env, games=2)
        print(f"{env.title} keeps the contract of a game")
