"""Players: each chooses the moves of one side in many games at once."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from alphago.arena.engine import Engine, find_engine
from alphago.arena.engine_player import EnginePlayer
from alphago.arena.playout_player import PlayoutPlayer, PlayoutSettings, playout_settings
from alphago.env.game import GameBatch, GameEnv
from alphago.env.games import require_go
from alphago.mcts.evaluator import Evaluator, as_evaluator
from alphago.mcts.rule import choose_actions, without_rash_passes
from alphago.mcts.search import Search, SearchSettings, named_search

# What `make_player` accepts as a player.
PlayerSource = Evaluator | PlayoutSettings | Engine | Literal["random"]


class Player(Protocol):
    """One side of many games, which follows the moves of both sides."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], for the games (int64 [n]) in which this player is to move.

        by_chance: bool [n], where the choice should vary from game to game.
        chance: [n], in [0, 1), the random numbers for that.

        RESIGN (`alphago.arena.engine_player`) loses the game and ends it.
        """

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play these actions, of either side, in the player's own copy of the games."""


class RandomPlayer:
    """A player that chooses every legal action, the pass included, with the same probability."""

    def __init__(self, env: GameEnv, games: int) -> None:
        self.batch: GameBatch = env.new_batch(games)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        legal = self.batch.legal_mask(games, np.empty((len(games), self.batch.env.action_space), np.bool_))
        return choose_actions(legal.astype(np.int32), np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


class SearchPlayer:
    """A player that searches with `readouts` simulations a move, without noise.

    Where the action is not drawn by chance, a search ends as soon as no further simulation can change its choice.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        self.readouts = readouts

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        best_only = np.zeros(self.search.games, np.bool_)
        best_only[games] = ~by_chance
        self.search.begin_move(games)
        self.search.run(readouts, best_only)
        return self.search.choose(games, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.advance(games, actions)


class PolicyPlayer:
    """A player without search: the policy's most probable action, except passes that would lose a won game."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int) -> None:
        self.batch: GameBatch = env.new_batch(games)
        self.evaluator = evaluator

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        priors = np.empty((len(games), self.batch.env.action_space), np.float32)
        values, outcomes = np.empty((2, len(games)), np.float32)
        self.evaluator.evaluate(self.batch, games, priors, values)
        self.batch.outcome(games, outcomes)
        return choose_actions(without_rash_passes(self.batch.env, priors, values, outcomes), by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


def resolve_player(player: object, env: GameEnv | None = None, device: str = "cpu") -> PlayerSource:
    """Return what `make_player` accepts for a player's name, a network, an evaluator or a function on positions.

    device: where networks are computed, see `as_evaluator`.
    Raises ValueError for an unknown name, and for a player that does not know the game `env`.
    """
    if player == "random":
        return "random"
    if isinstance(player, str):
        player = find_player(player)
    if isinstance(player, (PlayoutSettings, Engine)):
        if env is not None:
            require_go(env, player.name)
        return player
    return as_evaluator(player, env, device)


def find_player(name: str) -> PlayoutSettings | Engine:
    """Return the player of Go without a network that has this name; raise ValueError for an unknown name."""
    player = playout_settings(name) or find_engine(name)
    if player is None:
        raise ValueError(
            f"no player is called {name!r}: there is 'random', and any network, 'uct' and 'rave' or, with their "
            "playouts, 'rave:1000', and GNU Go as 'gnugo' or, with its level, 'gnugo:10'"
        )
    return player


def search_settings(search: SearchSettings | str | None, readouts: int, leaves: int) -> SearchSettings:
    """Return the settings of a search that is given by name ("puct", also for None, or "gumbel") or as settings."""
    if isinstance(search, SearchSettings):
        return search
    return named_search("puct" if search is None else search, readouts, leaves)


def make_player(
    env: GameEnv,
    source: PlayerSource,
    games: int,
    readouts: int,
    leaves: int,
    *,
    search: SearchSettings | str | None = None,
    seeds: Sequence[int] | None = None,
) -> Player:
    """Return a player of `games` games at once; close an EnginePlayer after use.

    readouts: simulations per move, for an evaluator; 0 plays its policy without search.
    leaves: `SearchSettings.leaves` of an evaluator's search if `search` is a name or None.
    seeds: one for each game, for an engine; None means 1, 2, 3, …
    """
    if source == "random":
        return RandomPlayer(env, games)
    if isinstance(source, PlayoutSettings):
        return PlayoutPlayer(require_go(env, source.name), source, games)
    if isinstance(source, Engine):
        return EnginePlayer(require_go(env, source.name), source, seeds or range(1, games + 1))
    evaluator = as_evaluator(source)
    if readouts == 0:
        return PolicyPlayer(env, evaluator, games)
    return SearchPlayer(env, evaluator, games, readouts, search_settings(search, readouts, leaves))
