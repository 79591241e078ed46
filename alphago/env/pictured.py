"""Pictures of positions, on boards as their games describe them: the methods that every position has."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from alphago.drawing.board_pictures import Board, board_picture
from alphago.drawing.overlay import Overlay, legend, make_overlay
from alphago.drawing.planes import planes_picture
from alphago.drawing.shapes import Drawing
from alphago.drawing.svg import Svg, to_svg
from alphago.env.board_view import BoardView


class Look(NamedTuple):
    """What a picture of a position shows besides the stones.

    numbers: how many of the last moves have their number on their stone.
    coordinates: whether rows and columns are labelled.
    caption: the text below the picture; None for the position's `caption`, "" for no text.
    overlay: results of a network or search to draw; None for no results.
    legend: whether sentences below the picture explain the overlay.
    """

    numbers: int = 0
    coordinates: bool = True
    caption: str | None = None
    overlay: Overlay | None = None
    legend: bool = True


PLAIN = Look()
STONES = ("lines", "squares", "holes")  # surfaces with stones


class Pictured:
    """A position that can be drawn; `Position` derives from it."""

    env: Any  # the game, a GameEnv, whose module imports this one
    moves: tuple[int, ...]
    to_play: int
    is_over: bool
    result: float

    @property
    def caption(self) -> str:
        """A line of text about the position: the number of moves, and the side to move or the result."""
        return f"after {len(self.moves)} moves: {self.state_text}"

    @property
    def state_text(self) -> str:
        """The side to move, or the result of the game, as text."""
        if self.is_over:
            return f"game over, {self.env.board_view.side(self.result)} wins" if self.result else "game over, a draw"
        return f"{self.env.board_view.side(self.to_play)} to play"

    def svg(
        self,
        *,
        numbers: bool | int = False,
        coordinates: bool = True,
        caption: str | None = None,
        priors: object = None,
        visits: object = None,
        q: object = None,
        ownership: object = None,
        line: str | Iterable[int | str] = (),
        show: str | None = None,
        size: float | None = None,
    ) -> Svg:
        """Return a picture of the position as SVG, which a notebook shows and `.save(path)` writes to a file.

        It can be read without colours: Black's stones are filled, the last stone has a ring, a square marks a point
        that ko forbids. Games that describe no board are drawn as the planes that a network receives.

        numbers: True to write the number of each move on its stone, n to number the last n moves only.
        coordinates: whether rows and columns are named.
        caption: the text below; None for the number of moves and whose turn it is, "" for no text.
        priors: the policy of a network, [action_space], as `net(position)[0]`: discs, darker for more.
        visits: the visits of each action in a search, [action_space], as `analyze(position, net, readouts).visits[0]`.
        q: values for the player to move, -1 .. 1, [action_space], as `Analysis.q[0]`.
        ownership: the expected owner of each point, [height, width], 1 Black to -1 White, as
            `net.forecast(position).ownership`.
        line: the expected moves, as actions or texts ("D4 E5"), drawn with numbers from 1 and without discs.
        show: what is written on the discs: "priors", "visits", "q" (as a win rate), "q+priors" or "difference" (from
            the most visited move's win rate); None for q, else priors, else visits.
        size: the width in pixels.

        Raises ValueError for arrays of another shape, IllegalMove for a line that cannot be played.
        """
        given = {"priors": priors, "visits": visits, "q": q, "ownership": ownership, "show": show}
        overlay = make_overlay(self.env.action_space, self.env.plane_shape, **given)
        if line:
            overlay = (overlay or Overlay())._replace(line=self.line_points(line))
        numbered_moves = len(self.moves) if numbers is True else int(numbers)
        look = Look(numbers=numbered_moves, coordinates=coordinates, caption=caption, overlay=overlay)
        return to_svg(self.drawing(look), size)

    def _repr_svg_(self) -> str:
        return str(self.svg())

    def drawing(self, look: Look = PLAIN) -> Drawing:
        """Return the drawing that `svg` converts to SVG text, on a board as the game describes it."""
        if self.env.board_view.surface in STONES:
            return self.board_drawing(self.env.board_view, look)
        texts = self.texts_below(look)
        if look.overlay is not None and look.legend:
            no_places = [None] * self.env.action_space  # planes have no place for an action's disc
            texts += legend(look.overlay, no_places, self.env.to_text)
        return planes_picture(self.planes(), texts, f"{self.env.name}: {self.caption}")

    def board_drawing(self, view: BoardView, look: Look) -> Drawing:
        """Return the drawing of a board with stones; its surface is one of STONES."""
        height, width = self.env.plane_shape
        picture = Board(
            stones=self.contents or (),
            points=view.cells,
            surface=view.surface,
            size=view.size,
            lines=view.lines,
            columns=view.columns if look.coordinates else (),
            rows=view.rows if look.coordinates else (),
            stars=view.stars,
            last=self.last_cell,
            forbidden=self.ko_points,
            numbers=move_numbers(list(self.replay()), look.numbers) if look.numbers else {},
            texts=self.texts_below(look),
            label=f"{self.env.name} {height}x{width}, {self.caption}",
            legend=look.legend,
            colours=view.colours,
            edges=view.edges,
        )
        return board_picture(picture, look.overlay, self.points_of_actions.tolist(), self.env.to_text)

    @property
    def contents(self) -> Sequence[int] | None:
        """What is in each cell of `GameEnv.board_view`: 1 the first player's stone, -1 the second's, 0 none.

        In houses it is the number of seeds. None in a game without cells.
        """
        return None

    @property
    def ko_points(self) -> Sequence[int]:
        """The cells where only a rule against repetition forbids a move; pictures mark them."""
        return ()

    @property
    def last_cell(self) -> int | None:
        """The cell in which the piece of the last move landed or from which pieces were sown; None if there is none."""
        raise NotImplementedError

    def replay(self) -> Iterator[Any]:
        """Return all positions of the game so far."""
        raise NotImplementedError

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width]."""
        raise NotImplementedError

    def texts_below(self, look: Look) -> list[str]:
        """Return the lines of text below a picture: the caption, or no line if it is empty."""
        text = self.caption if look.caption is None else look.caption
        return [text] if text else []

    def line_points(self, line: str | Iterable[int | str]) -> dict[int, tuple[int, int]]:
        """Return the moves of a line of play from this position on, as {number: (point, colour)}.

        Numbers begin with 1.  colour: 1 Black, -1 White.
        """
        position: Any = self
        points: dict[int, tuple[int, int]] = {}
        moves = line.split() if isinstance(line, str) else line
        for number, move in enumerate(moves, 1):
            action = position.check_action(move)
            point = int(position.points_of_actions[action])
            if point >= 0:
                points[number] = point, position.to_play
            position = position.play(action)
        return points

    @cached_property
    def points_of_actions(self) -> np.ndarray:
        """The cell in which each action's stone lands, int64 [action_space].

        It is -1 for an action without a cell, such as a pass, and for an action whose cells are full.
        """
        view = self.env.board_view
        if view.surface not in STONES:
            return np.full(self.env.action_space, -1, np.int64)
        return view.landing_cells(self.to_play, np.array(self.contents))


def move_numbers(positions: Sequence[Any], count: int) -> dict[int, int]:
    """Return the numbers of the last `count` moves for a drawing, as {point: number}, in the order of the numbers.

    If several moves were played on one point, the point gets the number of the latest.

    positions: all positions of the game, from its start.
    """
    numbers: dict[int, int] = {}
    moves = len(positions) - 1
    for number, (before, after) in enumerate(pairwise(positions), 1):
        point = int(before.points_of_actions[after.moves[-1]])  # -1 for a pass
        if point >= 0 and number > moves - count:
            numbers.pop(point, None)  # so that the point comes last
            numbers[point] = number
    return numbers
