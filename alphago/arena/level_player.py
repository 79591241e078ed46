"""`LevelPlayer`: a network that plays at a level, in many games at once."""

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.analysis_search import AnalysisSearch
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.level_choice import level_shares
from alphago.mcts.levels import terms_of
from alphago.mcts.puct import Puct
from alphago.mcts.rule import choose_actions

LEAVES = 4  # of a wave, however many games are played at once


class LevelPlayer:
    """A player at a level below full strength, see `alphago.mcts.levels`; all its moves are drawn by chance."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, level: float) -> None:
        self.search = AnalysisSearch(env, evaluator, games, Puct(leaves=LEAVES))
        self.terms = terms_of(level, env, self.search.has_forecasts)
        self.plies = np.zeros(games, np.int32)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.terms.readouts
        self.search.begin_move(games, self.plies[games])
        self.search.run(readouts)
        shares = level_shares(self.search, games, self.terms)
        return choose_actions(shares, np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.batch.play(games, actions)
        self.search.forget(games)  # each move is searched alone, as where levels were measured
        self.plies[games] += 1
