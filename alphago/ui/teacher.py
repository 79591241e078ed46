"""`Teacher`: tells which moves of a person lose much, why, and at a game's end which moves turned it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.position import Position
from alphago.mcts.analysis import analyze
from alphago.system.validation import check_positive
from alphago.ui.review import MoveReview, review_move
from alphago.ui.why.explain import Explanation, explain

READOUTS = 100  # of a position
POINTS_OF_A_GAME = 20.0  # points that count as much as a won game where no points are known
TURNS = 3  # moves of a summary
LEAST = 1.0  # points that they lose


class Teacher:
    """Looks over a person's moves.

    network: as `alphago.analyze` takes it.
    points: a move that loses more is told; where the network forecasts no points, 1 stands for 5 % of winning.
    readouts, device, threads: as in `alphago.analyze`.
    """

    def __init__(
        self,
        network: object,
        points: float,
        readouts: int = READOUTS,
        *,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.network, self.readouts = network, readouts
        self.where: dict[str, Any] = {"device": device, "threads": threads}
        self.points = check_positive("teach", points)

    def lesson(self, position: Position, action: int) -> Explanation | None:
        """Return why a move is bad; None if it does not lose more than `points`."""
        [move] = self._reviews([position, position.play(action)])
        if lost(move) <= self.points:
            return None
        found = explain(position, action, self.network, self.readouts, **self.where)
        return found if found.loss.worse else None

    def summary(self, positions: Sequence[Position]) -> str:
        """Return the moves of a game that lost most, as sentences; positions: all of the game, in order."""
        moves = [move for move in self._reviews(positions) if lost(move) >= LEAST]
        if not moves:
            return f"No move lost more than {LEAST:g} points."
        turns = sorted(sorted(moves, key=lost)[-TURNS:], key=lambda move: move.ply)
        return "\n".join(["The moves that turned the game:", *(self._sentence(positions, move) for move in turns)])

    def _reviews(self, positions: Sequence[Position]) -> list[MoveReview]:
        analysis = analyze(positions, self.network, self.readouts, **self.where)
        return [review_move(analysis, ply, after.moves[-1]) for ply, after in enumerate(positions[1:])]

    def _sentence(self, positions: Sequence[Position], move: MoveReview) -> str:
        env, number = positions[0].env, len(positions[move.ply].moves) + 1
        side = env.board_view.side(move.colour)
        points = "" if np.isnan(move.point_loss) else f"{move.point_loss:.1f} points and "
        cost = f"{points}{max(move.rate_loss, 0):.0%} of winning"
        return f"  move {number}, {side} {env.to_text(move.action)}: lost {cost}; better {env.to_text(move.best)}"


def lost(move: MoveReview) -> float:
    """Return what a move lost in points; where no points are known, its loss of win rate as points."""
    return POINTS_OF_A_GAME * move.rate_loss if np.isnan(move.point_loss) else move.point_loss
