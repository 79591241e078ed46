"""Drawings painted with Pillow, one as an image or several as a GIF that shows them in turn."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphago.drawing.shapes import Circle, Drawing, Rect, Shape, Text
from alphago.system.files import explain_os_error, write_atomic

if TYPE_CHECKING:
    from PIL.Image import Image

FINER = 3  # times as many pixels while painting, for smooth edges
COLOURS = 64  # of a GIF


class Gif(bytes):
    """The bytes of a GIF, which a notebook shows as a moving picture."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<a GIF of {len(self):,} bytes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/gif": base64.b64encode(self).decode(), "text/plain": repr(self)}

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file atomically and return its path; raise OSError, with a sentence, if that fails."""
        path = Path(path)
        with explain_os_error(f"{path} cannot be written"):
            write_atomic(path, bytes(self))
        return path


def to_gif(frames: Sequence[Drawing], seconds: float, last: float, size: float | None = None) -> Gif:
    """Return drawings of the same size as one picture that shows them in turn, again and again.

    seconds: how long each frame but the last stays. last: how long the last frame stays.
    size: the width in pixels; None for the usual one.
    Raises ModuleNotFoundError, with a sentence, if Pillow is missing.
    """
    palette = to_image(frames[-1], size).quantize(COLOURS)  # raises without Pillow
    from PIL import Image

    pictures = [to_image(frame, size).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 * seconds)] * (len(pictures) - 1) + [round(1000 * last)]
    data = io.BytesIO()
    pictures[0].save(
        data, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=False, disposal=1
    )
    return Gif(data.getvalue())


def to_image(drawing: Drawing, size: float | None = None) -> "Image":
    """Return a drawing as an image of Pillow, `size` pixels wide (None: as wide as it is usually shown).

    Raises ModuleNotFoundError, with a sentence, if Pillow is missing.
    """
    try:
        from PIL import Image, ImageDraw
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures in pixels are painted with Pillow, which is missing: pip install 'alphago[plot]'"
        ) from error
    wide = round(drawing.shown if size is None else size)
    high = round(wide * drawing.height / drawing.width)
    large = Image.new("RGB", (wide * FINER, high * FINER), "#ffffff")
    brush = ImageDraw.Draw(large)
    for layer in drawing.layers:
        for shape in layer:
            paint(brush, shape, wide * FINER / drawing.width)
    return large.resize((wide, high), Image.Resampling.LANCZOS)


def paint(brush: Any, shape: Shape, scale: float) -> None:
    """Paint a shape with `brush`, an `ImageDraw` of Pillow; `scale`: pixels for each unit of the drawing."""
    if isinstance(shape, Text):
        from PIL import ImageFont

        font = ImageFont.load_default(max(1.0, shape.size * scale))
        anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]
        brush.text((shape.x * scale, shape.y * scale), shape.text, fill=shape.fill, font=font, anchor=anchor)
        return
    fill, stroke = (None if colour == "none" else colour for colour in shape.style[:2])
    width = max(1, round(shape.style.width * scale)) if stroke else 0
    half = width / 2  # Pillow draws outlines inside, SVG around the edge
    if isinstance(shape, Circle):
        reach = shape.radius * scale + half
        x, y = shape.x * scale, shape.y * scale
        brush.ellipse((x - reach, y - reach, x + reach, y + reach), fill=fill, outline=stroke, width=width)
    elif isinstance(shape, Rect):
        x, y = shape.x * scale, shape.y * scale
        corners = (x - half, y - half, x + shape.width * scale + half, y + shape.height * scale + half)
        brush.rounded_rectangle(corners, shape.corner * scale, fill=fill, outline=stroke, width=width)
    else:
        points = [(x * scale, y * scale) for x, y in shape.points]
        if not shape.is_open:
            brush.polygon(points, fill=fill, outline=stroke, width=max(width, 1))
        elif stroke:
            brush.line(points, fill=stroke, width=width)
