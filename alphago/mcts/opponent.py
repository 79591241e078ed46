"""`StrengthEstimator`: how strong the other side of a game is, for the level "even", which follows its strength."""

import math
import time
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.level_choice import move_losses, move_probabilities, move_shares, move_values
from alphago.mcts.levels import FULL_STRENGTH, POINTS, expected_loss, level_conditions, measured_network
from alphago.mcts.puct import Puct
from alphago.mcts.search import Search

USUAL = 5  # the level that an unknown opponent is assumed to have
USUAL_MOVES = 4.0  # this assumption weighs as much as so many moves
FEWEST_MOVES = 5  # with fewer moves the assumption weighs more than the moves, so that no loss is reported
FADING = 0.95  # the weight of a move, divided by the weight of the next move
LATEST = 40  # how many of the opponent's latest moves count
READOUTS = 32  # simulations for each position
WIDEST = 2  # the candidates of this level are the moves whose losses are compared
MOST = {POINTS: 20.0, "win rate": 1.0}  # a greater loss of a move counts as this: a game cannot be more than lost
# Estimated losses are rough: the moves of a player who loses nothing seem to lose about so much on average.
SEEMING_LOSS = {POINTS: 0.5, "win rate": 0.02}


class OpponentStrength(NamedTuple):
    """What is known of an opponent.

    Attributes:
        level: the level that is as strong as the opponent.
        lost: the measured loss a move of this level, or the loss that the level aims at if it was not measured.
        unit: the unit of `lost`, "points" or "win rate" (0 .. 1).
        moves: the number of the opponent's moves from which the level was estimated.
    """

    level: float
    lost: float
    unit: str
    moves: int

    def __str__(self) -> str:
        """Return a sentence, such as "You lose about 2.3 points a move (in 12 so far): level 6.2"."""
        if not self.moves:
            return f"You have not moved yet: level {self.level:g}"
        if self.moves < FEWEST_MOVES:
            return f"You have made {self.moves} of {FEWEST_MOVES} moves that tell your strength: level {self.level:g}"
        loss = f"about {self.lost:.1f} points" if self.unit == POINTS else f"about {self.lost:.0%} of the win rate"
        return f"You lose {loss} a move (in {self.moves} so far): level {self.level:g}"


class StrengthEstimator:
    """Estimates the strength of one side of games from its moves, by a network's search of the positions before them.

    Args:
        env: the game.
        evaluator: a network's evaluator for this game.
        network: this network; if levels were measured with it, their measured losses are those of `OpponentStrength`.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, network: object = None) -> None:
        self.measured = measured_network(network, env)
        self.search = Search(env, evaluator, games=1, settings=Puct(leaves=4))
        self.levels = [level_conditions(level, env, self.search.has_forecasts) for level in range(1, FULL_STRENGTH + 1)]
        targets = [terms.target for terms in self.levels]
        # What `losses_by` would return for a typical move of level USUAL: its loss, then the loss of each level.
        self.usual_losses = np.array([targets[USUAL - 1], *targets])
        # What `losses_by` has returned, by the start of the game as text, the moves before the move, who made all of
        # them, and the move.
        self.known_losses: dict[tuple[Any, ...], np.ndarray] = {}
        self.search_seconds = 0.0  # those that a search is expected to take

    def estimate(self, position: Position, seconds: float = math.inf) -> OpponentStrength:
        """Return the strength of the player who is not to move in a position, from that player's moves in this game.

        Args:
            seconds: time for the search of moves that were not searched yet.  The latest ones come first; moves for
                which there is no time do not count in this call.
        """
        theirs = [(before, action) for before, action in position.turns() if before.to_play != position.to_play]
        deadline = time.monotonic() + seconds
        counted = 0  # moves
        totals = USUAL_MOVES * self.usual_losses  # of losses, as if so many usual moves had been played before
        for age, (before, action) in enumerate(reversed(theirs[-LATEST:])):  # older moves count less
            if (losses := self.losses_in_time(action, before, deadline)) is not None:
                totals = totals + FADING**age * losses
                counted += 1
        level = self.matching_level(totals)
        self.search_seconds /= 2  # a slow search, as the first one is, must not prevent all later ones
        lost = expected_loss(level, self.search.env, self.search.has_forecasts, self.measured)
        return OpponentStrength(level=level, lost=lost, unit=self.levels[0].unit, moves=counted)

    def losses_in_time(self, action: int, before: Position, deadline: float) -> np.ndarray | None:
        """Return what `losses_by` returns, without a search if it is known; None if the search would end too late.

        Args:
            action, before: as in `losses_by`.
            deadline: the value of time.monotonic() at which the search must have ended.
        """
        key, began = (str(before.setup), before.moves, (*before.movers, before.to_play), action), time.monotonic()
        if key not in self.known_losses and began + self.search_seconds <= deadline:
            self.known_losses[key] = self.losses_by(action, before)
            self.search_seconds = time.monotonic() - began
        return self.known_losses.get(key)

    def matching_level(self, totals: np.ndarray) -> float:
        """Return the level that would have lost as much as the opponent did, rounded to a tenth.

        Args:
            totals: a sum of arrays that `losses_by` returned: the opponent's loss, then the loss of each level.
        """
        lost, *by_level = totals.tolist()
        # A level must not lose less than a higher one, so its loss is raised to the greatest loss of all above it.
        descending = np.maximum.accumulate(by_level[::-1])[::-1]
        # Losses are negated, since np.interp needs ascending x.
        return round(float(np.interp(-lost, -descending, np.arange(1, FULL_STRENGTH + 1))), 1)

    def losses_by(self, action: int, before: Position) -> np.ndarray:
        """Return what a move loses by the search's estimate, then what each level would lose there.

        The result is float64 [1 + number of levels], in the unit of the levels.  In a position in which little can be
        lost every level loses little, so that the move says little about its player.

        Args:
            before: the position before the move.
        """
        games, unit = np.zeros(1, np.int64), self.levels[0].unit  # all levels have the same unit
        self.search.start(0, before)
        self.search.run(np.array([READOUTS], np.int32))
        # All levels are compared on the candidates of one of them, a wide choice.
        losses = move_losses(self.search, games, self.levels[WIDEST - 1])
        analysis, is_played = losses.analysis, np.arange(self.search.env.action_space) == action
        [worth] = move_values(self.search, games, analysis, is_played[None], unit)  # [A]; known for the played move
        best_action = move_shares(analysis)[0].argmax()  # it has visits, so that its worth is known too
        estimated = float(worth[best_action] - worth[action])
        # The estimate is rough, so that even good moves seem to lose: SEEMING_LOSS on average.
        lost_by_move = max(0.0, min(estimated, MOST[unit]) - SEEMING_LOSS[unit])
        # The expected loss of each level: `lost` is NaN for moves that are no candidates, whose probability is 0.
        by_level = [float(np.nansum(move_probabilities(losses, terms) * losses.lost)) for terms in self.levels]
        return np.array([lost_by_move, *by_level])
