"""What travels between a run and its workers, as bytes without code, and how a worker plays it.

A task is to play the moves that a group of games has left in an iteration, with a version of the network.  The task and
the version have all that is needed, so any worker can do the task, and doing it again gives the same answer.  On a GPU
each thread keeps one evaluator, which gets the weights of each new version.
"""

import threading
import warnings
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
from alphago.nn.threads import own_thread_settings
from alphago.records.record import GameRecord, read_arrays, to_arrays
from alphago.system.settings import to_data
from alphago.training.group import Group
from alphago.training.settings.saved_settings import from_data
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.workers.work import RemoteWork, known_game, pack, plain_game, unpack

COMPILED = "compiled"  # name of the array beside those of the network's weights
CPU_ONLY = (
    "this run is played on the CPU, since its games must be equal to the bit; one with --max-lag 1 is played on the GPU"
)
LOCAL = threading.local()  # on a GPU: the thread's `evaluator`, and the network `net` whose weights it has


class GroupMessage(NamedTuple):
    """A group of games on its way to a worker, as a task, or back, as the answer.

    Attributes:
        state: the result of `Group.state`, whose "left" is the number of moves to play.  The games that have not begun
            have the numbers range(next, end, step): state["next"], and in a task also state["end"] and state["step"].
        games: the games in progress; in an answer, the finished games follow.  `from_bytes` makes games without a
            GameEnv.
        work: in an answer the numbers of "moves" and "readouts" that were played, and "seconds" by kind of work; {} in
            a task.
    """

    state: dict[str, Any]
    games: list[GameRecord]
    work: Mapping[str, Any]

    def to_bytes(self) -> bytes:
        # Compressed, since policies are mostly zeros.
        return pack((self.state, self.work), to_arrays(self.games), compressed=True)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the message that `to_bytes` converted."""
        (state, work), arrays = unpack(data)
        return cls(state, read_arrays(arrays), work)


class Version(NamedTuple):
    """A version of a run's network, with all data that its tasks have in common.

    Attributes:
        env: the game.
        settings: the settings of self-play.
        dtype: dtype of inference, as in NetEvaluator.
        seed: the run's seed.
        digest: what `network_digest` must return on a worker; None if the network's results may differ there.
        compiled: the result of `compiled_network` for the network, so that workers need not compile it; b"" for none.
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
        # Two games are sent: `env`, and within `net` the network's own game, whose rules may differ from the run's.
        # When a worker makes an evaluator for int8, it plays random games of the network's own game for calibration.
        net, weights = net_to_arrays(self.net)
        arrays = {**weights, COMPILED: np.frombuffer(self.compiled, np.uint8)}
        # In place of the fields that JSON cannot hold; "compiled" is in `arrays`.
        plain = {"env": plain_game(self.env), "settings": to_data(self.settings), "net": net, "compiled": None}
        return pack(self._asdict() | plain, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version that `to_bytes` converted; raise WorkerRefused if this program does not know its game."""
        fields, weights = unpack(data)
        fields["compiled"] = weights.pop(COMPILED).tobytes()  # what is left are the network's weights
        fields["env"] = known_game(fields["env"])
        # `given`: no setting comes from this program instead.  `who`: whose settings they are, for an error's message.
        fields["settings"] = from_data(SelfPlaySettings, fields["settings"], given={}, who="this run")
        fields["net"] = net_from_arrays(fields["net"], weights)
        return cls(**fields)


class GroupPlayer(RemoteWork):
    """The RemoteWork that plays tasks with the network of a version.

    Args:
        device: "cpu"; or "cuda", if games need not be equal to the bit.

    Raises:
        WorkerRefused: if the version has a digest for the network's results, and this machine's results differ.
    """

    def __init__(self, version: Version, device: str = "cpu") -> None:
        self.env, self.settings, self.seed = version.env, version.settings, version.seed
        # `self.evaluator` returns the evaluator for the calling thread.
        if device == "cpu":
            with own_thread_settings():  # torch's settings as in `do`
                # The evaluator as the run has compiled it; None if this machine cannot use that form.
                from_run = compiled_evaluator(version.env, version.compiled)
                # `shared=False`: not for other callers, so the evaluator is not cached with the network.
                one_for_all = from_run or version.net.evaluator(version.dtype, exact=True, shared=False)
                if version.digest is not None:
                    check_network(version.env, one_for_all, version.digest)
            self.evaluator: Callable[[], Evaluator] = lambda: one_for_all  # the same for all threads
        else:
            self.evaluator = partial(own_evaluator, version.net, version.dtype, device)  # one for each thread

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        """Return the player of a Version's bytes, on `device`, or on the CPU if games must be equal to the bit.

        Games must be equal if the version has a digest.  A GPU's results depend on the machine and the batch size.
        """
        version = Version.from_bytes(data)
        if version.digest is None:
            return cls(version, find_device(version.env, device))
        if device == "cuda":
            warnings.warn(CPU_ONLY, stacklevel=2)  # Python shows it once, not for each version
        return cls(version)

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        with own_thread_settings():
            played = self.play(GroupMessage.from_bytes(job), stop)
        return None if played is None else played.to_bytes()

    def play(self, task: GroupMessage, stop: threading.Event) -> GroupMessage | None:
        """Play a task's moves until none is left or `stop` is set; return the answer.

        Returns:
            After `stop`, the group with moves left, which another worker plays.  But None if the search keeps its trees
            between moves: another worker lacks them, and must do the task from its beginning.
        """
        state = task.state
        numbers = range(state["next"], state["end"], state["step"])
        group = Group(self.env, self.evaluator(), self.settings, len(state["slots"]), seed=self.seed, numbers=numbers)
        group.restore(state, iter(task.games))
        group.play(stop)
        if group.left and self.settings.search.keeps_trees:
            return None
        work = {"moves": group.moves, "readouts": group.readouts_done, "seconds": group.stopwatch.take()}
        return GroupMessage(group.state(), group.records(), work)


def own_evaluator(net: NeuralNet, dtype: str | None, device: str) -> Evaluator:
    """Return this thread's evaluator on a GPU, with the weights of a network."""
    if getattr(LOCAL, "net", None) is not net:  # a new thread has no `net` yet
        # The evaluator so far takes the new weights in milliseconds; to make another one takes seconds.
        before = getattr(LOCAL, "evaluator", None)
        LOCAL.net, LOCAL.evaluator = net, net.evaluator(dtype, device, shared=False, before=before)
    evaluator: Evaluator = LOCAL.evaluator
    return evaluator
