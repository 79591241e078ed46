"""What travels between a run and its workers: versions of the network, tasks, and answers, as bytes without code.

A task continues a group of games, by the moves that the group's state has left, with a version of the network.  The
task and the version have all that is needed.  So any worker can do a task, and doing it again gives the same answer.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import network_digest
from alphago.nn.inference.cpu import compiled_network
from alphago.nn.net import NeuralNet, build_net
from alphago.nn.parts import strip_prefix
from alphago.nn.travel import check_travels
from alphago.records.record import POLICY_SCALE, GameRecord, read_arrays, to_arrays
from alphago.system.settings_tree import SettingsTree
from alphago.training.group import GroupPlan
from alphago.training.run_parts import PARTS
from alphago.training.runs.state import State, pack_arrays, state_from_bytes, to_bytes, unpack_arrays
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.workers.known_games import known_game, plain_game

NET = "net."  # prefix of the network's tensors
COMPILED = "compiled"
ALIKE = 0.15  # largest mean gap of two answers that were computed with the same network
SELFPLAY = SettingsTree(SelfPlaySettings, {"search": PARTS["search"]})


class Task(NamedTuple):
    """A task: continue a group of games by the moves left in its state.

    end, step: end and step of the range of the games' numbers; state["next"] is the first number that has not begun.
    state: the result of `Group.state`.
    games: the games in progress, packed by `pack_arrays`.
    """

    end: int
    step: int
    state: dict[str, Any]
    games: torch.Tensor

    @classmethod
    def of(cls, numbers: range, state: dict[str, Any], games: list[GameRecord]) -> "Task":
        return cls(end=numbers.stop, step=numbers.step, state=state, games=pack_arrays(to_arrays(games)))

    def to_bytes(self) -> bytes:
        return packed(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Task":
        """Return the task that `to_bytes` converted; raise ValueError if the bytes are damaged."""
        return cls(**unpacked(data))


class Played(NamedTuple):
    """The answer to a task: the group's new state and games, and the work that was done.

    games: the games in progress, then the finished games, packed by `pack_arrays`.
    moves, readouts: numbers of moves and simulations.  seconds: seconds by kind of work.
    """

    state: dict[str, Any]
    games: torch.Tensor
    moves: int
    readouts: int
    seconds: dict[str, float]

    @classmethod
    def of(cls, group: GroupPlan) -> "Played":
        """Return the answer after a group has played."""
        games = pack_arrays(to_arrays(group.records()))
        seconds = group.stopwatch.take()
        return cls(group.state(), games, moves=group.moves, readouts=group.readouts_done, seconds=seconds)

    def to_bytes(self) -> bytes:
        return packed(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Played":
        """Return the answer that `to_bytes` converted; raise ValueError if the bytes are damaged."""
        return cls(**unpacked(data))

    def same_games(self, other: "Played") -> bool:
        """Return whether two answers have the same games, bit for bit."""
        return self.state == other.state and torch.equal(self.games, other.games)

    @property
    def records(self) -> list[GameRecord]:
        return read_arrays(unpack_arrays(self.games))


class LoosePlayed(Played):
    """The answer of a worker whose rounding may differ from other workers', so that games differ after a while."""

    def same_games(self, other: "Played") -> bool:
        """Return whether the searches of two answers nearly agree where they still searched the same positions.

        In each game the gap is measured at the first position with different results, which both have searched.  The
        mean gap of a task's games is 0.03 between int8 or bfloat16 and float32, and 0.3 or more between two networks.
        """
        own_games = {record.seed: record for record in self.records}
        other_games = {record.seed: record for record in other.records}
        gaps = [gap(own_games[seed], other_games[seed]) for seed in own_games.keys() & other_games.keys()]
        return not gaps or sum(gaps) / len(gaps) <= ALIKE


def gap(a: GameRecord, b: GameRecord) -> float:
    """Return the difference of two games' search results at the first position where the results differ.

    The difference is that of the values plus the total variation of the policies; 0 if all results are equal.
    """
    plies = min(len(a), len(b))
    differ = (a.values[:plies] != b.values[:plies]) | (a.moves[:plies] != b.moves[:plies])
    if not differ.any():
        return 0.0
    ply = int(differ.argmax())
    variation = np.abs(a.policies[ply].astype(np.float64) - b.policies[ply]).sum() / (2 * POLICY_SCALE)
    return float(abs(a.values[ply] - b.values[ply]) + variation)


def packed(message: Task | Played) -> bytes:
    """Return a task or an answer as bytes, with a digest to detect damage."""
    data = message._asdict()
    return to_bytes(State({"games": data.pop("games")}, data))


def unpacked(data: bytes) -> dict[str, Any]:
    """Return the fields of a task or an answer by name; raise ValueError if the bytes are damaged."""
    state = state_from_bytes(data)
    return {**state.data, **state.tensors}


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
        check_travels(self.net)
        tensors = dict(self.net.state_dict(prefix=NET))
        tensors[COMPILED] = torch.from_numpy(np.frombuffer(self.compiled, np.uint8).copy())
        plain = {
            "game": plain_game(self.env),
            "settings": SELFPLAY.to_data(self.settings),
            "net": (plain_game(self.net.env), self.net.config),
            "dtype": self.dtype,
            "seed": self.seed,
            "check": self.check,
        }
        return to_bytes(State(tensors, plain))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version that `to_bytes` converted; raise WorkerRefused for a game unknown to this program."""
        state = state_from_bytes(data)
        fields = dict(state.data)
        env = known_game(fields.pop("game"))
        fields["settings"] = SELFPLAY.load(fields["settings"], given={}, who="this run")
        # The rules of the network's game may differ from the run's, and matter: its random games calibrate int8.
        game, config = fields.pop("net")
        net = build_net(config, known_game(game))
        net.load_state_dict(strip_prefix(state.tensors, NET))
        compiled = state.tensors[COMPILED].numpy().tobytes()
        return cls(env, net=net, compiled=compiled, **fields)  # dtype, seed and check as they are
