"""Drawings as SVG: still ones, and animated ones that need neither scripts nor identifiers."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from alphago.drawing.shapes import Circle, Drawing, Polygon, Rect, Shape, Style, Text, flat
from alphago.system.files import write_named

FONT = "system-ui, 'Helvetica Neue', Arial, sans-serif"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MIDDLE_TO_BASE = 0.35  # distance from the middle of a line of text down to its base, as a share of the letters' size


class Svg(str):
    """The text of an SVG picture, which a notebook shows as that picture."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<an SVG picture of {len(self):,} letters>"

    def _repr_svg_(self) -> str:
        """Return the picture as IPython shows it; without this method it would show the `repr`."""
        return str(self)

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file atomically and return its path; raise OSError, with a sentence, if that fails."""
        return write_named(path, (self + "\n").encode())


def to_svg(drawing: Drawing, size: float | None = None, *, shrinks: bool = True) -> Svg:
    """Return a drawing as SVG, `size` pixels wide (None: as wide as it is usually shown).

    Args:
        shrinks: whether the picture becomes smaller where a page has less room for it.
    """
    return document(drawing, size, [element(shape) for shape in flat(drawing.layers)], shrinks)


def animate(frames: Sequence[Drawing], seconds: float, last_seconds: float, size: float | None = None) -> Svg:
    """Return drawings of the same size as one picture that shows them in turn, again and again.

    A shape that occurs in several frames is written once, with the times at which it appears.

    Args:
        seconds: how long each frame but the last stays.
        last_seconds: how long the last frame stays.
        size: the width in pixels; None for the usual width.
    """
    total = seconds * (len(frames) - 1) + last_seconds
    times = [seconds * i / total for i in range(len(frames))]
    parts = []
    for depth in range(max(len(frame.layers) for frame in frames)):
        shown: dict[Shape, list[bool]] = {}  # by shape, in the order of first appearance: whether each frame has it
        for i, frame in enumerate(frames):
            for shape in frame.layers[depth] if depth < len(frame.layers) else ():
                shown.setdefault(shape, [False] * len(frames))[i] = True
        parts += [element(shape, blink(flags, times, total)) for shape, flags in shown.items()]
    return document(frames[-1], size, parts)


def blink(shown: Sequence[bool], times: Sequence[float], total: float) -> str:
    """Return an SVG element that shows its parent only in the frames where `shown` is True; "" if all are True.

    Args:
        times: when each frame begins, as a share (0 .. 1) of the total.
        total: seconds of all frames together.
    """
    if all(shown):
        return ""
    changes = [i for i in range(len(shown)) if i == 0 or shown[i] != shown[i - 1]]
    keys = ";".join(f"{times[i]:.4f}".rstrip("0").rstrip(".") for i in changes)
    values = ";".join("inline" if shown[i] else "none" for i in changes)
    timing = f'dur="{number(total)}s" repeatCount="indefinite" calcMode="discrete"'
    return f'<animate attributeName="display" values="{values}" keyTimes="{keys}" {timing}/>'


def document(drawing: Drawing, size: float | None, parts: Sequence[str], shrinks: bool = True) -> Svg:
    """Return SVG elements, `parts`, as a whole document, with the size and the label of a drawing; see `to_svg`."""
    wide = drawing.shown if size is None else size
    high = wide * drawing.height / drawing.width
    box = f'viewBox="0 0 {number(drawing.width)} {number(drawing.height)}" width="{number(wide)}"'
    style = 'style="max-width:100%;height:auto" ' if shrinks else ""
    size_and_role = f'{box} height="{number(high)}" {style}role="img"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size_and_role} font-family="{FONT}">'
    return Svg("\n".join([head, f"<title>{xml_text(drawing.label)}</title>", *parts, "</svg>"]))


def xml_text(text: str) -> str:
    """Return a text for an element of XML, in which most control characters are not allowed."""
    return escape(NOT_XML.sub("\ufffd", text), quote=False)


def element(shape: Shape, inside: str = "") -> str:
    """Return a shape as an SVG element; inside: SVG text to put into the element, such as an animation."""
    if isinstance(shape, Text):
        bold = ' font-weight="600"' if shape.bold else ""
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        place = length_attributes({"x": shape.x, "y": shape.y + MIDDLE_TO_BASE * shape.size, "font-size": shape.size})
        return f'<text {place} fill="{shape.fill}"{anchor}{bold}>{xml_text(shape.text)}{inside}</text>'
    if isinstance(shape, Circle):
        name, form = "circle", length_attributes({"cx": shape.x, "cy": shape.y, "r": shape.radius})
    elif isinstance(shape, Rect):
        corner = {"rx": shape.corner} if shape.corner else {}
        sides = {"width": shape.width, "height": shape.height}
        name, form = "rect", length_attributes({"x": shape.x, "y": shape.y, **sides, **corner})
    else:
        assert isinstance(shape, Polygon)
        name = "polyline" if shape.is_open else "polygon"
        form = f'points="{" ".join(f"{number(x)},{number(y)}" for x, y in shape.points)}"'
    return f"<{name} {form} {style_attributes(shape.style)}" + (f">{inside}</{name}>" if inside else "/>")


def length_attributes(values: Mapping[str, float]) -> str:
    """Return lengths, by the names of their attributes, as SVG attributes such as `x="3" y="4.5"`."""
    return " ".join(f'{name}="{number(value)}"' for name, value in values.items())


def style_attributes(style: Style) -> str:
    """Return a style as SVG attributes such as `fill="#ffffff" stroke="#333333" stroke-width="1.4"`."""
    stroke = "" if style.stroke == "none" else f' stroke="{style.stroke}" stroke-width="{number(style.width)}"'
    dash = f' stroke-dasharray="{" ".join(map(number, style.dash))}"' if style.dash else ""
    return f'fill="{style.fill}"{stroke}{dash}'


def number(value: float) -> str:
    """Return a number as text, with at most two decimals and without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
