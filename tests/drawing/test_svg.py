"""SVG texts: well formed whatever a caption holds, small, and moving without scripts."""

from pathlib import Path

from alphago.drawing.shapes import Circle, Drawing, Polygon, Rect, Shape, Style, Text
from alphago.drawing.svg import animate, to_svg
from tests.drawing.reading import SPACE, root_of, shapes, texts, title

DOT = Style("#000000")


def drawing(*shapes: Shape, label: str = "a picture") -> Drawing:
    return Drawing(20, 10, ((Rect(0, 0, 20, 10, Style("#ffffff")),), shapes), label, 200)


def test_every_shape_is_an_element() -> None:
    line = Polygon(((0, 0), (1, 2.5)), Style(stroke="#ff0000", width=2), is_open=True)
    triangle, text = Polygon(((0, 0), (1, 1), (2, 0)), DOT), Text(5, 5, "five", 10, anchor="end", bold=True)
    svg = to_svg(drawing(Circle(1, 2, 3, DOT), line, triangle, text))
    (circle,), (line,), (triangle,) = shapes(svg, "circle"), shapes(svg, "polyline"), shapes(svg, "polygon")
    assert (circle.get("cx"), circle.get("cy"), circle.get("r"), circle.get("fill")) == ("1", "2", "3", "#000000")
    assert (line.get("points"), line.get("fill"), line.get("stroke-width")) == ("0,0 1,2.5", "none", "2")
    assert triangle.get("points") == "0,0 1,1 2,0"
    assert texts(svg) == ["five"]
    (text,) = shapes(svg, "text")
    assert (text.get("text-anchor"), text.get("font-weight")) == ("end", "600")


def test_any_caption_is_well_formed() -> None:
    """Also with control characters and lone surrogates, as names of files may have them."""
    text = "a < b & \"c\" 'd'"
    svg = to_svg(drawing(Text(1, 1, text, 5), label=text))
    assert (texts(svg), title(svg)) == ([text], text)
    for text in ("\x1b[31mred", "\x00", "a\udcffb", "\ufffe", "<script>&"):
        picture = to_svg(drawing(Text(1, 1, text, 5), label=text))
        (drawn,) = texts(picture)  # parses it
        assert len(drawn) == len(text)
        picture.encode()


def test_the_size_in_pixels() -> None:
    for size, width, height in ((None, "200", "100"), (50, "50", "25")):
        root = root_of(to_svg(drawing(), size))
        assert (root.get("width"), root.get("height"), root.get("viewBox")) == (width, height, "0 0 20 10")


def test_a_notebook_shows_it_and_a_file_keeps_it(tmp_path: Path) -> None:
    svg = to_svg(drawing())
    assert svg._repr_svg_() == svg
    assert repr(svg) == f"<an SVG picture of {len(svg):,} letters>"
    path = svg.save(tmp_path / "a.svg")
    assert root_of(path.read_text("utf-8")).tag == f"{SPACE}svg"


def test_a_moving_picture_writes_each_shape_once() -> None:
    """A shape stays, one comes and goes, one comes and stays."""
    stays, blinks, comes = (Circle(i, i, 1, DOT) for i in range(3))
    svg = animate([drawing(stays), drawing(stays, blinks), drawing(stays, comes)], 0.5, 3.0)
    moves = {circle.get("cx"): circle.find(f"{SPACE}animate") for circle in shapes(svg, "circle")}
    assert moves["0"] is None
    assert (moves["1"].get("values"), moves["1"].get("keyTimes")) == ("none;inline;none", "0;0.125;0.25")  # type: ignore[union-attr]
    assert (moves["2"].get("values"), moves["2"].get("keyTimes")) == ("none;inline", "0;0.25")  # type: ignore[union-attr]
    assert {move.get("dur") for move in moves.values() if move is not None} == {"4s"}
    assert "<script" not in svg
    assert " id=" not in svg  # several on one page would share it
