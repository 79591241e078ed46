"""What travels between a run and its workers, as bytes without code, and how a worker plays it.

A task continues a group of games, by the moves that the group's state has left, with a version of the network.  The
task and the version have all that is needed.  So any worker can do a task, and doing it again gives the same answer.
On a GPU each thread has an evaluator, which is reused with the weights of other versions.
"""

import threading
import warnings
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import check_network
from alphago.nn.inference.cpu import compiled_evaluator
from alphago.nn.inference.hardware import find_device
from alphago.nn.net import NeuralNet, net_from_arrays, net_to_arrays
from alphago.nn.threads import own_thread
from alphago.records.record import GameRecord, read_arrays, to_arrays
from alphago.system.settings import from_data, to_data
from alphago.training.group import Group
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.workers.work import RemoteWork, known_game, pack, plain_game, unpack

COMPILED = "compiled"  # name of the array beside those of the network's weights
CPU_ONLY = (
    "this run is played on the CPU, since its games must be equal to the bit; one with --max-lag 1 is played on the GPU"
)
FASTEST = 1  # level of zlib
LOCAL = threading.local()  # on a GPU: the thread's `evaluator`, and the network `net` whose weights it has


class GroupMessage(NamedTuple):
    """A group of games on its way: a task to continue it by the moves left in its state, or the answer.

    Attributes:
        state: the result of `Group.state`; in a task also "end" and "step" of the range of the games' numbers, of which
            state["next"] is the first that has not begun.
        games: the games in progress, in an answer also the finished games.  After the way they have no GameEnv.
        work: in an answer the numbers of "moves" and "readouts", and "seconds" by kind of work; {} in a task.
    """

    state: dict[str, Any]
    games: list[GameRecord]
    work: Mapping[str, Any]

    def to_bytes(self) -> bytes:
        plain = self.state, self.work
        return zlib.compress(pack(plain, to_arrays(self.games)), FASTEST)  # since policies are mostly zeros

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the message that `to_bytes` converted."""
        (state, work), arrays = unpack(zlib.decompress(data))
        return cls(state, read_arrays(arrays), work)


class Version(NamedTuple):
    """A version of a run's network, with all data that its tasks have in common.

    Attributes:
        dtype: dtype of inference.
        seed: the run's seed.
        digest: what `network_digest` must return on a worker; None if any result will do.
        compiled: the result of `compiled_network` for the network; may be left out.
    """

    env: GameEnv
    settings: SelfPlaySettings
    net: NeuralNet
    dtype: str | None
    seed: int
    digest: str | None
    compiled: bytes = b""

    def to_bytes(self) -> bytes:
        """Return the version as bytes; raise ValueError for a network of modules that only this program has."""
        # The rules of the network's game may differ from the run's, and matter: its random games calibrate int8.
        net, weights = net_to_arrays(self.net)
        plain = {"env": plain_game(self.env), "settings": to_data(self.settings), "net": net, "compiled": None}
        return pack(self._asdict() | plain, {**weights, COMPILED: np.frombuffer(self.compiled, np.uint8)})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version that `to_bytes` converted; raise WorkerRefused for a game unknown to this program."""
        fields, weights = unpack(data)
        fields["compiled"] = weights.pop(COMPILED).tobytes()
        fields["env"] = known_game(fields["env"])
        fields["settings"] = from_data(SelfPlaySettings, fields["settings"], given={}, who="this run")
        fields["net"] = net_from_arrays(fields["net"], weights)
        return cls(**fields)


class GroupPlayer(RemoteWork):
    """Plays tasks with the network of a version.

    Args:
        device: "cpu"; or "cuda", if results need not be equal to the run's to the bit.

    Raises:
        WorkerRefused: if the version has a digest for the network's results, and this machine's results differ.
    """

    def __init__(self, version: Version, device: str = "cpu") -> None:
        self.env, self.settings, self.seed = version.env, version.settings, version.seed
        # On a GPU threads have their own; on the CPU all tasks share one, and the network is needed no more.
        self.evaluator: Callable[[], Evaluator] = partial(own_evaluator, version.net, version.dtype, device)
        if device == "cpu":
            with own_thread():
                # As the run has compiled it, if this machine can use that form.
                ready = compiled_evaluator(version.env, version.compiled)
                shared = ready or version.net.evaluator(version.dtype, exact=True, shared=False)
                if version.digest is not None:
                    check_network(version.env, shared, version.digest)
            self.evaluator = lambda: shared

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        version = Version.from_bytes(data)
        if version.digest is None:
            return cls(version, find_device(version.env, device))
        if device == "cuda":
            warnings.warn(CPU_ONLY, stacklevel=2)  # once, not for each version
        return cls(version)

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        with own_thread():
            played = self.play(GroupMessage.from_bytes(job), stop)
        return None if played is None else played.to_bytes()

    def play(self, task: GroupMessage, stop: threading.Event) -> GroupMessage | None:
        """Play a task's moves until they are played or `stop` is set, and return what was played.

        Returns:
            None if `stop` was set and the search keeps its trees, which another worker would not have: the task must
            then be done again from its beginning.
        """
        state = task.state
        width, numbers = len(state["slots"]), range(state["next"], state["end"], state["step"])
        group = Group(self.env, self.evaluator(), self.settings, width, seed=self.seed, numbers=numbers)
        group.restore(state, iter(task.games))
        group.play(stop)
        if group.left and self.settings.search.keeps_trees:
            return None
        work = {"moves": group.moves, "readouts": group.readouts_done, "seconds": group.stopwatch.take()}
        return GroupMessage(group.state(), group.records(), work)


def own_evaluator(net: NeuralNet, dtype: str | None, device: str) -> Evaluator:
    """Return this thread's evaluator on a GPU, with the weights of a network."""
    if getattr(LOCAL, "net", None) is not net:
        before = getattr(LOCAL, "evaluator", None)  # a new one takes seconds, new weights take milliseconds
        LOCAL.evaluator = net.evaluator(dtype, device, shared=False, before=before)
        LOCAL.net = net
    evaluator: Evaluator = LOCAL.evaluator
    return evaluator
