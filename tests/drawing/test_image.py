"""Pictures in pixels: the same shapes, painted; and GIFs that move."""

import io

import pytest

from alphago.drawing.image import to_gif, to_image
from alphago.drawing.shapes import Circle, Drawing, Polygon, Rect, Shape, Style, Text

pytest.importorskip("PIL", reason="Pillow is not installed")


def drawing(*shapes: Shape) -> Drawing:
    return Drawing(40, 20, ((Rect(0, 0, 40, 20, Style("#ffffff")),), shapes), "", 40)


def test_shapes_are_where_they_belong() -> None:
    line = Polygon(((30, 0), (30, 20)), Style(stroke="#0000ff", width=2), is_open=True)
    image = to_image(drawing(Circle(10, 10, 5, Style("#ff0000")), Rect(20, 5, 6, 6, Style("#00ff00")), line))
    assert image.size == (40, 20)
    assert [image.getpixel(point) for point in ((10, 10), (23, 8), (30, 10))] == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    assert [image.getpixel(point) for point in ((1, 1), (10, 18))] == [(255, 255, 255)] * 2


def test_text_is_painted() -> None:
    assert to_image(drawing(Text(20, 10, "8", 16, "#000000"))).convert("L").getextrema()[0] < 100


def test_a_gif_has_every_frame_and_stays_at_the_end() -> None:
    from PIL import Image

    frames = [drawing(Circle(5 + 10 * i, 10, 4, Style("#000000"))) for i in range(3)]
    gif = to_gif(frames, 0.5, 2.0, size=80)
    image = Image.open(io.BytesIO(gif))
    assert (image.n_frames, image.size) == (3, (80, 40))  # type: ignore[attr-defined]
    durations = []
    for i in range(3):
        image.seek(i)
        durations.append(image.info["duration"])
        assert image.convert("L").getpixel((10 + 20 * i, 20)) < 60  # type: ignore[operator]
    assert durations == [500, 500, 2000]
    assert gif._repr_mimebundle_()["image/gif"].startswith("R0lGOD")
