"""What travels between a run and its workers: versions of the network, tasks, and answers, as bytes without code.

A task continues a group of games, by the moves that the group's state has left, with a version of the network.  The
task and the version have all that is needed.  So any worker can do a task, and doing it again gives the same answer.
"""

import zlib
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import network_digest
from alphago.nn.inference.cpu import compiled_network
from alphago.nn.net import NeuralNet
from alphago.nn.travel import net_from_arrays, net_to_arrays
from alphago.records.record import GameRecord, read_arrays, to_arrays
from alphago.system.settings import from_data, to_data
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.workers.work import known_game, pack, plain_game, unpack

COMPILED = "compiled"  # name of the array beside those of the network's weights
FASTEST = 1  # level of zlib


@dataclass(kw_only=True)
class Message:
    """Plain data for JSON, and games; games that have travelled do not have their GameEnv."""

    games: list[GameRecord]

    def to_bytes(self) -> bytes:
        plain = {name: value for name, value in vars(self).items() if name != "games"}
        return zlib.compress(pack(plain, to_arrays(self.games)), FASTEST)  # since policies are mostly zeros

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the message that `to_bytes` converted."""
        plain, arrays = unpack(zlib.decompress(data))
        return cls(games=read_arrays(arrays), **plain)


@dataclass(kw_only=True)
class Task(Message):
    """A task: continue a group of games by the moves left in its state.

    end, step: end and step of the range of the games' numbers; state["next"] is the first number that has not begun.
    state: the result of `Group.state`.
    games: the games in progress.
    """

    end: int
    step: int
    state: dict[str, Any]


@dataclass(kw_only=True)
class Played(Message):
    """The answer to a task: the group's new state and games, and the work that was done.

    games: the games in progress, then the finished games.
    moves, readouts: numbers of moves and simulations.  seconds: seconds by kind of work.
    """

    state: dict[str, Any]
    moves: int
    readouts: int
    seconds: dict[str, float]


class Version(NamedTuple):
    """A version of a run's network, with all data that its tasks have in common.

    net: the network; None where a worker needs it no more.
    dtype: dtype of inference.  seed: the run's seed.
    check: the digest that `network_digest` must return on a worker; None if any result will do.
    compiled: the result of `compiled_network` for the network; may be left out.
    """

    env: GameEnv
    settings: SelfPlaySettings
    net: NeuralNet | None
    dtype: str | None
    seed: int
    check: str | None
    compiled: bytes = b""

    @classmethod
    def of(
        cls, env: GameEnv, settings: SelfPlaySettings, evaluator: Evaluator, *, exact: bool, **more: Any
    ) -> "Version":
        """Return the version whose network is that of the evaluator, which computes on a CPU.

        exact: whether a worker's results must be those of this machine.  more: net, dtype and seed.
        """
        check = network_digest(env, evaluator) if exact else None
        return cls(env, settings, check=check, compiled=compiled_network(evaluator), **more)

    def to_bytes(self) -> bytes:
        """Return the version as bytes; raise ValueError for a network of modules that only this program has."""
        assert self.net is not None
        config, weights = net_to_arrays(self.net)
        plain = {
            "game": plain_game(self.env),
            "settings": to_data(self.settings),
            "net": (plain_game(self.net.env), config),
            "dtype": self.dtype,
            "seed": self.seed,
            "check": self.check,
        }
        return pack(plain, {**weights, COMPILED: np.frombuffer(self.compiled, np.uint8)})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version that `to_bytes` converted; raise WorkerRefused for a game unknown to this program."""
        fields, weights = unpack(data)
        compiled = weights.pop(COMPILED).tobytes()
        env = known_game(fields.pop("game"))
        settings = from_data(SelfPlaySettings, fields.pop("settings"), given={}, who="this run")
        # The rules of the network's game may differ from the run's, and matter: its random games calibrate int8.
        game, config = fields.pop("net")
        net = net_from_arrays(config, weights, known_game(game))
        return cls(env, settings, net, compiled=compiled, **fields)  # dtype, seed and check as they are
