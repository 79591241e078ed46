"""What travels between a run and its workers: versions of the network, tasks, and answers, as bytes without code.

A task continues one group of games by the moves that its state has left, with one version of the network.  All that it
needs is in it and in the version, so any worker can do it, and to do it again gives the same answer.
"""

import hashlib
import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet, build_net
from alphago.nn.parts import strip_prefix
from alphago.records.record import GameRecord, read_arrays, to_arrays
from alphago.system.settings_tree import SettingsTree
from alphago.training.group import GroupPlan
from alphago.training.run_parts import PARTS
from alphago.training.runs.state import State, from_bytes, pack_arrays, to_bytes, unpack_arrays
from alphago.training.settings.selfplay_settings import SelfPlaySettings

LIBRARIES = ("torch", "numpy", "numba")  # whose versions may change the last bits of a game
CHECKED = 16  # positions on which two machines' networks are compared
SELFPLAY = SettingsTree(SelfPlaySettings, {name: PARTS[name] for name in ("search", "seating")})


class WorkerRefused(ValueError):
    """The error raised on a worker that cannot play a run's games as the run would; the message says why."""


class Task(NamedTuple):
    """Continue a group of games by the moves left in its `state`, as Group.state and Group.records saved it.

    version: the name of the version of the network.
    end, step: of the range of the numbers of the group's games; state["next"] is the first that has not begun.
    games: the games in progress, of `pack_arrays`.
    """

    version: str
    end: int
    step: int
    state: dict[str, Any]
    games: torch.Tensor

    @classmethod
    def of(cls, version: str, numbers: range, state: dict[str, Any], games: list[GameRecord]) -> "Task":
        return cls(version, numbers.stop, numbers.step, state, pack_arrays(to_arrays(games)))

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


def packed(message: Task | Played) -> bytes:
    """Return a task or an answer as bytes, with a digest by which damage is found."""
    data = message._asdict()
    return to_bytes(State({"games": data.pop("games")}, data))


def unpacked(data: bytes) -> dict[str, Any]:
    state = from_bytes(data)
    return {**state.data, **state.tensors}


class Version(NamedTuple):
    """A version of a run's network, with all that its tasks have in common.

    nets: the run's network, then those of its company.  shares: of the company.
    dtype: of inference.  seed: the run's seed.
    check: the digest that `network_digest` must give on a worker; None for any.
    """

    env: GameEnv
    settings: SelfPlaySettings
    nets: Sequence[NeuralNet]
    shares: tuple[float, ...]
    dtype: str | None
    seed: int
    check: str | None

    def to_bytes(self) -> bytes:
        """Return the version as bytes; raise ValueError for a network of modules that only this program has."""
        for net in self.nets:
            if net.custom:
                names = ", ".join(f"{slot}={name}" for slot, name in net.custom.items())
                raise ValueError(f"workers must be able to build the network: {names} must be a registered part")
        tensors = {f"{i}.{name}": t for i, net in enumerate(self.nets) for name, t in net.state_dict().items()}
        return to_bytes(
            State(
                tensors,
                {
                    "build": build(),
                    "game": [self.env.name, game_reference(type(self.env)), self.env.config],
                    "settings": SELFPLAY.plain(self.settings),
                    "nets": [net.config for net in self.nets],
                    "shares": self.shares,
                    "dtype": self.dtype,
                    "seed": self.seed,
                    "check": self.check,
                },
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version in bytes; raise WorkerRefused where this program is another one than the run's."""
        state = from_bytes(data)
        check_build(state.data.pop("build"), exact=state.data["check"] is not None)
        name, reference, config = state.data.pop("game")
        if name not in GAMES:
            raise WorkerRefused(f"this worker must know the game {name!r}: start it with --game {reference}")
        env = GAMES[name](**config)
        nets = [build_net(config, env) for config in state.data["nets"]]
        for i, net in enumerate(nets):
            net.load_state_dict(strip_prefix(state.tensors, f"{i}."))
        settings = SELFPLAY.load(state.data["settings"], {}, "this run")
        return cls(env, **{**state.data, "nets": nets, "settings": settings, "shares": tuple(state.data["shares"])})


@cache
def build() -> dict[str, str]:
    """Return what a worker must have in common with its run: this program, bit for bit, and versions of libraries."""
    folder, digest = Path(__file__).parents[2], hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {name: installed(name).partition("+")[0] for name in LIBRARIES}
    return {"alphago": digest.hexdigest(), "python": python, **versions}


def check_build(wanted: dict[str, str], *, exact: bool) -> None:
    """Raise WorkerRefused unless this program is the run's; exact: whether its libraries' versions count too."""
    here = build()
    differ = [name for name in wanted if here.get(name) != wanted[name] and (exact or name == "alphago")]
    if differ:
        pairs = ", ".join(f"{name} {wanted[name]}, got {here.get(name)}" for name in differ)
        raise WorkerRefused(f"this worker must have the same versions as the run: {pairs}")


def network_digest(env: GameEnv, evaluator: Evaluator) -> str:
    """Return a hash of a network's outputs, to the last bit, for a few positions of random games."""
    generator, slots, batch = np.random.default_rng(1), np.arange(CHECKED), env.new_batch(CHECKED)
    for ply in range(CHECKED):
        going = slots[ply:]  # so that each game has another length
        going = going[~batch.is_over(going, np.empty(len(going), np.bool_))]
        legal = batch.legal_mask(going, np.empty((len(going), env.action_space), np.bool_))
        batch.play(going, (generator.random(legal.shape) * legal).argmax(axis=1).astype(np.int32))
    slots = slots[~batch.is_over(slots, np.empty(CHECKED, np.bool_))]
    priors, values = np.empty((len(slots), env.action_space), np.float32), np.empty(len(slots), np.float32)
    evaluator.evaluate(batch, slots, priors, values)
    return hashlib.blake2b(priors.tobytes() + values.tobytes(), digest_size=16).hexdigest()
