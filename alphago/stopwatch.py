"""Where a thread's time goes: every moment counts for one part of the work, the innermost that the thread is in."""

import threading
import time
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager


class Stopwatch:
    """Seconds by part of the work, of one thread at a time.

    `running` lets a thread's time count here; within it, `with NET:` or a function with `@NET` counts for that part.
    Changing the part takes about half a microsecond.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._parts: list[str] = []  # that the thread is in, the innermost last
        self._since = 0.0

    @contextmanager
    def running(self, part: str) -> Iterator[None]:
        """Counts this thread's time within the block, for `part` where it is in no other one."""
        before, _thread.watch = _thread.watch, self
        self.enter(part)
        try:
            yield
        finally:
            self.leave()
            _thread.watch = before

    def enter(self, part: str) -> None:
        """From now on the time counts for this part."""
        self._count()
        self._parts.append(part)

    def leave(self) -> None:
        """From now on the time counts for the part from before the last `enter`."""
        self._count()
        self._parts.pop()

    def take(self) -> dict[str, float]:
        """The seconds of each part since the last call; by the thread that is watched, or while none is."""
        self._count()
        taken, self._seconds = self._seconds, {}
        return taken

    def _count(self) -> None:
        now = time.perf_counter()
        if self._parts:
            part = self._parts[-1]
            self._seconds[part] = self._seconds.get(part, 0.0) + now - self._since
        self._since = now


class _Thread(threading.local):
    """What each thread has of its own."""

    watch: Stopwatch | None = None


_thread = _Thread()


class Part(ContextDecorator):
    """A part of the work: `with NET:` or `@NET`.  Does nothing in a thread whose time nobody counts."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        if _thread.watch is not None:
            _thread.watch.enter(self.name)

    def __exit__(self, *_: object) -> None:
        if _thread.watch is not None:
            _thread.watch.leave()


NET = Part("net")  # inference for self-play
TREE = Part("tree")  # choosing leaves, expanding them, backing up
BOARDS = Part("boards")  # moves, legal moves and planes
TRANSFER = Part("transfer")  # between the CPU and a device, and waiting for it
OPTIMIZER = Part("optimizer")  # gradient steps
SAMPLING = Part("sampling")  # the replay memory: putting games in, and waiting for a batch
PUBLISHING = Part("publishing")  # making the snapshot that plays
SAVING = Part("saving")  # checkpoints
