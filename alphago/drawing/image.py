"""Drawings painted with Pillow: one as an image or a file, or several as a GIF that shows them in turn."""

import base64
import io
import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle, pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alphago.drawing.shapes import Circle, Drawing, Rect, Shape, Text, flat, move
from alphago.drawing.svg import to_svg
from alphago.system.files import user_path, write_named
from alphago.system.optional import optional_import

if TYPE_CHECKING:
    from PIL.Image import Image

FINER = 3  # an image is painted so many times as large and then reduced, for smooth edges
COLOURS = 64  # number of colours of a GIF
FORMATS = (".svg", ".png", ".pdf")  # suffixes of files that `save_drawing` writes
SHARPER = 1.5  # pixels for each pixel of a drawing's usual width in saved files, so that small letters are readable

PILLOW_IS_MISSING = "pictures in pixels are painted with Pillow, which is missing: pip install 'alphago[plot]'"

Points = Sequence[tuple[float, float]]


class Gif(bytes):
    """The bytes of a GIF, which a notebook shows as a moving picture."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<a GIF of {len(self):,} bytes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the picture by its media types, as IPython shows it; the parameters are IPython's, and not used."""
        return {"image/gif": base64.b64encode(self).decode(), "text/plain": repr(self)}

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file atomically and return its path; raise OSError, with a sentence, if that fails."""
        return write_named(path, bytes(self))


def to_gif(frames: Sequence[Drawing], seconds: float, last_seconds: float, size: float | None = None) -> Gif:
    """Return drawings of the same size as one picture that shows them in turn, again and again.

    Args:
        seconds: how long each frame but the last stays.
        last_seconds: how long the last frame stays.
        size: the width in pixels; None for the usual width.

    Raises:
        ImportError: with a sentence, if Pillow is missing.
    """
    # For all frames: the last one, with the most on it, has nearly all colours.  Raises ImportError without Pillow.
    palette = to_image(frames[-1], size).quantize(COLOURS)
    from PIL import Image

    pictures = [to_image(frame, size).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 * seconds)] * (len(pictures) - 1) + [round(1000 * last_seconds)]
    data = io.BytesIO()
    # loop 0: shown again and again; disposal 1: a frame stays until the next one is drawn over it.
    pictures[0].save(
        data, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=False, disposal=1
    )
    return Gif(data.getvalue())


def check_format(path: Path) -> None:
    """Raise ValueError if `save_drawing` writes no files of this suffix, FileNotFoundError if the folder is missing.

    Args:
        path: a picture's file.  The message calls it `out`, as the function `alphago.plot` does.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"out must end in one of {', '.join(FORMATS)}, got {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")


def save_drawing(drawing: Drawing, path: str | Path) -> Path:
    """Write a drawing atomically to a file in the format of its suffix, and return the file's path.

    A file .svg has shapes and letters.  Files .png and .pdf have pixels, for which Pillow must be installed.

    Raises:
        ValueError, FileNotFoundError: see `check_format`.
        ImportError: with a sentence, if Pillow is missing.
    """
    path = user_path(path)
    check_format(path)
    if path.suffix.lower() == ".svg":
        return to_svg(drawing).save(path)
    data = io.BytesIO()
    to_image(drawing, SHARPER * drawing.shown).save(data, path.suffix.lower().removeprefix(".").upper())
    return write_named(path, data.getvalue())


def to_image(drawing: Drawing, size: float | None = None) -> "Image":
    """Return a drawing as an image of Pillow, `size` pixels wide (None: as wide as it is usually shown).

    Raises:
        ImportError: with a sentence, if Pillow is missing.
    """
    Image, ImageDraw = (optional_import(f"PIL.{name}", PILLOW_IS_MISSING) for name in ("Image", "ImageDraw"))
    wide = round(drawing.shown if size is None else size)
    high = round(wide * drawing.height / drawing.width)
    large = Image.new("RGB", (wide * FINER, high * FINER), "#ffffff")
    brush = ImageDraw.Draw(large)
    for shape in flat(drawing.layers):
        paint(brush, move(shape, 0, 0, wide * FINER / drawing.width))
    return large.resize((wide, high), Image.Resampling.LANCZOS)


def paint(brush: Any, shape: Shape) -> None:
    """Paint a shape, whose units are pixels, with `brush`, an `ImageDraw` of Pillow."""
    if isinstance(shape, Text):
        from PIL import ImageFont

        font = ImageFont.load_default(max(1.0, shape.size))  # Pillow refuses a size of 0
        anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]  # Pillow's: left, middle or right, middle
        brush.text((shape.x, shape.y), shape.text, fill=shape.fill, font=font, anchor=anchor)
        return
    fill, stroke = (None if colour == "none" else colour for colour in (shape.style.fill, shape.style.stroke))
    width = max(1, round(shape.style.width)) if stroke else 0
    half = width / 2  # Pillow draws outlines inside, SVG around the edge
    if isinstance(shape, Circle):
        x, y, reach = shape.x, shape.y, shape.radius + half
        brush.ellipse((x - reach, y - reach, x + reach, y + reach), fill=fill, outline=stroke, width=width)
    elif isinstance(shape, Rect):
        corners = (shape.x - half, shape.y - half, shape.x + shape.width + half, shape.y + shape.height + half)
        brush.rounded_rectangle(corners, shape.corner, fill=fill, outline=stroke, width=width)
    elif not shape.is_open:
        brush.polygon(shape.points, fill=fill, outline=stroke, width=width)
    elif stroke:  # a line
        for part in dashes(shape.points, shape.style.dash):
            brush.line(part, fill=stroke, width=width, joint="curve")


def dashes(points: Points, lengths: Sequence[float]) -> Iterator[Points]:
    """Yield the dashes of a line through points.

    Args:
        lengths: the length of a dash, of the gap after it, of the next dash, and so on, repeated; () for a solid line.
    """
    if not lengths:
        yield points
        return
    # The distance of each point from the begin of the line, along the line.
    along = np.cumsum([0.0, *(math.dist(begin, end) for begin, end in pairwise(points))])

    def at(distance: float) -> tuple[float, float]:
        """Return the point of the line at a distance from its begin."""
        x, y = (float(np.interp(distance, along, values)) for values in zip(*points, strict=True))
        return x, y

    ends = takewhile(lambda end: end < along[-1], accumulate(cycle(lengths)))  # of dashes and gaps in turn
    # The begin and the end of each dash; gaps lie between these pairs.  If the line ends in a gap, its end has no pair.
    bounds = [0.0, *ends, float(along[-1])]
    for begin, end in zip(bounds[::2], bounds[1::2], strict=False):
        inner = [point for point, distance in zip(points, along, strict=True) if begin < distance < end]
        yield [at(begin), *inner, at(end)]
