"""GroupPlayer: the work of a run's workers, which is to play its groups with a version of the network."""

import threading
from collections.abc import Iterator
from typing import Self

from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import check_network
from alphago.nn.inference.cpu import compiled_evaluator
from alphago.nn.threads import own_thread
from alphago.records.record import read_arrays
from alphago.training.group import Group
from alphago.training.runs.state import unpack_arrays
from alphago.training.workers.task import Played, Task, Version
from alphago.workers.jobs import SealedWork
from alphago.workers.work import RemoteWork


class GroupPlayer(RemoteWork):
    """Plays tasks with the networks of a version; raises WorkerRefused if they compute otherwise than the run's."""

    def __init__(self, version: Version) -> None:
        self.version = version._replace(nets=(), compiled=())
        with own_thread():
            nets = list(evaluators_of(version))
            if version.check is not None:
                check_network(version.env, nets[0], version.check)
        self.evaluator, self.others = nets[0], tuple(nets[1:])

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        return cls(Version.from_bytes(data))

    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        with own_thread():
            played = self.play(Task.from_bytes(job), stop)
        return None if played is None else played.to_bytes()

    def play(self, task: Task, stop: threading.Event) -> Played | None:
        """Play a task's moves, or until `stop` is set, and return what was played.

        Returns None if `stop` was set while trees were kept that another worker would not have: the task is then to be
        done again from its beginning.
        """
        version = self.version
        group = Group(
            version.env,
            self.evaluator,
            version.settings,
            len(task.state["slots"]),
            seed=version.seed,
            numbers=range(task.state["next"], task.end, task.step),
        )
        games = iter(read_arrays(unpack_arrays(task.games)))
        group.restore(task.state, games, self.evaluator, self.others, version.shares)
        group.play(stop)
        return None if group.left and version.settings.search.keeps_trees else Played.of(group)


def evaluators_of(version: Version) -> Iterator[Evaluator]:
    """Yield the evaluators of a version's networks, as the run has compiled them if this machine can use that."""
    for i in range(len(version.nets)):
        ready = compiled_evaluator(version.env, version.compiled[i]) if version.compiled else None
        yield ready or version.nets[i].evaluator(version.dtype, exact=True, shared=False)


class ChunkPlayer(SealedWork):
    """Plays whole games."""

    def __init__(self, player: GroupPlayer) -> None:
        self.player = player

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        return cls(GroupPlayer.from_bytes(data))

    def answer(self, job: bytes, stop: threading.Event) -> bytes | None:
        with own_thread():
            played = self.player.play(Task.from_bytes(job), stop)
        return None if played is None else played._replace(seconds={}).to_bytes()
