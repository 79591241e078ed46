"""When an engine resigns to a person or another program, which may be weaker than itself.

The threshold of a run was calibrated in self-play between equals.  Three conditions come to it, which are KataGo's
resignConsecTurns, resignMinMovesPerBoardArea and resignMinScoreDifference.
"""

import math

from alphago.env.position import Position
from alphago.mcts.questions import Answer
from alphago.mcts.rule import measured_threshold, resigns

LOST_TURNS = 3  # of the engine's own, one after the other, in which its value is below the threshold
LEAST_PLIES = 0.4  # plies of the game for each point of the board
LEAST_BEHIND = 0.5  # points that it is behind, for each line of the board, if scores are forecast


class LostTurns:
    """The turns of an engine's game in which its search held the game for lost, by the moves before them."""

    def __init__(self) -> None:
        self._turns: set[tuple[int, ...]] = set()

    def resigns(self, answer: Answer, network: object, threshold: float | None = None) -> bool:
        """Return whether the engine should resign, whose turn it is, and keep whether this turn is lost.

        Args:
            answer: what its search has found.
            network, threshold: as in `keep`.
        """
        found, position = answer.found, answer.position
        is_lost = self.keep(position, float(found.value[0]), network, threshold)
        return is_lost and is_far_behind(position, float(found.root_score[0]), answer.least_behind)

    def keep(self, position: Position, value: float, network: object, threshold: float | None) -> bool:
        """Keep whether a turn is lost; return whether it is, and those of the same player before it, LOST_TURNS in all.

        Args:
            value: -1 .. 1, from the view of the player to move.
            threshold: the value below which the game counts as lost; None for what the run of `network` has measured.
        """
        moves = position.moves
        if not resigns(value, measured_threshold(network, position) if threshold is None else threshold):
            self._turns.discard(moves)
            return False
        self._turns.add(moves)
        earlier = [moves[: len(moves) - 2 * turn] for turn in range(1, LOST_TURNS) if len(moves) >= 2 * turn]
        return len(earlier) == LOST_TURNS - 1 and all(line in self._turns for line in earlier)


def is_far_behind(position: Position, score: float, least_behind: float) -> bool:
    """Return whether a game is so long, and the player to move so far behind, that it may be resigned.

    Args:
        score: the margin in points, from the view of the player to move; NaN if it is unknown.
        least_behind: what a player of a level must be behind, since its opponent may still lose as much.
    """
    height, width = position.env.plane_shape
    if len(position.moves) < LEAST_PLIES * height * width:
        return False
    return math.isnan(score) or -score >= max(LEAST_BEHIND * math.sqrt(height * width), least_behind)
