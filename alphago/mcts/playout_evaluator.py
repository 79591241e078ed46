"""`PlayoutEvaluator`: values from random games instead of a network.

With it the search is classic UCT (Coulom 2006, Kocsis and Szepesvari 2006), for any game.
"""

import threading

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator

MOST_PLIES = 400  # of a playout; then the current board is scored


class PlayoutEvaluator(Evaluator):
    """An evaluator with equal priors for all legal actions, and the mean result of random games as value.

    In the random games a side passes only if it has no other legal move, so that the board is filled before they end.

    playouts: the number of random games from each position.
    seed: seed of the random moves.
    """

    def __init__(self, env: GameEnv, playouts: int = 1, seed: int | None = None) -> None:
        self.env, self.playouts = env, playouts
        self.generator = np.random.default_rng(seed)
        self.lock = threading.Lock()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        np.divide(mask, mask.sum(axis=1, keepdims=True), out=priors, casting="unsafe")
        with self.lock:  # a generator is not thread-safe
            seeds = self.generator.integers(2**63, size=self.playouts)
        results = [self.play_out(batch, slots, np.random.default_rng(seed)) for seed in seeds]
        values[:] = np.mean(results, axis=0)

    def play_out(self, batch: GameBatch, slots: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Play one random game from each slot; return the results for the slots' movers, float32 [n], -1 .. 1."""
        count = len(slots)
        movers = batch.to_play(slots, np.empty(count, np.int8))
        games = batch.env.new_batch(count)
        everyone = np.arange(count)
        games.copy(slots, everyone, of=batch)
        going = everyone
        for _ in range(MOST_PLIES):
            going = going[~games.is_over(going, np.empty(len(going), np.bool_))]
            if not len(going):
                break
            legal = games.legal_mask(going, np.empty((len(going), self.env.action_space), np.bool_))
            games.play(going, self.draw(legal, generator))
        last = games.to_play(everyone, np.empty(count, np.int8))
        return games.outcome(everyone, np.empty(count, np.float32)) * last * movers

    def draw(self, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return a random legal action for each row, int32 [n]; a pass only if it is the only legal action.

        legal: bool [n, A], the legal actions; changed in place.
        """
        if self.env.pass_action is not None:
            others = legal.sum(axis=1) > 1
            legal[others, self.env.pass_action] = False
        weights = generator.random(legal.shape, dtype=np.float32) * legal
        return weights.argmax(axis=1).astype(np.int32)

    def __repr__(self) -> str:
        return f"PlayoutEvaluator({self.env!r}, {self.playouts})"
