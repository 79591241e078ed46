"""`PlayoutEvaluator`: values from random games instead of a network.

With it the search is classic UCT (Coulom 2006, Kocsis and Szepesvari 2006), for any game.
"""

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator, UniformEvaluator

MOST_PLIES = 400  # of a playout; then the current board is scored
STEP = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64, from one state to the next
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of its finalizer


class PlayoutEvaluator(Evaluator):
    """An evaluator with equal priors for all legal actions, and the mean result of random games as value.

    In the random games a side passes only if it has no other legal move, so that the board is filled before a game
    ends.  The random games of a position depend on the position and the seed only, not on the rest of the batch.

    Args:
        playouts: the number of random games from each position.
        seed: seed of the random moves; None for a random one.
    """

    def __init__(self, env: GameEnv, playouts: int = 1, seed: int | None = None) -> None:
        self.env, self.playouts = env, playouts
        self.seeds = np.random.default_rng(seed).integers(2**64, size=playouts, dtype=np.uint64)

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        UniformEvaluator().evaluate(batch, slots, priors, values)  # for the priors; the values are overwritten
        hashes = batch.hash(slots, np.empty(len(slots), np.int64)).astype(np.uint64)
        values[:] = np.mean([self.play_out(batch, slots, mix(hashes ^ seed)) for seed in self.seeds], axis=0)

    def play_out(self, batch: GameBatch, slots: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Play one random game from each slot; return the results for the slots' movers, float32 [n], -1 .. 1.

        A game that is not over after MOST_PLIES has the result of its board as it is then.

        Args:
            seeds: uint64 [n], of the random moves of each game.
        """
        count = len(slots)
        movers = batch.to_play(slots, np.empty(count, np.int8))
        games = batch.env.new_batch(count)
        all_games = np.arange(count)
        games.copy(slots, all_games, of=batch)
        playing = all_games  # the games that are not over
        for ply in range(MOST_PLIES):
            playing = playing[~games.is_over(playing, np.empty(len(playing), np.bool_))]
            if not len(playing):
                break
            legal = games.legal_mask(playing, np.empty((len(playing), self.env.action_space), np.bool_))
            games.play(playing, self.draw(legal, mix(seeds[playing] + np.uint64(ply))))
        last_to_play = games.to_play(all_games, np.empty(count, np.int8))  # `outcome` is from their view
        black_outcomes = games.outcome(all_games, np.empty(count, np.float32)) * last_to_play
        return black_outcomes * movers

    def draw(self, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return a random legal action for each row, int32 [n]; a pass only if it is the only legal action.

        Args:
            legal: bool [n, A], the legal actions; changed in place.
            seeds: uint64 [n].
        """
        if self.env.pass_action is not None:
            has_others = legal.sum(axis=1) > 1
            legal[has_others, self.env.pass_action] = False
        # Each action gets the next random number of a SplitMix64 that starts from the row's seed; the greatest wins.
        numbers = mix(seeds[:, None] + np.arange(1, legal.shape[1] + 1, dtype=np.uint64) * STEP)
        above_zero = numbers | np.uint64(1)
        return np.where(legal, above_zero, np.uint64(0)).argmax(axis=1).astype(np.int32)

    def __repr__(self) -> str:
        return f"PlayoutEvaluator({self.env!r}, {self.playouts})"


def mix(numbers: np.ndarray) -> np.ndarray:
    """Return pseudo-random numbers made of `numbers`, uint64, by SplitMix64's finalizer (Steele, Lea, Flood 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * FACTORS[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * FACTORS[1]
    return numbers ^ (numbers >> np.uint64(31))
