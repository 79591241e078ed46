"""Shapes and drawings: what is drawn, before it is written as SVG, painted with Pillow or added to a figure."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

# Readable in black and white, and by the colour-blind: dark and light carry the meaning, blue and orange only add.
WOOD, LINE, INK = "#eacf9a", "#6b5632", "#2b2113"
BLACK, WHITE, EDGE = "#161616", "#ffffff", "#333333"
PALE, BLUE, ORANGE = "#d9e9f6", "#0b5394", "#d55e00"
# The colours of curves: Okabe and Ito's, which the colour-blind tell apart.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#666666", "#000000")
LETTER, BOLD_LETTER = 0.53, 0.6  # width of an average letter, as a share of its size
LINE_STEP = 1.35  # from a line of a paragraph to the next, as a share of the size
LEAST_LETTERS = 8  # in a line, even if they do not fit
HALF_WIDTH = 0.42  # half the width of an arrowhead, as a share of its length
LIGHT = 140  # brightness, 0 .. 255, above which a ground counts as light


class Style(NamedTuple):
    """The colours of a shape, "none" or "#rrggbb", its outline's width, and the lengths of its dashes and gaps."""

    fill: str = "none"
    stroke: str = "none"
    width: float = 1.0
    dash: tuple[float, ...] = ()  # of a line; () for a solid one


class Circle(NamedTuple):
    """A circle; (x, y) is its middle."""

    x: float
    y: float
    radius: float
    style: Style


class Rect(NamedTuple):
    """A rectangle; (x, y) is its upper left corner, and `corner` the radius of its rounded corners."""

    x: float
    y: float
    width: float
    height: float
    style: Style
    corner: float = 0.0


class Polygon(NamedTuple):
    """A polygon with corners at `points`; if `is_open`, a line through these points."""

    points: tuple[tuple[float, float], ...]
    style: Style
    is_open: bool = False


class Text(NamedTuple):
    """A line of text, centred at the height `y`; `anchor` says what is at `x`: its "start", "middle" or "end"."""

    x: float
    y: float
    text: str
    size: float
    fill: str = INK
    anchor: str = "middle"
    bold: bool = False


Shape = Circle | Rect | Polygon | Text
Layer = tuple[Shape, ...]
SIZES = ("radius", "width", "height", "corner", "size")  # fields of shapes that are lengths


class Drawing(NamedTuple):
    """A picture: layers of shapes, the lowest first, in units of its own.

    Attributes:
        label: what it shows, as text for those who cannot see it.
        shown: its usual width in pixels.
    """

    width: float
    height: float
    layers: tuple[Layer, ...]
    label: str
    shown: float


def line(x1: float, y1: float, x2: float, y2: float, style: Style) -> Polygon:
    """Return a straight line."""
    return Polygon(((x1, y1), (x2, y2)), style, is_open=True)


def arrow(x1: float, y1: float, x2: float, y2: float, style: Style, head: float = 9.0) -> Layer:
    """Return a straight line from (x1, y1) to (x2, y2), with an arrowhead of length `head` at (x2, y2)."""
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length  # the direction; (-dy, dx) is at right angles to it
    base_x, base_y = x2 - head * dx, y2 - head * dy  # the middle of the head's base
    half = HALF_WIDTH * head
    corners = ((x2, y2), (base_x - half * dy, base_y + half * dx), (base_x + half * dy, base_y - half * dx))
    return line(x1, y1, base_x, base_y, style), Polygon(corners, Style(style.stroke))


def move(shape: Shape, dx: float, dy: float, scale: float = 1.0) -> Shape:
    """Return a shape scaled by `scale` around the origin, then moved by (dx, dy)."""
    # The fields to replace: a text has no style, and a polygon no lengths but its style's.
    style: dict[str, Any] = {} if isinstance(shape, Text) else {"style": scale_style(shape.style, scale)}
    if isinstance(shape, Polygon):
        return shape._replace(points=tuple((x * scale + dx, y * scale + dy) for x, y in shape.points), **style)
    sizes = {name: getattr(shape, name) * scale for name in SIZES if name in shape._fields}
    return shape._replace(x=shape.x * scale + dx, y=shape.y * scale + dy, **sizes, **style)


def scale_style(style: Style, scale: float) -> Style:
    """Return a style with its outline scaled."""
    return style._replace(width=style.width * scale, dash=tuple(length * scale for length in style.dash))


def paragraph(
    text: str, x: float, y: float, *, width: float, size: float, anchor: str = "middle", bold: bool = False
) -> list[Text]:
    """Return text wrapped into lines that fit a width, the first centred at the height `y`; [] for no text."""
    letter = (BOLD_LETTER if bold else LETTER) * size
    lines = textwrap.wrap(text, max(LEAST_LETTERS, int(width / letter)))
    step = LINE_STEP * size
    return [Text(x, y + step * i, words, size, anchor=anchor, bold=bold) for i, words in enumerate(lines)]


def mix(pale: str, full: str, share: float) -> str:
    """Return the colour that is `share` (0 .. 1) of the way from `pale` to `full`; all three are "#rrggbb"."""
    share = min(1.0, max(0.0, share))
    pairs = zip(channels(pale), channels(full), strict=True)
    return "#" + "".join(f"{round(start + (end - start) * share):02x}" for start, end in pairs)


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb", 0 .. 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ink_on(colour: str) -> str:
    """Return the colour of readable text on the ground `colour`: black on a light ground, white on a dark one."""
    red, green, blue = channels(colour)
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue  # the luma of ITU-R BT.601
    return BLACK if brightness > LIGHT else WHITE


def sheet(
    drawings: Sequence[Drawing], captions: Sequence[str], columns: int, *, title: str = "", cell: float = 220.0
) -> Drawing:
    """Return drawings row by row on one white sheet, each with its caption below.

    Args:
        cell: the width of each drawing.

    Raises:
        ValueError: if there are no drawings, or not one caption for each.
    """
    if not drawings or len(drawings) != len(captions):
        raise ValueError(f"a sheet must have one caption for each drawing, got {len(captions)} for {len(drawings)}")
    gap = 0.08 * cell
    size = min(0.062 * cell, 15.0)  # of the captions' letters
    columns = max(1, min(columns, len(drawings)))
    width = gap + columns * (cell + gap)
    shapes: list[Shape] = []
    heading = paragraph(title, gap, gap + size, width=width - 2 * gap, size=1.25 * size, anchor="start")
    top = gap + (heading[-1].y + size if heading else 0.0)
    for begin in range(0, len(drawings), columns):
        row = range(begin, min(begin + columns, len(drawings)))
        tall = max(drawings[i].height * cell / drawings[i].width for i in row)  # height of the row's tallest drawing
        bottom = top + tall
        for column, i in enumerate(row):
            left, drawing = gap + column * (cell + gap), drawings[i]
            scale = cell / drawing.width
            shapes += [move(shape, left, top, scale) for shape in flat(drawing.layers)]
            caption = paragraph(captions[i], left + cell / 2, top + tall + size, width=cell, size=size)
            shapes += caption
            bottom = max([bottom, *(text.y for text in caption)])
        top = bottom + gap + size / 2
    ground = Rect(0, 0, width, top, Style(WHITE))
    label = title or "; ".join(captions)
    return Drawing(width, top, ((ground,), tuple(heading), tuple(shapes)), label, shown=width)


def flat(layers: Iterable[Layer]) -> Layer:
    """Return the shapes of all layers as one layer."""
    return tuple(shape for layer in layers for shape in layer)
