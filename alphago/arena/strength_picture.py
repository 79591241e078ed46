"""A picture of strength against two settings, such as tower height and readouts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alphago.arena.match_result import MatchResult
from alphago.drawing.axes import SHARE
from alphago.drawing.curves import Curve, CurvePanel, curves_picture
from alphago.drawing.image import save_drawing
from alphago.drawing.shapes import SERIES
from alphago.drawing.svg import Svg, to_svg
from alphago.system.validation import checks_keywords, shown

SIZE = (420.0, 280.0)  # of a panel


@checks_keywords()
def plot_strength(
    results: Mapping[Any, Mapping[Any, MatchResult]],
    names: tuple[str, str] = ("tower height", "readouts"),
    out: str | Path | None = None,
) -> Svg:
    """Draw win rates with 95 % intervals against two settings, save the picture if `out` is given, return it as SVG.

    The left panel has a curve for each value of the first setting over the second one, the right panel the reverse.

    Args:
        results: what `evaluate` returned, by a value of each setting: {1: {0: …, 64: …}, 4: {0: …, 64: …}}.  The values
            stand at equal distances, in the order in which they are given.
        names: of the first and of the second setting.
        out: a file ending in .svg, .png or .pdf; the last two need Pillow.

    Raises:
        TypeError: for anything but results of `evaluate`.
    """
    try:
        cells = [(first, second, result) for first, row in results.items() for second, result in row.items()]
    except (AttributeError, TypeError):  # also of a class in place of a dictionary
        cells = []
    if not cells or not all(isinstance(result, MatchResult) for _, _, result in cells):
        example = "{4: {64: evaluate(…)}}"
        raise TypeError(f"results must be results of evaluate, such as {example}, got {shown(results)}")
    swapped = [(second, first, result) for first, second, result in cells]
    panels = [panel(cells, names[0], names[1]), panel(swapped, names[1], names[0])]
    picture = curves_picture(panels, columns=2, x_label="", size=SIZE)
    if out is not None:
        save_drawing(picture, out)
    return to_svg(picture)


def panel(cells: list[tuple[Any, Any, MatchResult]], curve_name: str, column_name: str) -> CurvePanel:
    """Return a panel with a curve for each value of one setting, drawn over the values of the other setting.

    Args:
        cells: for each result the values of the two settings: that of its curve, and that of its column.
        curve_name, column_name: the names of the settings.
    """
    columns = list(dict.fromkeys(column for _, column, _ in cells))  # from left to right
    curves = []
    for i, value in enumerate(dict.fromkeys(curve for curve, _, _ in cells)):
        results = {columns.index(column): result for curve, column, result in cells if curve == value}
        places = sorted(results)
        low, high = zip(*(results[place].interval for place in places), strict=True)
        rates = [results[place].win_rate for place in places]
        colour = SERIES[i % len(SERIES)]
        # The name begins with a blank, which keeps it off the curve's end.
        curves.append(Curve(places, rates, colour, name=f" {curve_name} {value}", low=low, high=high))
    labels = tuple(map(str, columns))
    return CurvePanel("Win rate", curves, unit=SHARE, level=0.5, low=0, high=1, x_label=column_name, x_names=labels)
