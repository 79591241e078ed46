"""A drawing of curves, such as those of a training run: panels side by side, each curve with its name at its end."""

from collections.abc import Sequence
from typing import NamedTuple

from alphago.drawing.shapes import (
    BLACK,
    BLUE,
    ORANGE,
    WHITE,
    Circle,
    Drawing,
    Polygon,
    Rect,
    Shape,
    Style,
    Text,
    line,
    paragraph,
)

WIDE, HIGH, GAP, SIZE = 250.0, 150.0, 16.0, 11.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 66.0, 24.0, 22.0  # margins of a panel around its curves
COLOURS = (BLUE, ORANGE, BLACK, "#777777", "#009e73")
WIDTHS = (2.0, 1.3, 1.0, 2.6, 1.3)  # so that they differ in black and white too
MOST_POINTS = 200  # points of a curve that are drawn
GRID = "#d8d8d8"


class Curve(NamedTuple):
    """The points of a curve, and the name at its end."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class CurvePanel(NamedTuple):
    """Curves over a common x axis.

    low, high: the ends of the y axis; None for the least and the greatest value of the curves.
    percent: whether to write the numbers of the y axis in percent.
    """

    title: str
    curves: Sequence[Curve]
    low: float | None = None
    high: float | None = None
    percent: bool = False


def curves_picture(panels: Sequence[CurvePanel], columns: int, axis: str, texts: Sequence[str] = ()) -> Drawing:
    """Return panels row by row, with lines of text above them.

    columns: most panels in a row. axis: what the x axis counts, such as "games".
    """
    columns = max(1, min(columns, len(panels)))
    wide = GAP + columns * (WIDE + GAP)
    shapes: list[Shape] = []
    top = GAP
    for text in texts:
        shapes += paragraph(text, GAP, top + SIZE, wide - 2 * GAP, 1.2 * SIZE, anchor="start")
        top = shapes[-1].y + 0.6 * SIZE if isinstance(shapes[-1], Text) else top
    for i, panel in enumerate(panels):
        left, upper = GAP + (i % columns) * (WIDE + GAP), top + GAP + (i // columns) * (HIGH + GAP)
        shapes += panel_shapes(panel, left, upper, axis)
    high = top + GAP + -(-len(panels) // columns) * (HIGH + GAP)
    return Drawing(wide, high, ((Rect(0, 0, wide, high, Style(WHITE)),), tuple(shapes)), "; ".join(texts), wide)


def panel_shapes(panel: CurvePanel, left: float, top: float, axis: str) -> list[Shape]:
    """Return the shapes of one panel: its title, its axes, its curves and their names."""
    drawn = [thin_out(curve) for curve in panel.curves if len(curve.x)]
    shapes: list[Shape] = [Text(left + LEFT, top + 0.6 * SIZE, panel.title, SIZE, anchor="start", bold=True)]
    if not drawn:
        return shapes
    x_low, x_high = ends([x for curve in drawn for x in curve.x], 0.0, None)
    y_low, y_high = ends([y for curve in drawn for y in curve.y], panel.low, panel.high)
    width, height = WIDE - LEFT - RIGHT, HIGH - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            left + LEFT + width * (x - x_low) / (x_high - x_low),
            top + TOP + height * (y_high - y) / (y_high - y_low),
        )

    for value in (y_low, (y_low + y_high) / 2, y_high):
        x, y = place(x_low, value)
        shapes.append(line(x, y, x + width, y, Style(stroke=GRID)))
        shapes.append(Text(x - 5, y, label(value, panel.percent), 0.85 * SIZE, anchor="end"))
    bottom = top + TOP + height
    shapes.append(Text(left + LEFT, bottom + 10, label(x_low, False), 0.85 * SIZE, anchor="start"))
    shapes.append(Text(left + LEFT + width, bottom + 10, f"{label(x_high, False)} {axis}", 0.85 * SIZE, anchor="end"))
    heights = []
    for i, curve in enumerate(drawn):
        style = Style(stroke=COLOURS[i % len(COLOURS)], width=WIDTHS[i % len(WIDTHS)])
        points = tuple(place(x, min(max(y, y_low), y_high)) for x, y in zip(curve.x, curve.y, strict=True))
        shapes.append(Polygon(points, style, is_open=True) if len(points) > 1 else dot(points[0], style))
        heights.append((points[-1][1], i))
    at = top + TOP - SIZE
    for y, i in sorted(heights):
        at = max(y, at + SIZE)
        shapes.append(Text(left + LEFT + width + 4, at, drawn[i].name, 0.85 * SIZE, COLOURS[i % len(COLOURS)], "start"))
    return shapes


def dot(point: tuple[float, float], style: Style) -> Circle:
    """Return a dot, for a curve that has one point only."""
    return Circle(point[0], point[1], 1.5 * style.width, Style(style.stroke))


def thin_out(curve: Curve) -> Curve:
    """Return a curve with at most MOST_POINTS points, by averaging neighbours."""
    step = -(-len(curve.x) // MOST_POINTS)
    if step <= 1:
        return curve
    parts = [slice(begin, begin + step) for begin in range(0, len(curve.x), step)]
    x = [sum(curve.x[part]) / len(curve.x[part]) for part in parts]
    return Curve(curve.name, x, [sum(curve.y[part]) / len(curve.y[part]) for part in parts])


def ends(values: Sequence[float], low: float | None, high: float | None) -> tuple[float, float]:
    """Return the lower and the upper end of an axis, which are never equal.

    low, high: the wanted ends; None for the least and the greatest of `values`.
    """
    first, last = (min(values) if low is None else low), (max(values) if high is None else high)
    if last <= first:
        return first - 0.5 * (low is None), first + 0.5 + 0.5 * (low is not None)
    return first, last


def label(value: float, percent: bool) -> str:
    """Return the text of a number on an axis."""
    if percent:
        return f"{value:.0%}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.2g}"
