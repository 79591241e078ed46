"""When an engine resigns to a person or another program that may be weaker than itself.

The threshold of a run was calibrated in self-play between equals.  So three conditions are added here: KataGo's
resignConsecTurns, resignMinMovesPerBoardArea and resignMinScoreDifference.
"""

import math

from alphago.env.position import Position
from alphago.mcts import rule
from alphago.mcts.questions import Answer

LOST_TURNS = 3  # an engine resigns if its value is below the threshold in so many of its turns, one after the other,
LEAST_PLIES = 0.4  # if the game has so many plies for each point of the board,
LEAST_BEHIND = 0.5  # and if it is behind by so many points for each line of the board, where scores are forecast


class LostTurns:
    """The turns of a game in which the search of the player to move held the game for lost."""

    def __init__(self) -> None:
        self._turns: set[tuple[int, ...]] = set()  # the moves before each turn

    def resigns(self, answer: Answer, network: object, threshold: float | None = None) -> bool:
        """Return whether the player to move should resign, and note whether this turn is lost.

        It should if its last turns are lost, the game is long, and the player is far behind: by the constants, and for
        a player of a level also by `answer.least_behind` points.  An unknown score does not matter.

        Args:
            answer: the last answer of the player's search.
            network, threshold: as in `note_turn`.
        """
        position, analysis = answer.position, answer.found
        points = math.prod(position.env.plane_shape)
        score = float(analysis.root_score[0])  # the margin in points, in the player's view; NaN if it is unknown
        last_turns_are_lost = self.note_turn(position, float(analysis.value[0]), network, threshold)
        is_long = len(position.moves) >= LEAST_PLIES * points
        is_behind = math.isnan(score) or -score >= max(LEAST_BEHIND * math.sqrt(points), answer.least_behind)
        return last_turns_are_lost and is_long and is_behind

    def note_turn(self, position: Position, value: float, network: object, threshold: float | None) -> bool:
        """Note whether a turn is lost; return whether the player's last LOST_TURNS turns are, with this one.

        Args:
            position: the position at this turn.
            value: -1 .. 1, from the view of the player to move.
            network: the player's network, see `measured_threshold`.
            threshold: the value below which the game counts as lost; None for what the run of `network` has measured.
        """
        moves = position.moves
        if not rule.resigns(value, rule.measured_threshold(network, position) if threshold is None else threshold):
            self._turns.discard(moves)
            return False
        self._turns.add(moves)
        # The moves before each of the player's turns before this one, which are two plies apart.
        earlier = [moves[: len(moves) - 2 * turn] for turn in range(1, LOST_TURNS) if len(moves) >= 2 * turn]
        return len(earlier) == LOST_TURNS - 1 and all(line in self._turns for line in earlier)
