"""Players that move in many games at once."""

from typing import Any, Protocol

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.evaluator import Evaluator, as_evaluator
from alphago.mcts.root import choose_actions
from alphago.mcts.search import Search, SearchSettings


class Player(Protocol):
    """One side of many games.  It follows all moves, its own and the other side's."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Actions int32 [n] for the games (int64 [n]) in which it is to move.

        Where `by_chance` (bool [n]) is set it should vary its choice; `chance` [n], in [0, 1), is the
        randomness it may use.
        """

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """These moves were played."""


class RandomPlayer:
    """Every legal action with the same probability, the pass among them."""

    def __init__(self, env: GameEnv, games: int) -> None:
        self.batch: GameBatch = env.new_batch(games)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        legal = self.batch.legal_mask(games, np.empty((len(games), self.batch.env.action_space), np.bool_))
        return choose_actions(legal.astype(np.int32), np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


class SearchPlayer:
    """A search with `readouts` simulations added per move."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        self.readouts = readouts

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        self.search.run(readouts)
        return choose_actions(self.search.visits(games), by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.advance(games, actions)


class PolicyPlayer:
    """A network's policy without search: its most probable action."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int) -> None:
        self.batch: GameBatch = env.new_batch(games)
        self.evaluator = evaluator

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        priors = np.empty((len(games), self.batch.env.action_space), np.float32)
        self.evaluator.evaluate(self.batch, games, priors, np.empty(len(games), np.float32))
        return choose_actions(priors, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


def seat(env: GameEnv, who: Any, games: int, readouts: int, leaves: int) -> Player:
    """A player of `games` games from what `evaluate` accepts: "random", a network or an evaluator."""
    if isinstance(who, str):
        if who != "random":
            raise ValueError(f"no player is called {who!r}: there is 'random', and any network")
        return RandomPlayer(env, games)
    evaluator = as_evaluator(who)
    if readouts == 0:
        return PolicyPlayer(env, evaluator, games)
    return SearchPlayer(env, evaluator, games, readouts, SearchSettings(leaves=leaves))
