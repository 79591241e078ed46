"""Pictures of boards with stones: on the crossings of lines, in squares, or in the holes of an upright frame."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from alphago.drawing.board_view import BoardView
from alphago.drawing.overlay import Overlay, Spot, discs, legend, line_stones, squares
from alphago.drawing.shapes import (
    BLACK,
    EDGE,
    INK,
    LINE,
    WHITE,
    WOOD,
    Circle,
    Drawing,
    Layer,
    Rect,
    Shape,
    Style,
    Text,
    line,
    paragraph,
)

CELL = 40.0  # units from one point to the next
STONE = 0.47  # radius of a stone, as a share of a cell
SIDE_ROOM, NAME_ROOM = 0.75, 1.1  # from the outer points to the edge of the drawing, in cells: without and with names
SMALLEST = 6 * CELL  # the least width of a drawing, so that the texts below have room
WIDEST = 640.0  # the greatest usual width of a board, in pixels
PIXELS = 15.0  # the size of the letters below a board that has its usual width, in pixels
FRAME, HOLE = "#51718f", "#a9bccd"  # colours of a board of holes


class Board(NamedTuple):
    """A board to draw, one with stones: its look, and what is on it.

    Attributes:
        stones: in each cell, 1 Black, -1 White, 0 none.
        last: the cell of the last move. forbidden: cells on which ko forbids a stone.
        numbers: by cell, the number on its stone. label: what the picture shows, for those who cannot see it.
    """

    view: BoardView
    stones: Sequence[int]
    last: int | None = None
    forbidden: Sequence[int] = ()
    numbers: Mapping[int, int] = {}
    texts: Sequence[str] = ()  # sentences below the board
    label: str = ""
    legend: bool = True  # whether sentences explain an overlay


def board_picture(
    board: Board, overlay: Overlay | None = None, actions: Sequence[int] = (), to_text: Callable[[int], str] = str
) -> Drawing:
    """Return the picture of a board, with an overlay.

    Args:
        actions: the point of each action of the overlay, -1 for an action without a point, such as a pass.
        to_text: returns the name of an action.
    """
    view = board.view
    xs, ys = zip(*view.cells, strict=True)
    left = CELL * (NAME_ROOM if view.rows else SIDE_ROOM)
    wide = left + CELL * (max(xs) - min(xs)) + CELL * SIDE_ROOM
    left += max(0.0, (SMALLEST - wide) / 2)  # a small board is in the middle
    wide = max(wide, SMALLEST)
    radius = CELL * (STONE if view.surface == "lines" else 0.43)  # of discs
    spots = [Spot(left + CELL * (x - min(xs)), CELL * (SIDE_ROOM + y - min(ys)), radius) for x, y in view.cells]
    bottom = max(spot.y for spot in spots) + CELL * (NAME_ROOM if view.columns else SIDE_ROOM)
    places = [spots[point] if point >= 0 else None for point in actions]
    sentences = list(board.texts)
    if overlay is not None and board.legend:
        sentences += legend(overlay, places, to_text)
    shown = min(wide, WIDEST)
    letters = PIXELS * wide / shown  # their size in units of the drawing
    texts, high = texts_below(sentences, wide, bottom, size=letters)
    layers: tuple[Layer, ...] = (
        (Rect(0, 0, wide, high, Style(WOOD), 0.15 * CELL), *ground(board, spots), *names_around(board, spots)),
        stones(board, spots),
        tuple(texts),
        marks(board, spots),
        overlay_layer(board, overlay, spots, places),
    )
    return Drawing(wide, high, layers, board.label, shown)


def texts_below(sentences: Sequence[str], wide: float, top: float, size: float) -> tuple[list[Text], float]:
    """Return sentences as centred lines below the height `top`, and the height at which the drawing ends."""
    texts: list[Text] = []
    y = top + 0.9 * size
    for sentence in sentences:
        texts += paragraph(sentence, wide / 2, y, width=wide - 0.5 * CELL, size=size)
        y = texts[-1].y + 1.5 * size
    return texts, (texts[-1].y + 1.2 * size if texts else top)


def ground(board: Board, spots: Sequence[Spot]) -> Layer:
    """Return the board without its stones: the lines, the frame with its holes, and the star points."""
    view = board.view
    first_x, first_y = view.cells[0]
    left, top = spots[0].x - CELL * first_x, spots[0].y - CELL * first_y  # the surface's upper left corner
    wide, high = CELL * view.size[0], CELL * view.size[1]
    if view.surface == "holes":
        frame = Rect(left, top, wide, high, Style(FRAME), 0.2 * CELL)
        return (frame, *(Circle(x, y, CELL * 0.42, Style(HOLE, EDGE, 0.6)) for x, y, _ in spots))
    style = Style(stroke=LINE, width=1.2)

    def placed(ends: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Return the ends of a line of the surface in units of the drawing."""
        x1, y1, x2, y2 = ends
        return left + CELL * x1, top + CELL * y1, left + CELL * x2, top + CELL * y2

    shapes: list[Shape] = [line(*placed(ends), style) for ends in view.lines]
    if view.surface == "squares":  # a rim with sharp corners
        shapes.append(Rect(left, top, wide, high, style))
    for edges, colour in zip(view.edges, view.colours or (BLACK, WHITE), strict=False):  # a board may have no edges
        pens = Style(stroke=LINE, width=7.5), Style(stroke=colour, width=5.5)  # a coloured line with a dark outline
        shapes += [line(*placed(ends), pen) for ends in edges for pen in pens]
    shapes += [Circle(spots[point].x, spots[point].y, 0.09 * CELL, Style(LINE)) for point in view.stars]
    return tuple(shapes)


def names_around(board: Board, spots: Sequence[Spot]) -> Layer:
    """Return the names of rows at the left and of columns at the bottom."""
    width = len(board.view.columns)
    size = 0.36 * CELL  # of the letters
    left, below = spots[0].x - 0.78 * CELL, max(spot.y for spot in spots) + 0.8 * CELL
    rows = [Text(left, spots[row * width].y, name, size, LINE) for row, name in enumerate(board.view.rows)]
    last_row = spots[len(spots) - width :]
    columns = [Text(spot.x, below, name, size, LINE) for spot, name in zip(last_row, board.view.columns, strict=True)]
    return (*rows, *columns)


def stones(board: Board, spots: Sequence[Spot]) -> Layer:
    """Return the stones: the first side's in one colour, the second side's with a dark edge."""
    radius = CELL * (STONE if board.view.surface == "lines" else 0.4)
    first, second = board.view.colours or (BLACK, WHITE)
    styles = {1: Style(first, first, 1.0), -1: Style(second, EDGE, 1.4)}
    return tuple(
        Circle(spots[point].x, spots[point].y, radius, styles[colour])
        for point, colour in enumerate(board.stones)
        if colour
    )


def marks(board: Board, spots: Sequence[Spot]) -> Layer:
    """Return the stones' numbers, a mark on the last move's stone, and squares on points where ko forbids a stone.

    The mark is a ring, or a bar below the number if the stone has a number.
    """
    shapes: list[Shape] = []
    inks = [WHITE if stone > 0 else BLACK for stone in board.stones]
    for point, number in board.numbers.items():
        if board.stones[point]:
            size = CELL * (0.46 if number < 100 else 0.36)  # three digits are smaller
            is_bold = point == board.last
            shapes.append(Text(spots[point].x, spots[point].y, str(number), size, inks[point], bold=is_bold))
    if board.last is not None and board.stones[board.last]:
        spot, ink = spots[board.last], inks[board.last]
        if board.last in board.numbers:
            style, y = Style(stroke=ink, width=0.055 * CELL), spot.y + 0.27 * CELL
            shapes.append(line(spot.x - 0.2 * CELL, y, spot.x + 0.2 * CELL, y, style))
        else:
            shapes.append(Circle(spot.x, spot.y, 0.22 * CELL, Style(stroke=ink, width=0.07 * CELL)))
    for point in board.forbidden:
        spot, half = spots[point], 0.17 * CELL
        shapes.append(Rect(spot.x - half, spot.y - half, 2 * half, 2 * half, Style(WOOD, INK, 0.055 * CELL)))
    return tuple(shapes)


def overlay_layer(board: Board, overlay: Overlay | None, spots: Sequence[Spot], places: Sequence[Spot | None]) -> Layer:
    """Return an overlay's squares of ownership and, above them, its expected moves, or its discs if it has no moves.

    Args:
        spots: by point. places: by action; None for an action without a point.
    """
    if overlay is None:
        return ()
    owned = () if overlay.ownership is None else squares(overlay.ownership, board.stones, spots)
    return (*owned, *(line_stones(overlay.line, spots) if overlay.line else discs(overlay, places)))
