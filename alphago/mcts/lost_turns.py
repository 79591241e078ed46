"""When an engine resigns to a person or another program that may be weaker than itself.

The threshold of a run was calibrated in self-play between equals.  So three conditions are added here: KataGo's
resignConsecTurns, resignMinMovesPerBoardArea and resignMinScoreDifference.
"""

import math

from alphago.env.position import Position
from alphago.mcts.questions import Answer
from alphago.mcts.rule import measured_threshold, resigns

LOST_TURNS = 3  # an engine resigns if its value is below the threshold in so many of its turns, one after the other,
LEAST_PLIES = 0.4  # if the game has so many plies for each point of the board,
LEAST_BEHIND = 0.5  # and if it is behind by so many points for each line of the board, where scores are forecast


class LostTurns:
    """The turns of a game in which the search of the player to move held the game for lost."""

    def __init__(self) -> None:
        self._turns: set[tuple[int, ...]] = set()  # the moves before each turn

    def resigns(self, answer: Answer, network: object, threshold: float | None = None) -> bool:
        """Return whether the player to move should resign, and note whether this turn is lost.

        Args:
            answer: the last answer of the player's search.
            network, threshold: as in `note_turn`.
        """
        analysis, position = answer.found, answer.position
        is_lost = self.note_turn(position, float(analysis.value[0]), network, threshold)
        return is_lost and is_far_behind(position, float(analysis.root_score[0]), answer.least_behind)

    def note_turn(self, position: Position, value: float, network: object, threshold: float | None) -> bool:
        """Note whether a turn is lost; return whether the player's last LOST_TURNS turns are, with this one.

        Args:
            position: the position at this turn.
            value: -1 .. 1, from the view of the player to move.
            network: the player's network, see `measured_threshold`.
            threshold: the value below which the game counts as lost; None for what the run of `network` has measured.
        """
        moves = position.moves
        if not resigns(value, measured_threshold(network, position) if threshold is None else threshold):
            self._turns.discard(moves)
            return False
        self._turns.add(moves)
        # The moves before each of the player's turns before this one, which are two plies apart.
        earlier = [moves[: len(moves) - 2 * turn] for turn in range(1, LOST_TURNS) if len(moves) >= 2 * turn]
        return len(earlier) == LOST_TURNS - 1 and all(line in self._turns for line in earlier)


def is_far_behind(position: Position, score: float, least_behind: float) -> bool:
    """Return whether the game is so long, and the player to move so far behind, that the player may resign.

    Args:
        score: the margin in points, from the view of the player to move; if it is NaN (unknown), it does not matter.
        least_behind: the points that the player must be behind at a level, see `Answer`; 0 without a level.
    """
    height, width = position.env.plane_shape
    if len(position.moves) < LEAST_PLIES * height * width:
        return False
    return math.isnan(score) or -score >= max(LEAST_BEHIND * math.sqrt(height * width), least_behind)
