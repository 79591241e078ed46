"""Where a thread's time goes: every moment counts for one kind of work, the innermost that it is in."""

import threading
import time
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager


class Stopwatch:
    """Seconds by kind of work, of one thread at a time.

    `running` lets a thread's time count here; within it, `with NET:` or a function with `@NET` counts for that kind.
    Beginning and ending one takes a microsecond together.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._kinds: list[str] = []  # that the thread is in, the innermost last
        self._since = 0.0

    @contextmanager
    def running(self, kind: str) -> Iterator[None]:
        """Counts this thread's time within the block, for `kind` where it is in no other one."""
        before, _thread.watch = _thread.watch, self
        self.enter(kind)
        try:
            yield
        finally:
            self.leave()
            _thread.watch = before

    def enter(self, kind: str) -> None:
        """From now on the time counts for this kind of work."""
        self._count()
        self._kinds.append(kind)

    def leave(self) -> None:
        """From now on the time counts for the kind from before the last `enter`."""
        self._count()
        self._kinds.pop()

    def take(self) -> dict[str, float]:
        """The seconds of each kind since the last call; by the thread that is watched, or while none is."""
        self._count()
        taken, self._seconds = self._seconds, {}
        return taken

    def _count(self) -> None:
        now = time.perf_counter()
        if self._kinds:
            kind = self._kinds[-1]
            self._seconds[kind] = self._seconds.get(kind, 0.0) + now - self._since
        self._since = now


class _Thread(threading.local):
    """What each thread has of its own."""

    watch: Stopwatch | None = None


_thread = _Thread()


class Work(ContextDecorator):
    """A kind of work: `with NET:` or `@NET`.  Does nothing in a thread whose time nobody counts."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        if _thread.watch is not None:
            _thread.watch.enter(self.name)

    def __exit__(self, *_: object) -> None:
        if _thread.watch is not None:
            _thread.watch.leave()


NET = Work("net")  # inference for self-play
TREE = Work("tree")  # choosing leaves, expanding them, backing up
BOARDS = Work("boards")  # moves, legal moves and planes
TRANSFER = Work("transfer")  # between the CPU and a device, and waiting for it
OPTIMIZER = Work("optimizer")  # gradient steps
SAMPLING = Work("sampling")  # the replay memory: putting games in, and waiting for a batch
PUBLISHING = Work("publishing")  # making the snapshot that plays
SAVING = Work("saving")  # checkpoints
