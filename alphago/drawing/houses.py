"""Pictures of games that sow: two rows of houses with their seeds, and the stores beside them."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

from alphago.drawing.board_pictures import CELL, texts_below
from alphago.drawing.overlay import Overlay, Spot, discs, legend
from alphago.drawing.shapes import INK, LINE, WOOD, Circle, Drawing, Layer, Rect, Shape, Style, Text

STEP = 1.75 * CELL  # from one house to the next
PIT = 0.78 * CELL  # radius of a house
SEED = 0.13 * CELL
HOLLOW, BROWN = "#d3b377", "#3f2a14"
GOLDEN = pi * (3 - 5**0.5)  # the angle between neighbours of a sunflower's seeds
MOST_SEEDS = 24  # seeds that are drawn in one house; the number beside the house counts them all
STORE = 1.9 * CELL  # width of a store
EDGE_ROOM = 0.3 * CELL  # from the edge of the drawing to a store
ROW_DISTANCE = 2.1 * CELL  # from the upper row of houses to the lower one
NAMES_HEIGHT = 1.9 * CELL  # from the upper row to the edge, with room for the names
TEXTS_DISTANCE = 1.75 * CELL  # from the lower row to the texts below the board
DISCS = CELL  # height of a row of discs


class Houses(NamedTuple):
    """Houses and stores to draw.

    Attributes:
        seeds: the seeds in Black's houses from the left, then in White's houses from White's left.
        stores: the seeds in Black's store and in White's.
        letters: the names of a side's houses, one letter each, the same for both sides.
        last: the house that the last move emptied, as an index into `seeds`.
    """

    seeds: Sequence[int]
    stores: tuple[int, int]
    letters: str
    last: int | None = None
    texts: Sequence[str] = ()
    label: str = ""
    named: bool = True  # whether the letters are written
    legend: bool = True  # whether sentences explain an overlay
    sides: tuple[str, str] = ("Black", "White")  # the names of the stores


def houses_picture(houses: Houses, overlay: Overlay | None = None, mover: int = 1) -> Drawing:
    """Return the picture: Black's houses below from the left, White's above from the right.

    Args:
        mover: the side (+1 Black, -1 White) whose houses are the actions of the overlay.
    """
    count = len(houses.letters)
    left = STORE + 0.6 * CELL
    width = 2 * left + STEP * (count - 1) + 2 * PIT
    space_above = DISCS if overlay is not None and mover < 0 else 0.0
    space_below = DISCS if overlay is not None and mover > 0 else 0.0
    white_y = NAMES_HEIGHT + space_above  # the middle of White's houses
    black_places = [(left + PIT + STEP * i, white_y + ROW_DISTANCE) for i in range(count)]
    white_places = [(x, white_y) for x, _ in reversed(black_places)]
    places = black_places + white_places
    bottom = white_y + ROW_DISTANCE + TEXTS_DISTANCE + space_below
    mover_places = black_places if mover > 0 else white_places
    # The discs are beyond the numbers and letters.
    spots: list[Spot | None] = [Spot(x, outside(y, white_y, cells=2.2), 0.5 * CELL) for x, y in mover_places]
    sentences = list(houses.texts)
    if overlay is not None and houses.legend:
        sentences += legend(overlay, spots, lambda action: houses.letters[action])
    texts, height = texts_below(sentences, width, bottom, 0.42 * CELL)
    ground: list[Shape] = [Rect(0, 0, width, height, Style(WOOD), 0.15 * CELL)]
    ground += [Circle(x, y, PIT, Style(HOLLOW, LINE, 1.5)) for x, y in places]
    ground += [
        Rect(x, white_y - PIT, STORE, ROW_DISTANCE + 2 * PIT, Style(HOLLOW, LINE, 1.5), 0.5 * CELL)
        for x in (EDGE_ROOM, width - EDGE_ROOM - STORE)
    ]
    layers: tuple[Layer, ...] = (
        tuple(ground),
        seeds_layer(houses, places),
        (*names_layer(houses, places, white_y), *stores_layer(houses, width, white_y)),
        tuple(texts),
        discs(overlay, spots) if overlay is not None else (),
    )
    return Drawing(width, height, layers, houses.label, 0.8 * width)


def outside(y: float, top: float, cells: float = 1.3) -> float:
    """Return the height of a text or disc beside a house: above a house of the upper row, below one of the lower row.

    Args:
        y: the height of the house. top: the height of the upper row. cells: the distance, in cells.
    """
    return y - cells * CELL if y == top else y + cells * CELL


def seeds_layer(houses: Houses, places: Sequence[tuple[float, float]]) -> Layer:
    """Return the seeds of each house, spread like a sunflower's, and a ring around the house that was emptied last."""
    shapes: list[Shape] = []
    for house, (seeds, (x, y)) in enumerate(zip(houses.seeds, places, strict=True)):
        for i in range(min(seeds, MOST_SEEDS)):
            density = 1.0 if seeds < 12 else 0.9  # many seeds lie closer
            reach = 1.25 * SEED * (i + 0.4) ** 0.5 * density  # grows with the root, so that the seeds lie evenly
            seed_x = x + reach * cos(GOLDEN * i) * 1.15
            seed_y = y + reach * sin(GOLDEN * i) * 1.15
            shapes.append(Circle(seed_x, seed_y, SEED, Style(BROWN, WOOD, 0.8)))
        if house == houses.last:
            shapes.append(Circle(x, y, PIT - 3, Style(stroke=INK, width=2.5)))
    return tuple(shapes)


def names_layer(houses: Houses, places: Sequence[tuple[float, float]], top: float) -> Layer:
    """Return the number of seeds and the letter beside each house."""
    shapes: list[Shape] = []
    for house, (seeds, (x, y)) in enumerate(zip(houses.seeds, places, strict=True)):
        beside = outside(y, top)
        shapes.append(Text(x - 0.25 * CELL, beside, str(seeds), 0.42 * CELL, INK, bold=True))
        if houses.named:
            letter = houses.letters[house % len(houses.letters)]
            shapes.append(Text(x + 0.25 * CELL, beside, letter, 0.36 * CELL, LINE))
    return tuple(shapes)


def stores_layer(houses: Houses, wide: float, top: float) -> Layer:
    """Return the two stores with their captured seeds: White's at the left, Black's at the right."""
    shapes: list[Shape] = []
    middle = top + 1.05 * CELL
    for name, seeds, x in (
        (houses.sides[1], houses.stores[1], EDGE_ROOM + STORE / 2),
        (houses.sides[0], houses.stores[0], wide - EDGE_ROOM - STORE / 2),
    ):
        shapes.append(Text(x, middle - 0.4 * CELL, name, 0.42 * CELL, INK))
        shapes.append(Text(x, middle + 0.35 * CELL, str(seeds), 0.8 * CELL, INK, bold=True))
    return tuple(shapes)
