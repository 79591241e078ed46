"""GroupPlayer: the work of a run's workers: they play the run's groups with a version of the network.

On a GPU they share evaluators, which are reused with the weights of other versions.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple, Self

from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import check_network
from alphago.nn.inference.cpu import compiled_evaluator
from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.inference.hardware import find_device
from alphago.nn.net import NeuralNet
from alphago.nn.threads import own_thread
from alphago.training.group import Group
from alphago.training.workers.task import Played, Task, Version
from alphago.workers.work import RemoteWork, WorkerRefused

MOST_FREE = 8  # evaluators kept for later tasks


class Seat(NamedTuple):
    """An evaluator, and the network whose weights it has."""

    evaluator: DeviceEvaluator
    kind: tuple[object, ...]  # game, config of the network, dtype and device: the weights of such networks fit it
    net: NeuralNet


class GpuSeats:
    """Evaluators that tasks use one after another.

    A new evaluator takes seconds: it chooses a form, and captures a CUDA graph for each size of batch.  New weights
    take milliseconds.
    """

    def __init__(self) -> None:
        self.free: list[Seat] = []  # the most recently used last
        self.lock = threading.Lock()

    @contextmanager
    def taken(self, net: NeuralNet, dtype: str | None, device: str) -> Iterator[DeviceEvaluator]:
        """Lend an evaluator of a network; no other task uses this evaluator within the `with` block.

        dtype, device: as in DeviceEvaluator.
        """
        kind = (net.env, net.config, dtype, device)
        with self.lock:
            fitting = [seat for seat in self.free if seat.kind == kind]
            seat = max(fitting, key=lambda seat: seat.net is net, default=None)  # rather a seat with these weights
            self.free = [other for other in self.free if other is not seat]
        if seat is None:
            evaluator = DeviceEvaluator(net.env, net.base_net, net.value, net.policy, dtype=dtype, device=device)
        else:
            evaluator = seat.evaluator
            if seat.net is not net:
                evaluator.load(net.base_net, net.value, net.policy)
        try:
            yield evaluator
        finally:
            with self.lock:
                self.free = [*self.free, Seat(evaluator, kind, net)][-MOST_FREE:]


SEATS = GpuSeats()


class GroupPlayer(RemoteWork):
    """Plays tasks with the network of a version.

    device: "cpu"; or "cuda", if results need not be equal to the run's to the bit.
    Raises WorkerRefused if the version has a digest for the network's results, and this machine's results differ.
    """

    def __init__(self, version: Version, device: str = "cpu") -> None:
        self.version = version._replace(compiled=b"")  # which is large
        self.device = device
        self.shared: Evaluator | None = None  # on the CPU all tasks share it; on a GPU they borrow evaluators of `net`
        if device == "cpu":
            assert version.net is not None
            self.version = self.version._replace(net=None)
            with own_thread():
                # As the run has compiled it, if this machine can use that form.
                ready = compiled_evaluator(version.env, version.compiled)
                self.shared = ready or version.net.evaluator(version.dtype, exact=True, shared=False)
                if version.check is not None:
                    check_network(version.env, self.shared, version.check)

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        version = Version.from_bytes(data)
        return cls(version, device_for(version, device))

    def evaluator(self) -> AbstractContextManager[Evaluator]:
        """Lend the evaluator of the version's network for one task."""
        if self.shared is not None:
            return nullcontext(self.shared)
        assert self.version.net is not None
        return SEATS.taken(self.version.net, self.version.dtype, self.device)

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        with own_thread():
            played = self.play(Task.from_bytes(job), stop)
        return None if played is None else played.to_bytes()

    def play(self, task: Task, stop: threading.Event) -> Played | None:
        """Play a task's moves until they are played or `stop` is set, and return what was played.

        Returns None if `stop` was set and the search keeps its trees, which another worker would not have: the task
        must then be done again from its beginning.
        """
        version = self.version
        with self.evaluator() as evaluator:
            group = Group(
                version.env,
                evaluator,
                version.settings,
                len(task.state["slots"]),
                seed=version.seed,
                numbers=range(task.state["next"], task.end, task.step),
            )
            group.restore(task.state, iter(task.games))
            group.play(stop)
            if group.left and version.settings.search.keeps_trees:
                return None
            return Played(
                state=group.state(),
                games=group.records(),
                moves=group.moves,
                readouts=group.readouts_done,
                seconds=group.stopwatch.take(),
            )


def device_for(version: Version, device: str) -> str:
    """Return the device on which a worker plays with a version's network.

    device: "cpu", "cuda", or "auto" for the GPU if there is a GPU and the run allows it.
    Raises WorkerRefused for a GPU if games must be equal to the bit to those of a CPU.
    """
    if version.check is None:
        return find_device(version.env, device)
    if device not in ("cpu", "auto"):
        raise WorkerRefused(
            "a worker of this run must be started with --device cpu, since its games must be equal to the bit on all "
            f"workers, got {device}; a run with --max-lag 1, or itself on a GPU, takes workers with GPUs"
        )
    return "cpu"


class ChunkPlayer(GroupPlayer):
    """Plays whole games, on the CPU; a chunk whose worker leaves is played again."""

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        return cls(Version.from_bytes(data))

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        answer = super().do(job, stop)
        return None if stop.is_set() else answer
