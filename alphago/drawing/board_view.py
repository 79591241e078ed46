"""How a game's board looks: where its cells are, where the piece of an action lands, what is written beside it.

Pages and pictures draw any game from this description; they know surfaces, and no game.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SIDES = ("Black", "White")  # the first player and the second
COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # no I, as everywhere in Go
SURFACES = ("lines", "squares", "holes", "houses", "text")

Places = tuple[tuple[int, ...], ...]  # the cells of each action
Line = tuple[float, float, float, float]  # (x, y, x, y) of the two ends


@dataclass(frozen=True)
class BoardView:
    """The look of a game's board; lengths are steps from a cell to the next, x to the right and y down.

    Attributes:
        title: the game and its board, such as "Go 9x9".
        surface: "lines": stones on the crossings of lines; "squares": stones in squares; "holes": stones in the holes
            of an upright frame; "houses": hollows with seeds; "text": no cells, but the position's text, and a button
            for each legal action.
        size: width and height of the surface, whose upper left corner is (0, 0).
        margin: the space around the surface.
        cells: the middle of each cell; `Position.contents` says what is in it. In a game with `has_ownership` the cells
            are the points of a plane.
        places: for each side (the first player, then the second) the cells of each action. The action's piece lands in
            the first empty one of its cells. Where pieces are sown, the only cell of an action is the one that it
            empties. An action such as a pass has no cell: ().
        lines: lines of the surface, as (x, y, x, y) of their ends.
        edges: for each side, the lines that belong to this side, drawn in its colour.
        labels: names beside the surface, as (x, y, text).
        stars: cells that are marked while they are empty.
        stores: where each side's captured pieces are counted, as (x, y, width, height).  If it is (), games with
            `Position.captures` count them beside the player's name.
        stone: the radius of a stone.
        reach: how far from its middle a cell can be clicked.
        sides: the names of the two sides.
        colours: the colours of their stones, dark and light, as "#rrggbb"; None for black and white.
        ground: the colour of the board, as "#rrggbb"; "" for wood.
        mark: what the squares on the cells of `Position.ko_points` mean.
        pass_hint: a sentence to show when a player passes for the first time.
    """

    title: str
    surface: str = "text"
    size: tuple[float, float] = (0, 0)
    margin: float = 0
    cells: tuple[tuple[float, float], ...] = ()
    places: tuple[Places, Places] = ((), ())
    lines: tuple[Line, ...] = ()
    edges: tuple[tuple[Line, ...], ...] = ()
    labels: tuple[tuple[float, float, str], ...] = ()
    stars: tuple[int, ...] = ()
    stores: tuple[tuple[float, float, float, float], ...] = ()
    stone: float = 0.4
    reach: float = 0.5
    sides: tuple[str, str] = SIDES
    colours: tuple[str, str] | None = None
    ground: str = ""
    mark: str = ""
    pass_hint: str = ""

    def __post_init__(self) -> None:
        if self.surface not in SURFACES:
            raise ValueError(f"surface must be one of {', '.join(SURFACES)}, got {self.surface!r}")
        outside = [cell for side in self.places for cells in side for cell in cells if not 0 <= cell < len(self.cells)]
        if outside:
            raise ValueError(f"places must have cells from 0 to {len(self.cells) - 1}, got {outside[0]}")

    def side(self, player: float) -> str:
        """Return the name of a player, +1 or -1."""
        return self.sides[0 if player > 0 else 1]

    def places_of(self, player: int) -> Places:
        """Return the cells of each action of a player, +1 or -1."""
        return self.places[0 if player > 0 else 1]

    def landing_cells(self, player: int, contents: np.ndarray) -> np.ndarray:
        """Return the cell in which each action's piece would land, int64 [action_space]; -1 for no cell.

        It is the first empty one of the action's cells.  The only cell of an action counts even if it is not
        empty: a house has seeds when it is played.  (A move onto an occupied point is illegal anyway.)

        Args:
            player: who plays, +1 or -1.
            contents: what is in each cell, 0 for an empty one.
        """
        places = self.places_of(player)
        possible = [[cell for cell in cells if len(cells) == 1 or not contents[cell]] for cells in places]
        return np.array([cells[0] if cells else -1 for cells in possible], np.int64)

    def last_cell(self, player: int, action: int, contents: Sequence[int]) -> int | None:
        """Return the cell in which the piece of the last action landed; None if the action has no cell.

        Args:
            player: who played the action, +1 or -1.
            contents: what is in each cell after the action, 0 for an empty one.
        """
        places = self.places_of(player)
        cells = places[action] if places else ()  # the surface "text" has no places
        if len(cells) == 1:  # whatever is in it: a house whose seeds were sown is empty now
            return cells[0]
        # Several cells, as in a column of Connect Four, fill from the first to the last: the last filled is the newest.
        return next((cell for cell in reversed(cells) if contents[cell]), None)


def column_letters(width: int) -> str:
    """Return the letters of a board's columns; "" if it has more columns than there are letters."""
    return COLUMNS[:width] if width <= len(COLUMNS) else ""


def grid_view(title: str, surface: str, shape: tuple[int, int], places: Places) -> BoardView:
    """Return the view of a board with rows and columns of cells.

    The number of a cell is row * width + column, with row 0 at the top.

    Args:
        surface: "lines", "squares" or "holes".
        shape: (height, width).
        places: the cells of each action, the same for both sides.
    """
    height, width = shape
    on_lines, holes = surface == "lines", surface == "holes"
    is_large = on_lines and height > 13  # cells are shown small, so that row names of two digits need more room
    # `inset` is the distance from the surface's corner to the middle of cell 0, across and down.
    # `right`, `bottom`: the surface's lower right corner.  `gap`: the distance from the surface's edge to the names.
    if on_lines:  # a cell is a crossing, so the surface ends at the middles of outer cells
        inset, right, bottom = 0.0, width - 1, height - 1
        gap, margin, stone = 0.83 if is_large else 0.72, 1.2 if is_large else 1, 0.465
    else:
        inset, right, bottom = 0.5, width, height
        gap, margin, stone = 0.32, 0.6, 0.4
    # Names of columns and rows; a board with more columns than letters has neither.
    columns = column_letters(width)
    x_left, x_right = -gap, round(right + gap, 2)
    y_above, y_below = -gap, round(bottom + gap, 2)
    labels = [(x + inset, y_below, name) for x, name in enumerate(columns)]
    if columns and not holes:
        labels += [(x + inset, y_above, name) for x, name in enumerate(columns)]
        labels += [(x, y + inset, str(height - y)) for y in range(height) for x in (x_left, x_right)]
    lines = [(0, y, right, y) for y in range(bottom + 1)] + [(x, 0, x, bottom) for x in range(right + 1)]
    return BoardView(
        title,
        surface,
        size=(right, bottom),
        margin=margin,
        cells=tuple((x + inset, y + inset) for y in range(height) for x in range(width)),
        places=(places, places),
        lines=() if holes else tuple(lines),
        labels=tuple(labels),
        stone=stone,
    )
