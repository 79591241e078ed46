"""`python -m alphago.mcts.compile` compiles the tree's kernels, by searching a game in plain Python, which has none."""

from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.search import Search, SearchSettings

SEARCHES = 2  # side by side


class Coin:
    """A toss of the coin: who says heads has won."""

    def __init__(self) -> None:
        self.to_play = 1
        self.said: list[int] = []

    def play(self, action: int) -> None:
        self.said.append(action)
        self.to_play = -self.to_play

    def is_over(self) -> bool:
        return len(self.said) == CoinEnv.max_moves

    def legal_mask(self) -> np.ndarray:
        return np.full(2, not self.is_over())

    def outcome(self) -> float:
        return float(self.said[-1])

    def planes(self) -> np.ndarray:
        return np.zeros((1, 1, 2), np.float32)

    def copy(self) -> "Coin":
        twin = Coin()
        twin.to_play, twin.said = self.to_play, self.said.copy()
        return twin


class CoinEnv(GameEnv):
    name = "coin"
    N, planes, plane_shape = 1, 1, (1, 2)
    action_space, max_moves = 2, 4
    config = {}

    def new(self, **setup: Any) -> Coin:
        return Coin()

    def to_text(self, action: int) -> str:
        return ("tails", "heads")[action]


def compile_tree() -> None:
    """Does with the tree what self-play and players do with it."""
    for settings in (SearchSettings(gumbel=True), SearchSettings()):
        search = Search(CoinEnv(), UniformEvaluator(), SEARCHES, settings)
        games = np.arange(SEARCHES)
        search.expand_roots(games)
        search.run(np.full(SEARCHES, 4, np.int32))
        search.visits(games)
        search.priors(games)
        if settings.gumbel:
            search.improved(games)
        search.restart(games)
        search.run(np.full(SEARCHES, 4, np.int32))
        search.advance(games, np.zeros(SEARCHES, np.int32))
        search.forget(games)


if __name__ == "__main__":
    compile_tree()
