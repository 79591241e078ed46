"""When an engine resigns to a person or another program, which may be weaker than itself.

The threshold of a run was calibrated in self-play between equals.  Three conditions come to it, which are KataGo's
resignConsecTurns, resignMinMovesPerBoardArea and resignMinScoreDifference.
"""

import math

from alphago.env.position import Position
from alphago.mcts.questions import Answer

LOST_TURNS = 3  # of the engine's own, one after the other, in which its value is below the threshold
LEAST_PLIES = 0.4  # plies of the game for each point of the board
LEAST_BEHIND = 0.5  # points that it is behind, for each line of the board, if scores are forecast


def is_far_behind(position: Position, behind: float, least_behind: float = 0.0) -> bool:
    """Return whether a game is so long, and the player to move so far behind, that it may be resigned.

    behind: points that the player is behind; infinite or nan if no score is forecast.
    least_behind: what a player of a level must be behind, since its opponent may still lose as much.
    """
    height, width = position.env.plane_shape
    if len(position.moves) < LEAST_PLIES * height * width:
        return False
    return math.isnan(behind) or behind >= max(LEAST_BEHIND * math.sqrt(height * width), least_behind)


class LostTurns:
    """The turns of an engine's game in which its search held the game for lost, by the moves before them."""

    def __init__(self) -> None:
        self._turns: set[tuple[int, ...]] = set()

    def resigns(self, answer: Answer, network: object, threshold: float | None = None) -> bool:
        """Return whether the engine should resign, whose turn it is, and keep whether this turn is lost.

        answer: what its search has found.
        threshold: the value below which it holds the game for lost; None for what the run of `network` has measured.
        """
        moves = answer.position.moves
        if not answer.is_lost(network, threshold):
            self._turns.discard(moves)
            return False
        self._turns.add(moves)
        earlier = [moves[: len(moves) - 2 * turn] for turn in range(1, LOST_TURNS) if len(moves) >= 2 * turn]
        lost = len(earlier) == LOST_TURNS - 1 and all(line in self._turns for line in earlier)
        behind = -float(answer.found.root_score[0])
        return lost and is_far_behind(answer.position, behind, answer.least_behind)
