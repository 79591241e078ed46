"""Panels with the final boards of the newest match against each opponent."""

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from alphago.arena.match_pictures import result_for
from alphago.drawing.shapes import Circle, Drawing, Polygon, Rect, Shape, Text, sheet
from alphago.env.game import Position
from alphago.records.game_pictures import small_drawing
from alphago.training.history import History, Row, number, opponent_name
from alphago.training.runs.config import game_of, read_config
from alphago.training.watch.panels import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS, ROWS = 3, 2  # boards in a panel
UNIT = 72 / 96  # matplotlib's points per unit of a drawing, for line widths


def board_panels(history: History) -> Iterator[Panel]:
    """Yield for each opponent a panel with final boards of games of the run's newest match against it."""
    newest: dict[str, Row] = {opponent_name(row): row for row in history.evaluations if row.get("moves")}
    if not newest:
        return
    game = game_of(read_config(history.folder))
    env, longest = game.match_variant(), game.max_moves
    for name, row in newest.items():
        ends: dict[int, Position] = {}  # by the game's index
        for i, game in enumerate(row["moves"][: COLUMNS * ROWS]):
            with contextlib.suppress(ValueError):  # a damaged game costs its own board only
                ends[i] = env.position().after(game["moves"].split())
        captions = [
            f"{i + 1}: {result_for(end, row['moves'][i]['outcome'], i, end.is_over or len(end.moves) >= longest)}"
            for i, end in ends.items()
        ]
        if ends:
            picture = sheet([small_drawing(end) for end in ends.values()], captions, COLUMNS)
            title = f"Final boards, {name}, {number(row, 'games') or 0:,.0f} games"
            yield Panel(title, draw=partial(draw_drawing, drawing=picture))


def draw_drawing(axes: "Axes", drawing: Drawing) -> None:
    """Draw `drawing` so that it fills matplotlib's `axes`."""
    from matplotlib.collections import PatchCollection

    for layer in drawing.layers:
        if layer:
            axes.add_collection(PatchCollection([patch_of(shape) for shape in layer], match_original=True))
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    axes.set_aspect("equal")
    axes.axis("off")


def patch_of(shape: Shape) -> Any:
    """Convert a shape to a matplotlib patch; text becomes outlines, so that it scales with the drawing."""
    from matplotlib import patches

    if isinstance(shape, Text):
        return letters(shape)
    style: dict[str, Any] = {
        "facecolor": shape.style.fill,
        "edgecolor": shape.style.stroke,
        "linewidth": UNIT * shape.style.width if shape.style.stroke != "none" else 0.0,
    }
    if isinstance(shape, Circle):
        return patches.Circle((shape.x, shape.y), shape.radius, **style)
    if isinstance(shape, Rect):
        return patches.Rectangle((shape.x, shape.y), shape.width, shape.height, **style)
    assert isinstance(shape, Polygon)
    return patches.Polygon(shape.points, closed=not shape.is_open, **style)


def letters(text: Text) -> Any:
    """Convert a line of text to a matplotlib patch of its letters' outlines."""
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    path = TextPath((0, 0), text.text, size=text.size)
    wide = path.get_extents().width if text.text.strip() else 0.0
    left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    placed = Affine2D().scale(1, -1).translate(left, text.y + 0.35 * text.size)
    return PathPatch(path.transformed(placed), facecolor=text.fill, edgecolor="none", linewidth=0)
