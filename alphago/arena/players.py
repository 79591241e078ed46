"""Players, which choose the moves of one side in many games at once."""

from os import PathLike
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from alphago.arena.alphabeta import AlphaBetaSettings, alphabeta_settings, check_game_has_evaluation
from alphago.arena.engine import COMMAND, Engine, find_engine
from alphago.arena.engine_player import check_engine
from alphago.arena.playout_player import PlayoutSettings, playout_settings
from alphago.arena.submission import Submission, find_submission
from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import is_go, require_go
from alphago.env.packaged_nets import packaged_nets
from alphago.mcts.evaluator import Evaluator, as_evaluator, new_boards
from alphago.mcts.level_choice import level_shares
from alphago.mcts.levels import level_conditions
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings, choose_actions, without_rash_passes
from alphago.mcts.search import Search
from alphago.nn.model_files import OF_KATAGO, model_file
from alphago.system.validation import near_names

# What `make_player` accepts as a player.
PlayerSource = Evaluator | PlayoutSettings | AlphaBetaSettings | Engine | Submission | Literal["random"]
LEAVES = 4  # leaves per wave of a player at a level; the number of games played at once does not change it


class Player(Protocol):
    """One side of many games; after each move of either side, call `follow`."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], for games (int64 [n]) in which this player is to move.

        The action RESIGN (`alphago.arena.engine_player`) loses the game and ends it.

        Args:
            by_chance: bool [n], whether to draw a game's action at random, so that games differ.
            chance: [n], the random numbers with which such actions are drawn, in [0, 1).
        """

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play one action (int32 [n]), of either side, in the player's own copy of each game (int64 [n])."""


class RandomPlayer:
    """A player that chooses uniformly among the legal actions, the pass included."""

    def __init__(self, env: GameEnv, games: int) -> None:
        self.batch: GameBatch = env.new_batch(games)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        legal = self.batch.legal_mask(games, np.empty((len(games), self.batch.env.action_space), np.bool_))
        return choose_actions(legal.astype(np.int32), np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


class SearchPlayer:
    """A player that searches with `readouts` simulations a move, without noise.

    If an action is not drawn at random, its search ends as soon as the simulations left cannot change the action.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        self.readouts = readouts
        self.plies = np.zeros(games, np.int32)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        best_only = np.zeros(self.search.games, np.bool_)
        best_only[games] = ~by_chance
        self.search.begin_move(games, self.plies[games])
        self.search.run(readouts, best_only)
        return self.search.choose(games, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.advance(games, actions)
        self.plies[games] += 1


class PolicyPlayer:
    """A player without search: the policy's most probable action, but no pass that would lose a won game."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int) -> None:
        self.batch: GameBatch = new_boards(env, evaluator, games)
        self.evaluator = evaluator

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        priors = np.empty((len(games), self.batch.env.action_space), np.float32)
        values, outcomes = np.empty((2, len(games)), np.float32)
        self.evaluator.evaluate(self.batch, games, priors, values)
        self.batch.outcome(games, outcomes)
        return choose_actions(without_rash_passes(self.batch.env, priors, values, outcomes), by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


class LevelPlayer:
    """A player at a level below full strength, see `alphago.mcts.levels`; all its moves are drawn by chance."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, level: float) -> None:
        self.search = Search(env, evaluator, games, Puct(leaves=LEAVES), forecasts=True)
        self.terms = level_conditions(level, env, self.search.has_forecasts)

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.terms.readouts
        self.search.run(readouts)
        shares = level_shares(self.search, games, self.terms)
        return choose_actions(shares, np.ones(len(games), np.bool_), chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.batch.play(games, actions)
        self.search.forget(games)  # each move is searched from an empty tree, as when levels were measured


def resolve_player(player: object, env: GameEnv | None = None, device: str = "cpu") -> PlayerSource:
    """Convert a player's name, a network, an evaluator or a function on positions to a `PlayerSource`.

    Args:
        env: the game that the player must be able to play; None to check nothing.
        device: where networks are computed, see `as_evaluator`.

    Raises:
        ValueError: for an unknown name or a player that cannot play `env`.
        EngineError: for an engine that cannot be started, or one given by its command that rejects the board size or
            komi of `env`.
    """
    is_name = isinstance(player, (str, PathLike))
    if is_name:
        player = find_player(str(player))
    if isinstance(player, str) and player == "random":
        return "random"
    if isinstance(player, Engine) and env is not None:
        go = require_go(env, player.name)
        if is_name and player.name.startswith(COMMAND):
            check_engine(go, player)
    if isinstance(player, PlayoutSettings) and env is not None and player.equivalence:  # RAVE is for Go alone
        require_go(env, player.name)
    if isinstance(player, AlphaBetaSettings) and env is not None and is_go(env):
        check_game_has_evaluation(env)  # PlainAlphaBetaPlayer sees nothing before the end of a game of Go
    if isinstance(player, (Engine, Submission, PlayoutSettings, AlphaBetaSettings)):
        return player
    return as_evaluator(player, env, device)


def network_file(name: str) -> Path | None:
    """Return the file or run folder of the network called `name`; None if no file is called so."""
    path = model_file(name)
    looks_like_file = "/" in name or name.endswith(".safetensors") or name.startswith(OF_KATAGO)
    return path if looks_like_file or path.exists() else None


def find_player(name: str) -> PlayoutSettings | AlphaBetaSettings | Engine | Submission | Path | Literal["random"]:
    """Return the player called `name`: a player without a network, or the path of a network's file or run folder.

    Raises:
        ValueError: with similar names, for an unknown name.
        EngineError: for an engine that is not installed.
    """
    if name == "random":
        return "random"
    player = playout_settings(name) or alphabeta_settings(name) or find_engine(name) or find_submission(name)
    if player is not None:
        return player
    if name and (path := network_file(name)) is not None:
        return path
    similar = near_names(name, ["random", "uct", "rave", "alphabeta", "gnugo", *packaged_nets()])
    question = f"did you mean {similar[0]}? " if similar else ""
    raise ValueError(
        f"no player is called {name!r}: {question}players are 'random', a network's file, run folder or packaged name, "
        "'uct:PLAYOUTS', 'rave:PLAYOUTS' in Go, 'alphabeta:DEPTH' in other games, 'gnugo:LEVEL', any engine "
        "by its command, as 'gtp:./engine --argument', and a Python file with a function choose(position)"
    )
