"""`MatchWork`, games of a match as a job of workers, and `play_on_workers`, which lets workers play a match."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from alphago.arena.alphabeta import AlphaBetaSettings
from alphago.arena.entrant import Entrant, find_player
from alphago.arena.match_games import MatchPlan, MatchSetup, own_view, play_games
from alphago.arena.match_result import MatchGame
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import as_evaluator, fitting_network
from alphago.mcts.network_digest import check_network, network_digest
from alphago.mcts.search_specs import plain_form
from alphago.nn.net import NeuralNet, net_from_arrays, net_to_arrays
from alphago.nn.threads import one_torch_thread, own_thread_settings
from alphago.system.validation import shown
from alphago.workers.jobs import JobPool
from alphago.workers.work import RemoteWork, WorkerRefused, known_game, pack, plain_game, unpack

GAMES_A_JOB = 8  # enough to fill batches, few enough to play again if a worker is lost; even, for pairs of games


class MatchWork(RemoteWork):
    """The work of playing games of a match; a job is the numbers of the games to play."""

    def __init__(self, match: MatchSetup) -> None:
        self.match = match

    @classmethod
    def to_bytes(cls, match: MatchSetup) -> bytes:
        """Return the work as `from_bytes` reads it; raise ValueError for players that cannot be sent to workers."""
        env, entrants, plan = match
        # A network's digest depends on the number of torch threads.  The worker uses one too, to compare it.
        with one_torch_thread():
            players = [np.frombuffer(player_to_bytes(env, entrant), np.uint8) for entrant in entrants]
        sides = [[entrant.readouts, plain_form(entrant.search), entrant.level] for entrant in entrants]
        return pack([plain_game(env), asdict(plan), sides], {str(i): player for i, player in enumerate(players)})

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        """Return the work that `to_bytes` converted; `device` is ignored, since workers play matches on the CPU."""
        (game, plan, sides), players = unpack(data)
        env = known_game(game)
        entrants = []
        with own_thread_settings():  # like `one_torch_thread` in `to_bytes`, for a thread of this package
            for number, (readouts, search, level) in enumerate(sides):
                player = player_from_bytes(env, players[str(number)].tobytes(), level)
                entrants.append(Entrant(player, readouts, search, level=level))
        return cls(MatchSetup(env, entrants, MatchPlan(**plan)))

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        """Return the finished games as JSON; None if `stop` ended them before."""
        games: list[MatchGame] = []
        with own_thread_settings():  # one torch thread, and torch's default settings
            play_games(self.match, json.loads(job), games.append, stop=stop)
        return None if stop.is_set() else json.dumps([asdict(game) for game in games]).encode()


def travels_by_name(player: object) -> bool:
    """Return whether a player is one of the package's own without a network, which a worker makes from its name."""
    if isinstance(player, (PlayoutSettings, AlphaBetaSettings)):
        return find_player(player.name) == player  # not if its constants differ from those that the name stands for
    return player == "random"


def travelling_network(env: GameEnv, entrant: Entrant) -> NeuralNet | None:
    """Return the network of a player that is to be sent to workers; None for a player that is sent by name.

    Raises:
        ValueError: for a player that cannot be sent.
    """
    if travels_by_name(entrant.player):
        return None
    network = fitting_network(entrant.network, env)
    if not isinstance(network, NeuralNet):
        name = entrant.name or getattr(entrant.player, "name", type(entrant.player).__name__)
        wanted = "a network, random, uct:N, rave:N or alphabeta:N, which can travel to them"
        raise ValueError(f"with workers, a player must be {wanted}, got {name}")
    return network


def player_to_bytes(env: GameEnv, entrant: Entrant) -> bytes:
    """Return a player as bytes: its name, or its network and a digest of the network's outputs.

    `player_from_bytes` reads them.

    Raises:
        ValueError: if the player cannot be sent to workers.
    """
    player: Any = entrant.player
    network = travelling_network(env, entrant)
    if network is None:
        return pack(player if player == "random" else player.name, {})
    plain, weights = net_to_arrays(network)
    evaluator = make_evaluator(network, env, entrant.level)
    check = network_digest(own_view(env, evaluator), evaluator)
    return pack({"net": plain, "check": check}, weights)


def make_evaluator(network: Any, env: GameEnv, level: float | None) -> Any:
    """Return a network's evaluator for a worker.

    At full strength its results do not depend on which positions share a batch.  A level needs forecasts of the score,
    and an evaluator with forecasts is not exact; but a job's games are always played side by side, in equal batches.
    """
    if level is not None:
        return as_evaluator(network, env, forecasts=True)
    return network.evaluator(exact=True, shared=False)  # not shared: a cached one would outlive the work


def player_from_bytes(env: GameEnv, data: bytes, level: float | None) -> Any:
    """Return the player that `player_to_bytes` converted.

    Args:
        level: the entrant's level; None for full strength.  A network at a level also forecasts the score.

    Raises:
        WorkerRefused: if the player's network computes other numbers on this machine.
    """
    plain, weights = unpack(data)
    if isinstance(plain, str):
        player = find_player(plain)
        if not travels_by_name(player):  # who sends work must not be able to start programs here
            raise WorkerRefused(f"a player must be random, uct:N, rave:N, alphabeta:N or a network, got {shown(plain)}")
        return player
    evaluator = make_evaluator(net_from_arrays(plain["net"], weights), env, level)
    check_network(own_view(env, evaluator), evaluator, plain["check"])
    return evaluator


def play_on_workers(
    pool: JobPool, match: MatchSetup, numbers: Sequence[int], on_game: Callable[[MatchGame], Any], stop: threading.Event
) -> None:
    """Let workers play the games with these numbers, and call `on_game` with each finished game.

    Args:
        stop: an event that ends the match at once.

    Raises:
        ValueError: for players that cannot be sent to workers.
    """
    parts = [numbers[begin : begin + GAMES_A_JOB] for begin in range(0, len(numbers), GAMES_A_JOB)]
    jobs = (json.dumps(list(part)).encode() for part in parts)
    for games in pool.map(MatchWork, MatchWork.to_bytes(match), jobs, json.loads, stop):
        for game in games:
            on_game(MatchGame(**{**game, "moves": tuple(game["moves"])}))  # JSON has made a list of the moves
