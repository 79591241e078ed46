"""Pictures of boards: stones on the crossings of lines, in squares, or in the holes of a frame; seeds in houses."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import NamedTuple

from alphago.drawing.board_view import BoardView
from alphago.drawing.overlay import Overlay, Spot, discs, line_stones, ownership_squares
from alphago.drawing.shapes import (
    BLACK,
    EDGE,
    INK,
    LINE,
    WHITE,
    WOOD,
    Circle,
    Drawing,
    Rect,
    Shape,
    Style,
    Text,
    line,
    move,
    paragraph,
)

CELL = 40.0  # units from one point to the next
# Radii in pictures, as shares of a cell: of a stone on lines; in a square or hole, of a stone and of an overlay's disc.
STONE, INNER_STONE, INNER_DISC = 0.47, 0.4, 0.43
SMALLEST = 6 * CELL  # the least width of a drawing, so that the texts below have room
WIDEST = 640.0  # the greatest usual width of a board, in pixels
LETTER_PIXELS = 15.0  # the size of the letters below a board that has its usual width, in pixels
FRAME, HOLE = "#51718f", "#a9bccd"  # colours of a board of holes
HOLLOW, BROWN = "#d3b377", "#3f2a14"  # colours of houses and seeds
SEED = 0.13 * CELL  # radius
GOLDEN = pi * (3 - 5**0.5)  # the angle between neighbours of a sunflower's seeds
MOST_SEEDS = 20  # seeds that are drawn in one house; the number at its edge counts them all


class Board(NamedTuple):
    """A board to draw: its look, and what is on it.

    Attributes:
        stones: in each cell, 1 Black, -1 White, 0 none; in houses the number of seeds.
        last: the cell of the last move; None for no mark.
        forbidden: cells on which ko forbids a stone.
        numbers: {cell: number on its stone}.
        label: what the picture shows, for those who cannot see it.
        captures: how many pieces each side has captured; counted in the stores of `view`.
    """

    view: BoardView
    stones: Sequence[int]
    last: int | None = None
    forbidden: Sequence[int] = ()
    numbers: Mapping[int, int] = {}
    texts: Sequence[str] = ()  # sentences below the board
    label: str = ""
    captures: tuple[int, int] | None = None


def board_picture(board: Board, overlay: Overlay, actions: Sequence[int]) -> Drawing:
    """Return the picture of a board, with an overlay.

    Args:
        actions: for each action of the overlay its cell, -1 for an action without a cell, such as a pass.
    """
    view = board.view
    board_width, board_height = (CELL * (length + 2 * view.margin) for length in view.size)
    width = max(board_width, SMALLEST)
    # The upper left corner of the surface; a small board is in the middle.
    left, top = CELL * view.margin + (width - board_width) / 2, CELL * view.margin

    def moved(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return shapes that are placed on the surface, moved to their places in the drawing."""
        return tuple(move(shape, left, top) for shape in shapes)

    disc_radius = CELL * (STONE if view.surface == "lines" else INNER_DISC)
    spots = [Spot(CELL * x, CELL * y, disc_radius) for x, y in view.cells]
    action_spots = [spots[cell] if cell >= 0 else None for cell in actions]
    shown_width = min(width, WIDEST)  # the usual width on a screen, in pixels
    # On the screen the letters have LETTER_PIXELS pixels, whatever unit the drawing has.
    texts, height = texts_below(board.texts, width, board_height, size=LETTER_PIXELS * width / shown_width)
    pieces = seeds(board, spots) if view.surface == "houses" else stones(board, spots)
    owners = [] if overlay.ownership is None else ownership_squares(overlay.ownership, board.stones, spots)
    moves_shown = line_stones(overlay.line, spots) if overlay.line else discs(overlay, action_spots)
    wood = Rect(0, 0, width, height, Style(WOOD), corner=0.15 * CELL)
    below = (wood, *moved(ground(board, spots)))
    layers = below, moved(pieces), tuple(texts), moved(marks(board, spots)), moved([*owners, *moves_shown])
    return Drawing(width, height, layers, board.label, shown=shown_width)


def texts_below(sentences: Sequence[str], wide: float, top: float, size: float) -> tuple[list[Text], float]:
    """Return sentences as centred lines below the height `top`, and the height at which the drawing ends.

    Args:
        wide: the width of the drawing.
        size: of the letters.
    """
    texts: list[Text] = []
    y = top + 0.9 * size
    for sentence in sentences:
        texts += paragraph(sentence, wide / 2, y, width=wide - 0.5 * CELL, size=size)
        y = texts[-1].y + 1.5 * size
    return texts, (texts[-1].y + 1.2 * size if texts else top)


def ground(board: Board, spots: Sequence[Spot]) -> list[Shape]:
    """Return the board without its pieces, and the names beside it (of rows and columns, or of houses).

    It is drawn as lines with star points, as a frame with holes, or as houses with stores.
    """
    view = board.view
    names = [Text(CELL * x, CELL * y, name, 0.36 * CELL, LINE) for x, y, name in view.labels]
    wide, high = CELL * view.size[0], CELL * view.size[1]
    if view.surface == "houses":
        pen = Style(HOLLOW, LINE, 1.5)
        pits = [Circle(x, y, CELL * view.stone, pen) for x, y, _ in spots]
        stores = [Rect(CELL * x, CELL * y, CELL * w, CELL * h, pen, corner=CELL * h / 2) for x, y, w, h in view.stores]
        return [*pits, *stores, *names]
    if view.surface == "holes":
        frame = Rect(0, 0, wide, high, Style(FRAME), corner=0.2 * CELL)
        return [frame, *(Circle(x, y, CELL * 0.42, Style(HOLE, EDGE, 0.6)) for x, y, _ in spots), *names]
    style = Style(stroke=LINE, width=1.2)
    shapes: list[Shape] = [line(CELL * x1, CELL * y1, CELL * x2, CELL * y2, style) for x1, y1, x2, y2 in view.lines]
    if view.surface == "squares":  # a rim with sharp corners
        shapes.append(Rect(0, 0, wide, high, style))
    for edges, colour in zip(view.edges, view.colours or (BLACK, WHITE), strict=False):  # a board may have no edges
        pens = Style(stroke=LINE, width=7.5), Style(stroke=colour, width=5.5)  # a coloured line with a dark outline
        for x1, y1, x2, y2 in edges:
            shapes += [line(CELL * x1, CELL * y1, CELL * x2, CELL * y2, pen) for pen in pens]
    shapes += [Circle(spots[point].x, spots[point].y, 0.09 * CELL, Style(LINE)) for point in view.stars]
    return shapes + names


def stones(board: Board, spots: Sequence[Spot]) -> list[Shape]:
    """Return the stones: the first side's in one colour, the second side's with a dark edge."""
    # `view.stone` is the radius on pages; in pictures it is used for houses only.
    radius = CELL * (STONE if board.view.surface == "lines" else INNER_STONE)
    first, second = board.view.colours or (BLACK, WHITE)
    styles = {1: Style(first, first, 1.0), -1: Style(second, EDGE, 1.4)}
    placed = [(spots[point], colour) for point, colour in enumerate(board.stones) if colour]
    return [Circle(spot.x, spot.y, radius, styles[colour]) for spot, colour in placed]


def seeds(board: Board, spots: Sequence[Spot]) -> list[Shape]:
    """Return the seeds of each house with their number, and in the stores the numbers of captured seeds.

    The seeds in a house are spread like those of a sunflower.
    """
    view = board.view
    shapes: list[Shape] = []
    for count, (x, y, _) in zip(board.stones, spots, strict=True):
        for i in range(min(count, MOST_SEEDS)):
            reach = SEED * (i + 0.4) ** 0.5  # grows with the root, so that the seeds lie evenly
            seed_x, seed_y = x + reach * cos(GOLDEN * i), y + reach * sin(GOLDEN * i)
            shapes.append(Circle(seed_x, seed_y, SEED, Style(BROWN, WOOD, 0.8)))
        edge_y = y + CELL * view.stone  # the house's lower edge
        shapes += [Circle(x, edge_y, 0.25 * CELL, Style(WOOD)), Text(x, edge_y, str(count), 0.4 * CELL, bold=True)]
    # If the numbers of captures are unknown, nothing is written in the stores.
    for (x, y, wide, high), name, captured in zip(view.stores, view.sides, board.captures or (), strict=False):
        middle = CELL * (x + wide / 2), CELL * (y + high / 2)
        shapes.append(Text(*middle, f"{name}: {captured}", 0.5 * CELL, bold=True))
    return shapes


def marks(board: Board, spots: Sequence[Spot]) -> list[Shape]:
    """Return the stones' numbers, a mark on the last move's stone, and squares on points where ko forbids a stone.

    The mark is a ring, or a bar below the number if the stone has a number.  In houses it is a ring in the house from
    which seeds were sown last.
    """
    shapes: list[Shape] = []
    inks = [WHITE if stone > 0 else BLACK for stone in board.stones]  # of what is drawn on each stone
    for point, number in board.numbers.items():
        if board.stones[point]:
            size = CELL * (0.46 if number < 100 else 0.36)  # three digits are smaller
            is_bold = point == board.last
            shapes.append(Text(spots[point].x, spots[point].y, str(number), size, inks[point], bold=is_bold))
    if board.last is not None and board.view.surface == "houses":
        spot = spots[board.last]
        # The ring lies 3 units inside the house's edge.
        shapes.append(Circle(spot.x, spot.y, CELL * board.view.stone - 3, Style(stroke=INK, width=2.5)))
    elif board.last is not None and board.stones[board.last]:
        spot, ink = spots[board.last], inks[board.last]
        if board.last in board.numbers:
            style, y = Style(stroke=ink, width=0.055 * CELL), spot.y + 0.27 * CELL
            shapes.append(line(spot.x - 0.2 * CELL, y, spot.x + 0.2 * CELL, y, style))
        else:
            shapes.append(Circle(spot.x, spot.y, 0.22 * CELL, Style(stroke=ink, width=0.07 * CELL)))
    for point in board.forbidden:
        spot, half = spots[point], 0.17 * CELL
        shapes.append(Rect(spot.x - half, spot.y - half, 2 * half, 2 * half, Style(WOOD, INK, 0.055 * CELL)))
    return shapes
