"""Shapes: moved and scaled as they look, colours that stay readable, sheets in rows."""

import pytest

from alphago.drawing.shapes import (
    BLACK,
    WHITE,
    Circle,
    Drawing,
    Polygon,
    Rect,
    Style,
    Text,
    arrow,
    ink_on,
    mix,
    move,
    paragraph,
    sheet,
)

LINE = Style("none", "#000000", 2.0)


def drawing(width: float, height: float) -> Drawing:
    return Drawing(width, height, ((Rect(0, 0, width, height, Style("#123456")),), (Circle(1, 1, 1, LINE),)), "x", 99)


def test_every_shape_moves_and_grows() -> None:
    half = LINE._replace(width=1.0)
    assert move(Circle(4, 6, 2, LINE), 10, 20, 0.5) == Circle(12, 23, 1, half)
    assert move(Rect(4, 6, 2, 8, LINE, 4), 10, 20, 0.5) == Rect(12, 23, 1, 4, half, 2)
    assert move(Text(4, 6, "a", 10), 10, 20, 0.5) == Text(12, 23, "a", 5)
    assert move(Polygon(((0, 0), (4, 6)), LINE), 10, 20, 0.5) == Polygon(((10, 20), (12, 23)), half)


def test_an_arrow_ends_at_its_head() -> None:
    line, head = arrow(0, 0, 100, 0, LINE, head=10)
    assert line.points == ((0, 0), (90, 0))  # type: ignore[union-attr]
    assert head.points[0] == (100, 0)  # type: ignore[union-attr]


def test_colours_between_two() -> None:
    for share, colour in ((-1, "#000000"), (0, "#000000"), (0.5, "#804020"), (1, "#ff8040"), (2, "#ff8040")):
        assert mix("#000000", "#ff8040", share) == colour


@pytest.mark.parametrize(("ground", "ink"), [(WHITE, BLACK), (BLACK, WHITE), ("#d9e9f6", BLACK), ("#0b5394", WHITE)])
def test_ink_is_readable_on_every_ground(ground: str, ink: str) -> None:
    assert ink_on(ground) == ink


def test_long_texts_get_lines() -> None:
    lines = paragraph("one two three four five six seven eight", 50, 10, width=100, size=12)
    assert " ".join(line.text for line in lines) == "one two three four five six seven eight"
    assert len(lines) > 1
    assert [line.y for line in lines] == sorted(line.y for line in lines)


def test_a_sheet_has_its_drawings_in_rows() -> None:
    page = sheet([drawing(100, 100), drawing(50, 100), drawing(100, 100)], ["a", "b", "c"], 2, title="three of them")
    boxes = [shape for shape in page.layers[2] if isinstance(shape, Rect)]
    assert len({box.x for box in boxes}) == 2
    assert [box.y == boxes[0].y for box in boxes] == [True, True, False]
    assert [shape.text for shape in page.layers[2] if isinstance(shape, Text)] == ["a", "b", "c"]
    for box in boxes:
        assert 0 <= box.x < box.x + box.width <= page.width
        assert 0 <= box.y < box.y + box.height <= page.height
    assert boxes[2].y > boxes[1].y + boxes[1].height  # the taller of the first row does not reach into the second
