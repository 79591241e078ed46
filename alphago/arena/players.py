"""Players, which choose the moves of one side in many games at once."""

from abc import ABC, abstractmethod

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator, new_boards
from alphago.mcts.level_choice import level_shares
from alphago.mcts.levels import level_conditions
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings, choose_actions, without_rash_passes
from alphago.mcts.search import Search

RESIGN = -1  # in place of an action: the player resigns
LEAVES = 4  # leaves per wave of a player at a level; the number of games played at once does not change it


class Player(ABC):
    """One side of many games; after each move of either side, call `follow`, and `close` when the games are over.

    Args:
        batch: the player's own copy of the games.

    Attributes:
        faults: by game, why the player forfeits the game; it then resigns at its next turn.
        scores: by game, the player's own score of the last board as text, if it has scored it.
    """

    name = ""  # a program's name, for sentences about its scores

    def __init__(self, batch: GameBatch) -> None:
        self.batch = batch
        self.faults: dict[int, str] = {}
        self.scores: dict[int, str] = {}

    @abstractmethod
    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], for games (int64 [n]) in which this player is to move.

        The action RESIGN loses the game and ends it.

        Args:
            by_chance: bool [n], whether to draw a game's action at random, so that games differ.
            chance: [n], the random numbers with which such actions are drawn, in [0, 1).
        """

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play one action (int32 [n]), of either side, in the player's own copy of each game (int64 [n])."""
        self.batch.play(games, actions)

    def close(self) -> None:  # noqa: B027 - most players have nothing to end
        """End all processes."""


class RandomPlayer(Player):
    """A player that chooses uniformly among the legal actions, the pass included."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Draw the action of each game, with `chance`; `by_chance` is ignored."""
        legal = self.batch.legal_mask(games, np.empty((len(games), self.batch.env.action_space), np.bool_))
        return choose_actions(legal.astype(np.int32), np.ones(len(games), np.bool_), chance)


class SearchPlayer(Player):
    """A player that searches with `readouts` simulations a move, without noise.

    If an action is not drawn at random, its search ends as soon as the simulations left cannot change the action.

    Args:
        games: number of games that it plays at once.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        super().__init__(self.search.batch)
        self.readouts = readouts
        self.plies = np.zeros(games, np.int32)  # played in each game

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Search these games side by side; return actions, int32 [n], drawn by visits where `by_chance` is set."""
        # The search takes an entry for each of its games; those that are not in `games` get 0 readouts.
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        best_only = np.zeros(self.search.games, np.bool_)
        best_only[games] = ~by_chance  # these searches may end as soon as no other action can become the best
        self.search.begin_move(games, self.plies[games])
        self.search.run(readouts, best_only)
        return self.search.choose(games, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play an action in each game, and keep the tree below it.

        The boards of the search are the player's boards too.
        """
        self.search.advance(games, actions)
        self.plies[games] += 1


class PolicyPlayer(Player):
    """A player without search: the policy's most probable action, but no pass that would lose a won game."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int) -> None:
        super().__init__(new_boards(env, evaluator, games))
        self.evaluator = evaluator

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], drawn in proportion to the policy where `by_chance` is set.

        In the other games the action is the most probable one.  Passes that might lose a won game are left out.
        """
        priors = np.empty((len(games), self.batch.env.action_space), np.float32)
        values = np.empty(len(games), np.float32)
        self.evaluator.evaluate(self.batch, games, priors, values)
        return choose_actions(without_rash_passes(self.batch, games, priors, values), by_chance, chance)


class LevelPlayer(Player):
    """A player at a level below full strength, see `alphago.mcts.levels`; all its moves are drawn by chance."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, level: float) -> None:
        self.search = Search(env, evaluator, games, Puct(leaves=LEAVES))
        super().__init__(self.search.batch)
        self.level_settings = level_conditions(level, env, self.search.has_forecasts)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], all drawn with `chance`; `by_chance` is ignored."""
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.level_settings.readouts
        self.search.run(readouts)
        shares = level_shares(self.search, games, self.level_settings)
        return choose_actions(shares, np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play an action in each game, and forget its tree."""
        super().follow(games, actions)  # not `search.advance`, which would keep the tree
        self.search.forget(games)  # each move is searched from an empty tree, as when levels were measured
