"""`StrengthEstimator`: how much the other side of a game loses a move, for a level that follows its strength."""

from typing import NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_search import AnalysisSearch
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.level_choice import move_losses, played_losses, weights
from alphago.mcts.levels import LEVELS, POINTS, level_table, terms_of
from alphago.mcts.puct import Puct

USUAL = 5  # the level of an opponent of whom nothing is known
USUAL_MOVES = 4.0  # moves that this guess counts for
FADING = 0.95  # weight of a move, against the one after it
LATEST = 40  # moves that are looked at
READOUTS = 32  # of a position
WIDEST = 2  # the level whose candidates are looked at
MOST = {POINTS: 20.0, "win rate": 1.0}  # loss of a move: a lost game is lost
# A network finds fault with good moves too: what it finds in the moves of a player who loses nothing.
UNFAIR = {POINTS: 0.5, "win rate": 0.02}


class OpponentStrength(NamedTuple):
    """What is known of an opponent.

    level: the level that is as strong.  lost: what it loses a move, points or win rate (0 .. 1), as that level was
    measured to lose; what that level aims at if it was not measured.  unit: of `lost`.  moves: the number of its moves
    on which this stands.
    """

    level: float
    lost: float
    unit: str
    moves: int

    def __str__(self) -> str:
        """Return a sentence, such as "You lose about 2.3 points a move (in 12 so far): level 6.2"."""
        if not self.moves:
            return f"You have not moved yet: level {self.level:g}"
        told = f"about {self.lost:.1f} points" if self.unit == POINTS else f"about {self.lost:.0%} of the win rate"
        return f"You lose {told} a move (in {self.moves} so far): level {self.level:g}"


class StrengthEstimator:
    """Estimates the strength of one side of games from its moves, by a network's search of the positions before them.

    env, evaluator: of the network.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator) -> None:
        self.search = AnalysisSearch(env, evaluator, 1, Puct(leaves=4))
        self.levels = [terms_of(level, env, self.search.has_forecasts) for level in range(1, LEVELS + 1)]
        targets = [terms.target for terms in self.levels]
        # As `look` returns them: losses of the usual opponent, and those of moves, by the game's set-up and moves.
        self.usual = np.array([targets[USUAL - 1], *targets])
        self.seen: dict[tuple[str, tuple[int, ...]], np.ndarray] = {}

    def estimate(self, position: Position) -> OpponentStrength:
        """Return the strength of the player who is not to move in a position, from its moves in this game."""
        its_moves = [
            (before.give_turn(mover), action)
            for before, mover, action in zip(position.replay(), position.movers, position.moves, strict=False)
            if mover != position.to_play
        ]
        known = [self.look(before, action) for before, action in its_moves[-LATEST:]]
        totals = USUAL_MOVES * self.usual
        for age, losses in enumerate(reversed(known)):  # an older move counts less
            totals = totals + FADING**age * losses
        level = self.level_of(totals)
        table = level_table(self.search.env, self.search.has_forecasts)
        lost = table.interpolate(level, "lost")
        if np.isnan(lost):  # the level was not measured
            lost = table.interpolate(level, "target")
        return OpponentStrength(level, lost, table.unit, len(known))

    def level_of(self, totals: np.ndarray) -> float:
        """Return the level that loses as much, rounded to a tenth; totals: sums of what `look` returns."""
        lost, *expected = totals.tolist()
        return round(float(np.interp(-lost, -np.maximum.accumulate(expected[::-1])[::-1], np.arange(1, LEVELS + 1))), 1)

    def look(self, before: Position, action: int) -> np.ndarray:
        """Return what a move loses by the search's estimate, and what each level would lose, float64 [1 + LEVELS].

        Where there is little to lose, no level would lose much, so that such a move tells little of its player.
        """
        key = str(before.setup), (*before.moves, action)
        if key not in self.seen:
            game, unit = np.zeros(1, np.int64), self.levels[0].unit
            self.search.start(0, before)
            self.search.run(np.array([READOUTS], np.int32))
            lost = float(played_losses(self.search, game, np.array([action]), unit)[0])
            fair = max(0.0, min(lost, MOST[unit]) - UNFAIR[unit])
            candidates = move_losses(self.search, game, self.levels[WIDEST - 1])
            losses = np.nan_to_num(candidates.lost)
            expected = [float((weights(candidates, terms) * losses).sum()) for terms in self.levels]
            self.seen[key] = np.array([fair, *expected])
        return self.seen[key]
