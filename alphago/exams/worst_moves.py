"""Pictures of the worst moves of an exam: the best move, the move played, and what it costs."""

from collections.abc import Sequence

import numpy as np

from alphago.drawing.overlay import Overlay
from alphago.drawing.shapes import sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.env.game import PLAYER_NAMES
from alphago.env.pictured import Look
from alphago.exams.positions import Exam

COLUMNS = 5


def worst_sheet(exam: Exam, rows: Sequence[int], actions: Sequence[int], kinds: Sequence[str], *, title: str) -> Svg:
    """Return a picture of positions of an exam, each with the judge's best move and the move that a player chose.

    On the discs stands the win rate of the side to move, as the judge sees it; the best move has a ring.

    rows: the indices of the positions.  actions, kinds: the player's move in each of them, and the position's kind.
    title: the text above.
    """
    both = list(zip(rows, actions, strict=True))
    drawings = [exam.boards[i].drawing(Look(caption="", overlay=overlay_of(exam, i, a), legend=False)) for i, a in both]
    captions = [f"{caption_of(exam, i, a)}; {kind}" for (i, a), kind in zip(both, kinds, strict=True)]
    return to_svg(sheet(drawings, captions, COLUMNS, title=f"{title}; ringed: the best move"))


def overlay_of(exam: Exam, row: int, action: int) -> Overlay:
    """Return the discs of the best move and of `action` in a position of an exam."""
    judged, mover = exam.positions[row], exam.boards[row].to_play
    rate = judged.black_win if mover > 0 else 1 - judged.black_win
    q = np.full(len(judged.rates), np.nan)
    weights = np.zeros(len(judged.rates))
    for move, weight in ((action, 0.3), (judged.best, 1.0)):
        q[move] = 2 * np.clip(rate - judged.rates[move], 0, 1) - 1
        weights[move] = weight
    return Overlay(q=q, priors=weights, show="q")


def caption_of(exam: Exam, row: int, action: int) -> str:
    """Return a sentence on a move: who plays it after how many moves, what it loses, and which move is best."""
    judged, board = exam.positions[row], exam.boards[row]
    return (
        f"{row + 1}. {PLAYER_NAMES[board.to_play]} {exam.env.to_text(action)} after {len(judged.moves)} moves loses "
        f"{judged.points[action]:.1f} points, {judged.rates[action]:.0%}; best {exam.env.to_text(judged.best)}"
    )
