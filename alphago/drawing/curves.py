"""Diagrams with curves, such as those of a training run: panels side by side, each with axes of its own."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from alphago.drawing.axes import SHARE, axis_limits, number_text, smooth, spaced_indices, spread, ticks
from alphago.drawing.shapes import (
    BLUE,
    BOLD_LETTER,
    INK,
    WHITE,
    Circle,
    Drawing,
    Polygon,
    Rect,
    Shape,
    Style,
    Text,
    flat,
    line,
    mix,
    move,
    paragraph,
)

WIDE, HIGH, GAP = 300.0, 200.0, 14.0  # of a panel, and between panels
FONT_SIZE, SMALL_FONT = 11.0, 9.5  # sizes of letters
LEFT, RIGHT, BOTTOM = 42.0, 10.0, 20.0  # margins of a panel around its curves
MOST_POINTS = 240  # points of a curve that are drawn
SMOOTHED_OVER = 40  # a moving average takes a 40th of the points on either side; curves of fewer are not smoothed
MOST_DOTS = 39  # a curve with at most so many points has a dot at each point, if there is room for the dots
DOT = 1.8  # radius
TICK_WIDTH, TICK_HEIGHT = 48.0, 28.0  # least distance of the numbers of an axis, across and down
ROOM = 0.04  # above and below the curves, as a share of their height
GRID, LEVEL = "#d8d8d8", "#808080"
SAMPLE = 20.0  # length of a line in a legend
Dash = Literal["-", "--", ":", "-."]
DASHES: dict[Dash, tuple[float, ...]] = {"-": (), "--": (5, 3), ":": (1.5, 3), "-.": (6, 3, 1.5, 3)}

Place = Callable[[float, float], tuple[float, float]]


class Curve(NamedTuple):
    """A curve: its points, sorted by x, and how they are drawn.

    Attributes:
        dash: the style of its line.
        label: what this style means, in the panel's legend; "" for none.
        name: the text at the curve's end, in place of a label in the legend; "" for none.
        low, high: the ends of each point's interval, drawn as a band; None without intervals.
        is_exact: whether to draw each point, instead of a moving average.
    """

    x: Sequence[float]
    y: Sequence[float]
    colour: str = BLUE
    dash: Dash = "-"
    label: str = ""
    name: str = ""
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    is_exact: bool = False


class Mark(NamedTuple):
    """A shape around the origin, in units of the drawing, that is drawn at a point of a diagram."""

    x: float
    y: float
    shape: Shape


class CurvePanel(NamedTuple):
    """A diagram with curves, or with a picture in their place.

    Attributes:
        unit: the unit of the y axis; if it begins with SHARE, its numbers are written in percent.
        level: the y of a thin horizontal line, such as a win rate of 0.5; None for no line.
        low, high: the ends of the y axis; None for the least and the greatest value.
        x_label: the label of the x axis, if it differs from that of the other panels; else "".
        x_names: names at x = 0, 1, 2 and so on, which replace the numbers of the x axis; () for numbers.
        fills: whether to fill the space between the curves and `level`.
    """

    title: str
    curves: Sequence[Curve] = ()
    unit: str = ""
    level: float | None = None
    low: float | None = None
    high: float | None = None
    x_label: str = ""
    marks: Sequence[Mark] = ()
    fills: bool = False
    picture: Drawing | None = None
    x_names: tuple[str, ...] = ()


def curves_picture(
    panels: Sequence[CurvePanel],
    columns: int,
    x_label: str,
    *,
    texts: Sequence[str] = (),
    key: Sequence[tuple[str, str]] = (),
    size: tuple[float, float] = (WIDE, HIGH),
) -> Drawing:
    """Return panels row by row, with lines of text and a legend of colours above them.

    Args:
        columns: most panels in a row.
        x_label: what the x axes count, such as "games".
        key: the entries of the legend, pairs of a name and its colour.
        size: width and height of a panel.
    """
    columns = max(1, min(columns, len(panels)))
    panel_wide, panel_high = size
    wide = GAP + columns * (panel_wide + GAP)
    shapes: list[Shape] = []
    top = GAP
    for text in texts:
        lines = paragraph(text, GAP, top + FONT_SIZE, width=wide - 2 * GAP, size=1.2 * FONT_SIZE, anchor="start")
        shapes += lines
        top = lines[-1].y + 0.6 * FONT_SIZE if lines else top
    if key:
        samples = [(name, Style(stroke=colour, width=4)) for name, colour in key]
        entries, top = legend(samples, GAP, top, wide=wide - 2 * GAP, size=1.1 * FONT_SIZE)
        shapes += entries
    top += GAP / 2
    for i, panel in enumerate(panels):
        row, column = divmod(i, columns)
        left, upper = GAP + column * (panel_wide + GAP), top + row * (panel_high + GAP)
        shapes += [move(shape, left, upper) for shape in panel_shapes(panel, size)]
    rows = math.ceil(len(panels) / columns)
    high = top + rows * (panel_high + GAP)
    shapes.append(Text(wide / 2, high - 0.3 * GAP, x_label, FONT_SIZE))
    high += FONT_SIZE
    label = "; ".join(texts) or ", ".join(panel.title for panel in panels)
    return Drawing(wide, high, ((Rect(0, 0, wide, high, Style(WHITE)),), tuple(shapes)), label, shown=wide)


def panel_drawing(panel: CurvePanel, x_label: str) -> Drawing:
    """Return a panel as a picture of its own; x_label: the label of its x axis."""
    shapes = panel_shapes(panel._replace(x_label=panel.x_label or x_label), (WIDE, HIGH))
    return Drawing(WIDE, HIGH, ((Rect(0, 0, WIDE, HIGH, Style(WHITE)),), tuple(shapes)), panel.title, shown=WIDE)


def panel_shapes(panel: CurvePanel, size: tuple[float, float]) -> list[Shape]:
    """Return the shapes of a panel of some size: its title, its legend, its axes, and its curves or its picture."""
    wide, high = size
    title = paragraph(panel_title(panel), wide / 2, 0.6 * FONT_SIZE, width=wide, size=FONT_SIZE, bold=True)
    shapes: list[Shape] = [*title]
    top = title[-1].y + 0.8 * FONT_SIZE
    if panel.picture is not None:
        return shapes + picture_shapes(panel.picture, wide, top, high - top)
    curves = [curve for curve in panel.curves if len(curve.x)]
    if not curves:
        return shapes
    labels = legend_labels(panel)
    if len(labels) > 1:  # a single one is in the title
        samples = [(label, Style(stroke=INK, width=1.4, dash=DASHES[dash])) for label, dash in labels]
        entries, top = legend(samples, LEFT, top, wide=wide - LEFT, size=SMALL_FONT)
        shapes += entries
    # With room for the longest name of a curve.
    right_margin = RIGHT + BOLD_LETTER * SMALL_FONT * max(len(curve.name) for curve in curves)
    bottom_margin = BOTTOM + (FONT_SIZE if panel.x_label else 0)
    box = Rect(LEFT, top, wide - LEFT - right_margin, high - top - bottom_margin, Style())
    return shapes + diagram_shapes(panel, curves, box)


def diagram_shapes(panel: CurvePanel, curves: Sequence[Curve], box: Rect) -> list[Shape]:
    """Return the axes of a panel, its curves with their names, and its marks.

    Args:
        curves: the panel's curves that have points.
        box: the space of the curves.
    """
    x_first, x_last = x_ends(panel, curves)
    y_low, y_high = y_ends(panel, curves)

    def place(x: float, y: float) -> tuple[float, float]:
        """Return where a point of the diagram is drawn; points beyond the ends of the y axis are drawn at its ends."""
        y = min(max(y, y_low), y_high)
        across = box.width * (x - x_first) / (x_last - x_first)
        down = box.height * (y_high - y) / (y_high - y_low)
        return box.x + across, box.y + down

    shapes = axes_shapes(panel, box, (x_first, x_last), (y_low, y_high), place) + band_shapes(curves, place)
    for curve in curves:
        shapes += curve_shapes(curve, place, panel.level if panel.fills else None)
    shapes += [move(mark.shape, *place(mark.x, mark.y)) for mark in panel.marks]
    return shapes + name_shapes(curves, place, box)


def picture_shapes(picture: Drawing, wide: float, top: float, high: float) -> list[Shape]:
    """Return a picture's shapes, scaled to a space of width `wide` and height `high` that begins at height `top`."""
    scale = min(wide / picture.width, high / picture.height)
    left = (wide - scale * picture.width) / 2
    return [move(shape, left, top, scale) for shape in flat(picture.layers)]


def legend_labels(panel: CurvePanel) -> list[tuple[str, Dash]]:
    """Return the labels for a panel's legend, with their line styles, each once: labels of curves without names."""
    return list(dict.fromkeys((curve.label, curve.dash) for curve in panel.curves if curve.label and not curve.name))


def panel_title(panel: CurvePanel) -> str:
    """Return a panel's title with its unit, and with the label of its curves if all have the same label."""
    labels = [label for label, _ in legend_labels(panel)]
    label = f": {labels[0]}" if len(labels) == 1 else ""
    unit = panel.unit.removeprefix(SHARE).strip()  # SHARE is "%", which every number on the axis has already
    return f"{panel.title}{label}" + (f" [{unit}]" if unit else "")


def legend(
    samples: Sequence[tuple[str, Style]], left: float, top: float, wide: float, size: float
) -> tuple[list[Shape], float]:
    """Return a legend of line styles, row by row within a width, and the height at which it ends.

    Args:
        samples: pairs of a text and its style.
        left, top: the legend's upper left corner.
        wide: its greatest width.
        size: the size of its letters.
    """
    shapes: list[Shape] = []
    x, y = left, top + size / 2
    for text, style in samples:
        length = SAMPLE + 5 + BOLD_LETTER * size * len(text)  # as of bold letters: with some room to spare
        if x > left and x + length > left + wide:  # the row is full; the first sample of a row always stays
            x, y = left, y + 1.4 * size
        shapes += [line(x, y, x + SAMPLE, y, style), Text(x + SAMPLE + 5, y, text, size, anchor="start")]
        x += length + 1.5 * size
    return shapes, y + size


def x_ends(panel: CurvePanel, curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the ends of a panel's x axis, which contains 0, all points of its curves and all its names."""
    last_name = max(0.0, len(panel.x_names) - 1.0)  # the x of the last name; 0 if there are none
    return axis_limits([0.0, last_name, *(curve.x[0] for curve in curves), *(curve.x[-1] for curve in curves)])


def y_ends(panel: CurvePanel, curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the ends of a panel's y axis, with some room at an end that the panel does not give."""
    values = [value for curve in curves for value in (*curve.y, *(curve.low or ()), *(curve.high or ()))]
    if panel.level is not None:
        values.append(panel.level)
    low, high = axis_limits(values, panel.low, panel.high)
    room = ROOM * (high - low)
    return (low - room if panel.low is None else low), (high + room if panel.high is None else high)


def axes_shapes(
    panel: CurvePanel, box: Rect, x: tuple[float, float], y: tuple[float, float], place: Place
) -> list[Shape]:
    """Return what is drawn of a panel's axes: the grid, the numbers, the line at `level`, and the label of the x axis.

    Args:
        box: the space of the panel's curves.
        x, y: the lower and the upper end of each axis.
        place: returns where a point is drawn.
    """
    shapes: list[Shape] = []
    right, bottom = box.x + box.width, box.y + box.height
    (first, last), (low, high) = x, y
    for value in ticks(low, high, max(2, int(box.height / TICK_HEIGHT))):
        _, line_y = place(first, value)
        shapes.append(line(box.x, line_y, right, line_y, Style(stroke=GRID, width=0.7)))
        shapes.append(Text(box.x - 4, line_y, number_text(value, panel.unit), SMALL_FONT, anchor="end"))
    numbers = ticks(first, last, max(2, int(box.width / TICK_WIDTH)))
    # Pairs of an x and its text.
    texts = enumerate(panel.x_names) if panel.x_names else ((number, number_text(number)) for number in numbers)
    for value, text in texts:
        line_x, _ = place(value, low)
        shapes.append(line(line_x, box.y, line_x, bottom, Style(stroke=GRID, width=0.7)))
        shapes.append(Text(line_x, bottom + 0.9 * SMALL_FONT, text, SMALL_FONT))
    if panel.level is not None and low <= panel.level <= high:
        _, line_y = place(first, panel.level)
        shapes.append(line(box.x, line_y, right, line_y, Style(stroke=LEVEL, width=0.9, dash=DASHES[":"])))
    if panel.x_label:
        shapes.append(Text(box.x + box.width / 2, bottom + 0.9 * SMALL_FONT + FONT_SIZE, panel.x_label, SMALL_FONT))
    return shapes


def curve_shapes(curve: Curve, place: Place, base: float | None) -> list[Shape]:
    """Return a curve: a line through its points, with a dot at each if they are few.

    If it is neither exact nor has intervals, the line is its moving average, drawn over a thin line of its own values.

    Args:
        place: returns where a point is drawn.
        base: the space between the curve and this y is filled; None for no filling.
    """
    shapes: list[Shape] = []
    indices = spaced_indices(len(curve.x), len(curve.x) if curve.is_exact else MOST_POINTS)
    has_average = not curve.is_exact and curve.low is None
    y = smooth(curve.y, SMOOTHED_OVER) if has_average else curve.y
    points = tuple(place(curve.x[i], y[i]) for i in indices)
    if base is not None:
        area = (place(curve.x[0], base), *points, place(curve.x[-1], base))
        shapes.append(Polygon(area, Style(mix(WHITE, curve.colour, 0.15))))
    if list(y) != list(curve.y):  # the average differs: the values themselves are drawn too
        shapes.append(Polygon(tuple(place(curve.x[i], curve.y[i]) for i in indices), pale_line(curve), is_open=True))
    if len(points) > 1:
        style = Style(stroke=curve.colour, width=1.5, dash=DASHES[curve.dash])
        shapes.append(Polygon(points, style, is_open=True))
    # Few points get dots, if dots of the radius DOT do not touch each other on the average.
    if len(points) <= MOST_DOTS and points[-1][0] - points[0][0] >= 2 * DOT * (len(points) - 1):
        shapes += [Circle(*point, DOT, Style(curve.colour)) for point in points]
    return shapes


def band_shapes(curves: Sequence[Curve], place: Place) -> list[Shape]:
    """Return the bands of curves, and then their outlines, which are drawn over all bands."""
    bands: list[Shape] = []
    outlines: list[Shape] = []
    for curve in curves:
        if curve.low is not None and curve.high is not None:
            # Along the lower ends of the intervals, and back along the upper ones.
            corners = *map(place, curve.x, curve.low), *map(place, reversed(curve.x), reversed(curve.high))
            bands.append(Polygon(corners, Style(mix(WHITE, curve.colour, 0.13))))
            outlines.append(Polygon(corners, pale_line(curve)))
    return bands + outlines


def pale_line(curve: Curve) -> Style:
    """Return the style of the thin line of a curve's own values, and of the outline of its band."""
    return Style(stroke=mix(WHITE, curve.colour, 0.4), width=0.7)


def name_shapes(curves: Sequence[Curve], place: Place, box: Rect) -> list[Shape]:
    """Return the names at the ends of curves, in the curves' colours, moved up or down where they would overlap."""
    right, bottom = box.x + box.width + 4, box.y + box.height
    named = [curve for curve in curves if curve.name]
    # The heights of the curves' ends above the lower edge of the box, as shares of the box's height.
    ends = [(bottom - place(curve.x[-1], curve.y[-1])[1]) / box.height for curve in named]
    order = sorted(range(len(named)), key=ends.__getitem__)  # the lowest first, as `spread` needs it
    heights = spread([ends[i] for i in order], 1.1 * SMALL_FONT / box.height)
    return [
        Text(right, bottom - height * box.height, named[i].name, SMALL_FONT, named[i].colour, anchor="start")
        for i, height in zip(order, heights, strict=True)
    ]
