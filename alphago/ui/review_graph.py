"""The graph of a review: win rate and score by move, with the mistakes marked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from alphago.drawing.figures import new_figure, plain_texts
from alphago.mcts.analysis_result import Analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#666666"  # distinct for colour-blind eyes (Okabe and Ito 2008)
SIZES = {"blunder": 70, "mistake": 40, "inaccuracy": 18}


def draw_review(analysis: Analysis, faults: Sequence[tuple[int, int, str]], title: str) -> "Figure":
    """Return a graph of win rate and score of a game's positions; raise ImportError if matplotlib is missing.

    faults: (ply, colour, grade) of each mistake; colour +1 Black, -1 White; grade a key of SIZES.
    """
    black = analysis.as_black()
    panels = 2 if black.has_scores else 1
    figure = new_figure(figsize=(10, 2.6 * panels + 0.6))
    with plain_texts():
        draw_panels(figure, black, faults, title)
    return figure


def draw_panels(figure: "Figure", black: "Analysis", faults: Sequence[tuple[int, int, str]], title: str) -> None:
    """Draw the panels of win rate and, in games with a score, of the lead; the arguments are those of `draw_review`.

    black: the analysis in Black's view.
    """
    plies = np.arange(len(black))
    panels = 2 if black.has_scores else 1
    axes = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    figure.suptitle(title, fontsize=11)
    series = [("Black wins", 100 * black.root_win_rate, 50.0, "%")]
    if black.has_scores:
        series.append(("Black's lead", black.root_score, 0.0, "points"))
    for panel, (title, values, middle, unit) in zip(axes, series, strict=True):
        panel.axhline(middle, color=GREY, linewidth=0.8)
        panel.plot(plies, values, color=BLUE, linewidth=1.6)
        panel.fill_between(plies, middle, values, color=BLUE, alpha=0.12)
        for ply, colour, grade in faults:
            marker, face = ("o", ORANGE) if colour == 1 else ("s", "white")
            panel.scatter(
                ply + 1, values[ply + 1], s=SIZES[grade], marker=marker, facecolor=face,
                edgecolor=ORANGE, zorder=3,
            )  # fmt: skip
        panel.set_ylabel(f"{title} ({unit})")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(0, 100)
    axes[-1].set_xlabel("move   (orange: mistakes, Black's filled, White's hollow; larger is worse)")
