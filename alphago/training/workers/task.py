"""What travels between a run and its workers: versions of the network, tasks, and answers, as bytes without code.

A task continues one group of games by the moves that its state has left, with one version of the network.  All that it
needs is in it and in the version, so any worker can do it, and to do it again gives the same answer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet, build_net
from alphago.nn.parts import strip_prefix
from alphago.nn.travel import check_travels
from alphago.records.record import POLICY_SCALE, GameRecord, read_arrays, to_arrays
from alphago.system.settings_tree import SettingsTree
from alphago.training.group import GroupPlan
from alphago.training.run_parts import PARTS
from alphago.training.runs.state import State, from_bytes, pack_arrays, to_bytes, unpack_arrays
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.workers.known_games import known_game, plain_game

COMPILED = "compiled.{}"
ALIKE = 0.15  # mean gap of two answers that tell of the same network
SELFPLAY = SettingsTree(SelfPlaySettings, {name: PARTS[name] for name in ("search", "seating")})


class Task(NamedTuple):
    """Continue a group of games by the moves left in its `state`, as Group.state and Group.records saved it.

    end, step: of the range of the numbers of the group's games; state["next"] is the first that has not begun.
    games: the games in progress, of `pack_arrays`.
    """

    end: int
    step: int
    state: dict[str, Any]
    games: torch.Tensor

    @classmethod
    def of(cls, numbers: range, state: dict[str, Any], games: list[GameRecord]) -> "Task":
        return cls(numbers.stop, numbers.step, state, pack_arrays(to_arrays(games)))

    def to_bytes(self) -> bytes:
        return packed(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Task":
        """Return the task in bytes; raise ValueError if they are damaged."""
        return cls(**unpacked(data))


class Played(NamedTuple):
    """The answer to a task: the group's new state and games, and what they cost.

    games: the games in progress, then those that have finished.  seconds: by kind of work.
    """

    state: dict[str, Any]
    games: torch.Tensor
    moves: int
    readouts: int
    seconds: dict[str, float]

    @classmethod
    def of(cls, group: GroupPlan) -> "Played":
        """Return the answer that tells of a group which has played."""
        games, seconds = pack_arrays(to_arrays(group.records())), group.stopwatch.take()
        return cls(group.state(), games, group.moves, group.readouts_done, seconds)

    def to_bytes(self) -> bytes:
        return packed(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Played":
        """Return the answer in bytes; raise ValueError if they are damaged."""
        return cls(**unpacked(data))

    def same_games(self, other: "Played") -> bool:
        """Return whether two answers tell of the same games, bit for bit."""
        return self.state == other.state and torch.equal(self.games, other.games)

    @property
    def records(self) -> list[GameRecord]:
        return read_arrays(unpack_arrays(self.games))


class LoosePlayed(Played):
    """The answer of a worker that may compute in another form than others, so that games part after some moves."""

    def same_games(self, other: "Played") -> bool:
        """Return whether the searches of two answers agree where they searched the same positions.

        These are in each game the first whose results are not equal to the bit.  In int8 and bfloat16 values and
        policies differ from those in float32 by 0.03 there on the mean of a task's games, and in another network's by
        0.3 and more.
        """
        mine, others = ({record.seed: record for record in answer.records} for answer in (self, other))
        gaps = [gap(mine[seed], others[seed]) for seed in mine.keys() & others.keys()]
        return not gaps or sum(gaps) / len(gaps) <= ALIKE


def gap(one: GameRecord, other: GameRecord) -> float:
    """Return by how much the results of two searches differ, at the first position where they do.

    It is the sum of the values' difference and of the policies' total variation.
    """
    plies = min(len(one), len(other))
    differ = (one.values[:plies] != other.values[:plies]) | (one.moves[:plies] != other.moves[:plies])
    if not differ.any():
        return 0.0
    ply = int(differ.argmax())
    variation = np.abs(one.policies[ply].astype(np.float64) - other.policies[ply]).sum() / (2 * POLICY_SCALE)
    return float(abs(one.values[ply] - other.values[ply]) + variation)


def packed(message: Task | Played) -> bytes:
    """Return a task or an answer as bytes, with a digest by which damage is found."""
    data = message._asdict()
    return to_bytes(State({"games": data.pop("games")}, data))


def unpacked(data: bytes) -> dict[str, Any]:
    state = from_bytes(data)
    return {**state.data, **state.tensors}


class TravelledNets(Sequence[NeuralNet]):
    """The networks in a version's bytes, each built when it is asked for."""

    def __init__(self, state: State) -> None:
        self.state = state

    def __len__(self) -> int:
        return len(self.state.data["nets"])

    def __getitem__(self, i: Any) -> Any:
        # A network's own game may have other rules than the run's: random games of it calibrate 8-bit numbers.
        game, config = self.state.data["nets"][i]
        net = build_net(config, known_game(game))
        net.load_state_dict(strip_prefix(self.state.tensors, f"{i}."))
        return net


class Version(NamedTuple):
    """A version of a run's network, with all that its tasks have in common.

    nets: the run's network, then those of its company.  shares: of the company.
    dtype: of inference.  seed: the run's seed.
    check: the digest that `network_digest` must give on a worker; None for any.
    compiled: what `compiled_network` returns for each of the networks; may be left out.
    """

    env: GameEnv
    settings: SelfPlaySettings
    nets: Sequence[NeuralNet]
    shares: tuple[float, ...]
    dtype: str | None
    seed: int
    check: str | None
    compiled: Sequence[bytes] = ()

    def to_bytes(self) -> bytes:
        """Return the version as bytes; raise ValueError for a network of modules that only this program has."""
        for net in self.nets:
            check_travels(net)
        tensors = {f"{i}.{name}": t for i, net in enumerate(self.nets) for name, t in net.state_dict().items()}
        for i, data in enumerate(self.compiled):
            tensors[COMPILED.format(i)] = torch.from_numpy(np.frombuffer(data, np.uint8).copy())
        plain = {
            "game": plain_game(self.env),
            "settings": SELFPLAY.to_data(self.settings),
            "nets": [(plain_game(net.env), net.config) for net in self.nets],
            "shares": self.shares,
            "dtype": self.dtype,
            "seed": self.seed,
            "check": self.check,
        }
        return to_bytes(State(tensors, plain))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version in bytes; raise WorkerRefused for a game that this program does not know."""
        state = from_bytes(data)
        env = known_game(state.data.pop("game"))
        settings = SELFPLAY.load(state.data["settings"], {}, "this run")
        nets = TravelledNets(state)
        names = [name for i in range(len(nets)) if (name := COMPILED.format(i)) in state.tensors]
        compiled = [state.tensors[name].numpy().tobytes() for name in names]
        rest = {"settings": settings, "shares": tuple(state.data["shares"]), "compiled": compiled}
        return cls(env, **{**state.data, "nets": nets, **rest})
