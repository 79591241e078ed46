"""Where a thread's time goes: each moment counts for the innermost kind of work that the thread is in."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager


class Stopwatch:
    """Seconds by kind of work, for one thread at a time.

    Time inside `with watch.running(...)`, `with NET:` or a function decorated with `@NET` counts for that kind of work,
    or for a kind entered inside it. Entering and leaving a kind together take a microsecond.

    clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = {}
        self._kinds: list[str] = []  # kinds that the thread is in, the innermost last
        self._since = 0.0

    @contextmanager
    def running(self, kind: str) -> Iterator[None]:
        """Count this thread's time within the block: for `kind`, or for the kinds of work entered inside it."""
        before, _thread.watch = _thread.watch, self
        self.enter(kind)
        try:
            yield
        finally:
            self.leave()
            _thread.watch = before

    def enter(self, kind: str) -> None:
        """Begin to count time for `kind`, until the matching `leave`; kinds may be nested."""
        self._count()
        self._kinds.append(kind)

    def leave(self) -> None:
        """End the kind of work entered last; time counts again for the kind that was entered before it."""
        self._count()
        self._kinds.pop()

    def take(self) -> dict[str, float]:
        """Return the seconds of each kind since the last call; no other thread may be using the stopwatch meanwhile."""
        self._count()
        taken, self._seconds = self._seconds, {}
        return taken

    @property
    def current(self) -> tuple[str, float]:
        """The kind of work that counts now ("" for none) and the seconds since it began, for any thread."""
        kinds = self._kinds[-1:]
        return (kinds[0], self._clock() - self._since) if kinds else ("", 0.0)

    def _count(self) -> None:
        now = self._clock()
        if self._kinds:
            kind = self._kinds[-1]
            self._seconds[kind] = self._seconds.get(kind, 0.0) + now - self._since
        self._since = now


class _Thread(threading.local):
    """The stopwatch that is running in each thread."""

    watch: Stopwatch | None = None


_thread = _Thread()


class Work(ContextDecorator):
    """A kind of work, for `with NET:` or `@NET`; without a running stopwatch in the thread it does nothing."""

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
