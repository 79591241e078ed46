"""The graph of a review: win rate and score by move, with the mistakes marked."""

from collections.abc import Sequence

from alphago.drawing.axes import SHARE
from alphago.drawing.curves import Curve, CurvePanel, Mark, curves_picture
from alphago.drawing.shapes import BLUE, ORANGE, WHITE, Drawing, Style
from alphago.mcts.analysis_result import Analysis

RADII = {"blunder": 5.0, "mistake": 3.8, "inaccuracy": 2.6}
PANEL = (900.0, 230.0)
X_LABEL = "move   (orange: mistakes, Black's filled circles, White's hollow squares; larger is worse)"


def draw_review(analysis: Analysis, faults: Sequence[tuple[int, int, str]], title: str) -> Drawing:
    """Return a graph of win rate and score of a game's positions.

    faults: (ply, colour, grade) of each mistake, which is marked at the position after it; colour +1 Black, -1 White;
        grade a key of RADII.
    """
    black = analysis.as_black()
    panels = [CurvePanel("Black wins", unit=SHARE, level=0.5, low=0.0, high=1.0, fills=True)]
    series = [black.root_win_rate]
    if black.has_scores:
        panels.append(CurvePanel("Black's lead", unit="points", level=0.0, fills=True))
        series.append(black.root_score)
    for i, values in enumerate(series):
        marks = [mark(ply + 1, float(values[ply + 1]), colour, grade) for ply, colour, grade in faults]
        curve = Curve(range(len(values)), values.tolist(), BLUE, is_exact=True)
        panels[i] = panels[i]._replace(curves=[curve], marks=marks)
    return curves_picture(panels, 1, X_LABEL, texts=[title], size=PANEL)


def mark(x: float, y: float, colour: int, grade: str) -> Mark:
    """Return the mark of a mistake; colour, grade: as in `draw_review`."""
    style = Style(ORANGE if colour == 1 else WHITE, ORANGE, 1.5)
    return Mark(x, y, RADII[grade], style, is_square=colour == -1)
