"""Pictures of a position's planes, the input of a network; they exist for every game."""

import math
from collections.abc import Sequence

import numpy as np

from alphago.drawing.board_pictures import texts_below
from alphago.drawing.shapes import BLACK, LINE, WHITE, Drawing, Rect, Shape, Style, Text, mix

MOST_PLANES = 24
WIDE = 480.0  # width of the picture
COLUMNS = 6
GAP = 14.0  # between planes
NAME_ROOM = 34.0  # from a plane to the next one below, with the name between them
WIDEST_CELL = 60.0


def planes_picture(
    planes: np.ndarray, texts: Sequence[str], label: str, names: Sequence[str] = (), *, columns: int = COLUMNS
) -> Drawing:
    """Return planes [C, height, width] as grids, white for 0 and black for a plane's greatest absolute value.

    Numbers below 0 have a minus sign.  Only the first MOST_PLANES planes are drawn.

    Args:
        texts: sentences below the planes.
        names: names of the first planes; each later plane is named by its number.
        columns: planes in a row.
    """
    shown = planes[:MOST_PLANES]
    columns = min(columns, max(1, len(shown)))
    side = (WIDE - GAP * (columns + 1)) / columns
    _, height, width = planes.shape
    cell = min(side / max(width, 1), WIDEST_CELL)
    shapes: list[Shape] = []
    step = cell * height + NAME_ROOM
    for number, plane in enumerate(shown):
        row, column = divmod(number, columns)
        left = GAP + column * (side + GAP) + (side - cell * width) / 2  # in the middle of its column
        y = GAP + row * step
        shapes += plane_shapes(plane, left, y, cell)
        name = names[number] if number < len(names) else f"plane {number}"
        shapes.append(Text(left + cell * width / 2, y + cell * height + 11, name, size=11))
    bottom = GAP + math.ceil(len(shown) / columns) * step
    left_out = len(planes) - len(shown)
    sentences = [f"… and {left_out} more planes", *texts] if left_out else texts
    below, high = texts_below(sentences, WIDE, top=bottom - 6, size=15.0)
    layers = ((Rect(0, 0, WIDE, high, Style(WHITE)),), tuple(shapes), tuple(below))
    return Drawing(WIDE, high, layers, label, shown=WIDE)


def plane_shapes(plane: np.ndarray, left: float, top: float, cell: float) -> list[Shape]:
    """Return the cells of a plane and its outline, with its upper left corner at (left, top).

    Args:
        plane: float [height, width].
        cell: the side of a cell.
    """
    height, width = plane.shape
    greatest = max(float(np.abs(plane).max(initial=0.0)), 1e-9)  # a plane of zeros is white
    edge = Style(stroke="#c9c9c9", width=0.6)
    shapes: list[Shape] = []
    for row, column in np.ndindex(height, width):
        value, x, y = float(plane[row, column]), left + column * cell, top + row * cell
        fill = mix(WHITE, BLACK, abs(value) / greatest)
        shapes.append(Rect(x, y, cell, cell, edge._replace(fill=fill)))
        if value < 0:
            ink = WHITE if abs(value) > greatest / 2 else BLACK
            shapes.append(Text(x + cell / 2, y + cell / 2, "−", size=0.8 * cell, fill=ink))
    shapes.append(Rect(left, top, cell * width, cell * height, Style(stroke=LINE, width=1.2)))
    return shapes
