"""Players that move in many games at once."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from alphago.arena.anchors import Anchor, AnchorPlayer, named_anchor
from alphago.arena.engine import GtpProgram, named_program
from alphago.arena.engine_player import GtpPlayer
from alphago.env.game import GameBatch, GameEnv
from alphago.env.games import go_only
from alphago.mcts.evaluator import Evaluator, as_evaluator
from alphago.mcts.root import choose_actions, chosen_actions, without_rash_passes
from alphago.mcts.search import Search, SearchSettings


class Player(Protocol):
    """One side of many games.  It follows all moves, its own and the other side's."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Actions int32 [n] for the games (int64 [n]) in which it is to move.

        Where `by_chance` (bool [n]) is set it should vary its choice; `chance` [n], in [0, 1), is the
        randomness it may use.  GIVES_UP (see gtp_player) loses the game and ends it.
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
    """A search with `readouts` simulations added per move.

    PUCT keeps its tree from move to move and plays the most visited action.  Gumbel begins each move
    anew, has no noise in matches, and plays the action with which sequential halving ends.
    By chance, actions are drawn in proportion to visits, or from Gumbel's improved policy; else a search ends as
    soon as its choice is certain.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        self.readouts = readouts

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        best_only = np.zeros(self.search.games, np.bool_)
        best_only[games] = ~by_chance
        if self.search.settings.gumbel:
            self.search.restart(games)
        self.search.run(readouts, best_only)
        return chosen_actions(self.search, games, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.advance(games, actions)


class PolicyPlayer:
    """A network's policy without search: its most probable action, but for passes that throw a won game away."""

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


def contestant(who: Any, env: GameEnv | None = None, device: str = "cpu") -> Any:
    """What `seat` takes, from what `evaluate` accepts, for `env`.

    ValueError for a name that nobody has, and where `env` is given and is no game that this player knows.

    device: of networks, see `as_evaluator`.
    """
    if isinstance(who, str) and who != "random":
        who = named_player(who)
    if isinstance(who, (Anchor, GtpProgram)) and env is not None:
        go_only(env, f"{who.name} plays")
    return who if isinstance(who, (str, Anchor, GtpProgram)) else as_evaluator(who, env, device)


def named_player(name: str) -> Anchor | GtpProgram:
    """The player of Go without a network that is called so; ValueError for a name that nobody has."""
    player = named_anchor(name) or named_program(name)
    if player is None:
        raise ValueError(
            f"no player is called {name!r}: there is 'random', and any network, 'uct' and 'rave' or, with their "
            "playouts, 'rave:1000', and GNU Go as 'gnugo' or, with its level, 'gnugo:10'"
        )
    return player


def search_settings(search: SearchSettings | str | None, readouts: int, leaves: int) -> SearchSettings:
    """Settings as they are, or those of a search called "puct" or "gumbel"; None is "puct"."""
    if isinstance(search, SearchSettings):
        return search
    if search == "gumbel":
        return SearchSettings(gumbel=True, considered=max(2, min(16, readouts // 2)), leaves=leaves)
    if search not in ("puct", None):
        raise ValueError(f"search is 'puct', 'gumbel' or SearchSettings, got {search!r}")
    return SearchSettings(leaves=leaves)


def seat(
    env: GameEnv,
    who: Any,
    games: int,
    readouts: int,
    leaves: int,
    *,
    search: SearchSettings | str | None = None,
    seeds: Sequence[int] | None = None,
) -> Player:
    """A player of `games` games from what `evaluate` accepts; `seeds` are an engine's, one for each game.

    A GtpPlayer has to be closed in the end.
    """
    who = contestant(who)
    if isinstance(who, str):
        return RandomPlayer(env, games)
    if isinstance(who, (Anchor, GtpProgram)):
        game = go_only(env, f"{who.name} plays")
        if isinstance(who, Anchor):
            return AnchorPlayer(game, who, games)
        return GtpPlayer(game, who, range(1, games + 1) if seeds is None else seeds)
    if readouts == 0:
        return PolicyPlayer(env, who, games)
    return SearchPlayer(env, who, games, readouts, search_settings(search, readouts, leaves))
