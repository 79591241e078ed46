"""What a worker does with a task: GroupPlayer, which keeps the networks of the latest versions."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from alphago.mcts.evaluator import Evaluator
from alphago.records.record import read_arrays
from alphago.training.group import Group
from alphago.training.runs.state import unpack_arrays
from alphago.training.workers.task import Played, Task, Version, WorkerRefused, network_digest

KEPT_VERSIONS = 3  # whose networks stay compiled: asynchronous tasks may be of different ones


class Compiled(NamedTuple):
    """A version with its networks ready to compute: the run's own, and those of its company."""

    version: Version
    evaluator: Evaluator
    others: tuple[Evaluator, ...]


class GroupPlayer:
    """Does tasks; several threads may call it at the same time.

    fetch: returns the bytes of the version with a name.
    """

    def __init__(self, fetch: Callable[[str], bytes]) -> None:
        self.fetch = fetch
        self.compiled: dict[str, Compiled] = {}  # the latest used last
        self.lock = threading.Lock()

    def play(self, task: Task, stop: threading.Event) -> Played | None:
        """Play a task's moves, or until `stop` is set, and return what was played.

        Returns None if `stop` was set while trees were kept that another worker would not have: the task is then to be
        done again from its beginning.
        Raises WorkerRefused if this machine cannot play the games as the run would.
        """
        version, evaluator, others = self._version(task.version)
        group = Group(
            version.env,
            evaluator,
            version.settings,
            len(task.state["slots"]),
            seed=version.seed,
            numbers=range(task.state["next"], task.end, task.step),
        )
        group.restore(task.state, iter(read_arrays(unpack_arrays(task.games))), evaluator, others, version.shares)
        group.play(stop)
        return None if group.left and version.settings.search.keeps_trees else Played.of(group)

    def _version(self, name: str) -> Compiled:
        with self.lock:
            compiled = self.compiled.pop(name, None) or compile_version(Version.from_bytes(self.fetch(name)))
            self.compiled[name] = compiled
            for old in list(self.compiled)[:-KEPT_VERSIONS]:
                del self.compiled[old]
            return compiled


def compile_version(version: Version) -> Compiled:
    """Make the networks of a version ready to compute; raise WorkerRefused if they compute otherwise than the run's."""
    first, *others = (net.evaluator(version.dtype, exact=True, shared=False) for net in version.nets)
    if version.check not in (None, network_digest(version.env, first)):
        raise WorkerRefused(
            f"this worker must compute the network as the run's machine does, bit for bit: its {version.dtype} gives "
            "other numbers on this processor (synchronous runs need workers of one kind, or selfplay_dtype='float32')"
        )
    return Compiled(version, first, tuple(others))
