"""`Teacher`: tells a person which of his moves lose much and why, and after the game which moves decided it."""

from collections.abc import Sequence

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analyst import Analyst
from alphago.ui.review import POINTS_OF_A_GAME, MoveReview, review_move
from alphago.ui.why.explain import Explanation, explain_moves

READOUTS = 100  # simulations for a position
MOST_MOVES = 3  # most moves that a summary lists
LEAST_LOSS = 1.0  # points: moves that lose less are not in a summary


class Teacher:
    """Looks over a person's moves.

    Args:
        analyst: searches the positions.
        points: a move that loses more points is explained.  If the network forecasts no points, a loss of 5 % of the
            win rate counts as one point.
        readouts: simulations for a position.
    """

    def __init__(self, analyst: Analyst, points: float, readouts: int = READOUTS) -> None:
        self.analyst, self.points, self.readouts = analyst, points, readouts

    def lesson(self, position: Position, action: int) -> Explanation | None:
        """Return why a move is bad; None for a good move.

        A move is good if it loses at most `points` by a first search, or is no mistake by the deeper search after it.
        """
        [move] = self._reviews([position, position.play(action)])
        if points_lost(move) <= self.points:
            return None
        [explanation] = explain_moves([(position, action)], self.analyst, self.readouts, least=self.points)
        return explanation if explanation.loss.is_mistake else None

    def summary(self, position: Position) -> str:
        """Return sentences about the moves that lost most in the game that led to a position."""
        moves = [move for move in self._reviews(position.positions_to_move()) if points_lost(move) >= LEAST_LOSS]
        if not moves:
            return f"No move lost more than {LEAST_LOSS:g} points."
        worst = sorted(moves, key=points_lost)[-MOST_MOVES:]
        in_order = sorted(worst, key=lambda move: move.ply)  # as they were played
        return "\n".join(["The moves that turned the game:", *(sentence(position.env, move) for move in in_order)])

    def _reviews(self, positions: Sequence[Position]) -> list[MoveReview]:
        """Return the review of each move between two successive positions; in the first one its player is to move."""
        analysis = self.analyst.analyze(positions, self.readouts, beside=len(positions))  # all at the same time
        return [review_move(analysis, ply, after.moves[-1]) for ply, after in enumerate(positions[1:])]


def sentence(env: GameEnv, move: MoveReview) -> str:
    """Return a line about a move: its number, what it lost, and the better move."""
    side, played, best = env.board_view.side(move.colour), env.to_text(move.action), env.to_text(move.best)
    return f"  move {move.ply + 1}, {side} {played}: lost {move.cost_text}; better {best}"


def points_lost(move: MoveReview) -> float:
    """Return how many points a move lost.  If that is unknown, its loss of win rate is converted to points."""
    return POINTS_OF_A_GAME * move.rate_loss if np.isnan(move.point_loss) else move.point_loss
