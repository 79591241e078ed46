"""Diagrams: what is drawn of a curve, names at the ends, legends, and that nothing overlaps or lies outside."""

from itertools import combinations

import pytest

from alphago.drawing.axes import SHARE
from alphago.drawing.curves import DASHES, LEVEL, MOST_POINTS, Curve, CurvePanel, Mark, curves_picture, panel_drawing
from alphago.drawing.shapes import LETTER, Circle, Drawing, Polygon, Rect, Style, Text, flat
from alphago.drawing.svg import to_svg
from tests.drawing.reading import shapes, texts

RED, GREEN = "#aa0000", "#00aa00"


def lines_of(drawing: Drawing, colour: str, width: float = 1.5) -> list[Polygon]:
    """The lines of a colour and a width: curves by default."""
    found = [shape for shape in flat(drawing.layers) if isinstance(shape, Polygon) and shape.is_open]
    return [line for line in found if line.style.stroke == colour and line.style.width == width]


def test_a_curve_is_named_at_its_end() -> None:
    curves = [Curve([0, 1, 2], [3, 2, 1], RED, name="a"), Curve([0, 2], [1, 1.05], GREEN, name="b"), Curve([2], [2])]
    svg = to_svg(curves_picture([CurvePanel("Loss", curves)], 3, "games", texts=["a run"]))
    assert {"a", "b", "Loss", "a run", "games", "0", "2"} <= set(texts(svg))
    assert [len(shapes(svg, "circle", fill=colour)) for colour in (RED, GREEN, Curve([], []).colour)] == [3, 2, 1]
    heights = {text.text: float(text.get("y") or 0) for text in shapes(svg, "text")}
    assert abs(heights["a"] - heights["b"]) > 8  # both end at the same height


def test_a_point_is_where_its_numbers_say() -> None:
    """On a panel from 0 to 1: the first point at the left end below, the last at the right end above."""
    panel = CurvePanel("Rate", [Curve([0, 5, 10], [0, 0.6, 1], RED)], SHARE, low=0.0, high=1.0)
    drawing = panel_drawing(panel, "games")
    ((begin, middle, end),) = [line.points for line in lines_of(drawing, RED)]
    assert middle[0] == pytest.approx((begin[0] + end[0]) / 2)
    numbers = {shape.text: shape for shape in flat(drawing.layers) if isinstance(shape, Text)}
    assert (numbers["0%"].y, numbers["60%"].y, numbers["100%"].y) == pytest.approx((begin[1], middle[1], end[1]))
    assert (numbers["0"].x, numbers["10"].x) == pytest.approx((begin[0], end[0]))


def test_dots_that_would_touch_are_left_out() -> None:
    near, far = Curve([0, 0.1, 0.2], [1, 2, 1], RED), Curve([0, 5, 10], [3, 3, 3], GREEN)
    svg = to_svg(panel_drawing(CurvePanel("Loss", [near, far]), "games"))
    assert [len(shapes(svg, "circle", fill=colour)) for colour in (RED, GREEN)] == [0, 3]


def test_intervals_are_a_band() -> None:
    drawing = panel_drawing(CurvePanel("Rate", [Curve([1, 2], [0.4, 0.6], RED, low=[0.2, 0.5], high=[0.7, 0.6])]), "")
    band, outline = [shape for shape in flat(drawing.layers) if isinstance(shape, Polygon) and not shape.is_open]
    curve = lines_of(drawing, RED)[0].points
    low, high = band.points[:2], band.points[:1:-1]
    assert [x for x, _ in low] == [x for x, _ in high] == [x for x, _ in curve]
    assert all(below >= y >= above for (_, below), (_, y), (_, above) in zip(low, curve, high, strict=True))
    assert outline.points == band.points


def test_long_curves_are_smoothed_and_thinned() -> None:
    values = [3.0 + i % 2 for i in range(1000)]
    drawing = panel_drawing(CurvePanel("Loss", [Curve(range(1000), values, RED)]), "")
    (mean,) = lines_of(drawing, RED)
    raw = [shape for shape in flat(drawing.layers) if isinstance(shape, Polygon) and len(shape.points) == MOST_POINTS]
    assert len(raw) == 2
    heights = [y for _, y in mean.points[5:-5]]
    assert max(heights) - min(heights) < 0.05 * drawing.height
    exact = panel_drawing(CurvePanel("Loss", [Curve(range(1000), values, RED, is_exact=True)]), "")
    assert len(lines_of(exact, RED)[0].points) == 1000


def test_kinds_of_curves_have_a_legend_and_a_single_kind_is_in_the_title() -> None:
    one = CurvePanel("Loss", [Curve([1], [1], RED, "-", "old"), Curve([1], [2], GREEN, "-", "old")], "nats")
    two = one._replace(curves=[*one.curves, Curve([1, 2], [3, 4], RED, "--", "new")])
    svg = to_svg(panel_drawing(two, ""))
    assert {"Loss [nats]", "old", "new"} <= set(texts(svg))
    told = texts(to_svg(panel_drawing(one, "")))
    assert ("Loss: old [nats]" in told, "old" in told) == (True, False)
    dashed = shapes(svg, "polyline", stroke_dasharray=" ".join(map(str, DASHES["--"])))
    assert len(dashed) == 2  # the curve, and its sample in the legend


def test_levels_marks_grounds_and_pictures() -> None:
    marks = [Mark(1, 0.5, Circle(0, 0, 4, Style(RED))), Mark(2, 0.5, Rect(-4, -4, 8, 8, Style(RED)))]
    panel = CurvePanel("Lead", [Curve([0, 3], [-1, 1])], level=0.5, marks=marks, fills=True)
    drawn = flat(panel_drawing(panel, "").layers)
    (circle,) = [shape for shape in drawn if isinstance(shape, Circle) and shape.style.fill == RED]
    (square,) = [shape for shape in drawn if isinstance(shape, Rect) and shape.style.fill == RED]
    (level,) = [shape for shape in drawn if isinstance(shape, Polygon) and shape.style.stroke == LEVEL]
    assert circle.y == square.y + 4 == level.points[0][1] == level.points[1][1]
    assert len([shape for shape in drawn if isinstance(shape, Polygon) and not shape.is_open]) == 1
    inner = Drawing(10, 10, ((Circle(5, 5, 5, Style(GREEN)),),), "a ball", 10)
    outer = panel_drawing(CurvePanel("Ball", picture=inner), "")
    (ball,) = [shape for shape in flat(outer.layers) if isinstance(shape, Circle)]
    assert ball.x == outer.width / 2
    assert 0.3 * outer.height < ball.radius < 0.5 * outer.height


def test_nothing_overlaps() -> None:
    """Titles, numbers and names keep apart and inside, with long names and large numbers too."""
    name = "…21124/weights/games-0010000@64"
    names, at = ((RED, name), (GREEN, "gnugo:10")), [90_000 * k for k in range(1, 11)]
    panels = []
    for i in range(6):
        drawn = [Curve(at, [56_789 + i + k for k in range(10)], colour, name=text) for colour, text in names]
        panels.append(CurvePanel(f"Win rate by something {'long ' * i}", drawn, "moves/s"))
    key = [(f"a-run-of-some-length-{i}", RED) for i in range(12)]
    drawing = curves_picture(panels, 3, "positions of self-play", key=key, texts=["a line of text"])
    boxes = [box_of(shape) for shape in flat(drawing.layers) if isinstance(shape, Text)]
    for (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) in combinations(boxes, 2):
        assert right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
    for left, top, right, bottom in boxes:
        assert min(left, top) >= 0
        assert right <= drawing.width
        assert bottom <= drawing.height


def box_of(text: Text) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text of letters of average width."""
    wide = LETTER * text.size * len(text.text)
    left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    return left, text.y - 0.4 * text.size, left + wide, text.y + 0.4 * text.size
