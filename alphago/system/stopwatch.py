"""Measure a thread's time by kind of work; if kinds are nested, time counts for the innermost one."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager


class Stopwatch:
    """A measurement of one thread's seconds by kind of work.

    Within `with watch.running(kind):` time counts for `kind`.  NET, below, is a Work: while a nested block `with NET:`
    or a function decorated with `@NET` runs, time counts for "net" instead.  Entering and leaving a kind takes a
    microsecond.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = {}
        self._kinds: list[str] = []  # the nested kinds of work, innermost last
        self._counted_until = 0.0  # by `_clock`; the time after it is not yet in `_seconds`

    @contextmanager
    def running(self, kind: str) -> Iterator[None]:
        """Measure this thread's time within the `with` block; it counts for `kind` where no Work is entered."""
        outer = _thread.watch  # measures again after the block
        _thread.watch = self  # Work measures with this watch
        self.enter(kind)
        try:
            yield
        finally:
            self.leave()
            _thread.watch = outer

    def enter(self, kind: str) -> None:
        """Count time for `kind` until the matching `leave`; kinds may be nested.  Work calls this."""
        self._count()
        self._kinds.append(kind)

    def leave(self) -> None:
        """End the innermost kind of work; time counts again for the kind around it."""
        self._count()
        self._kinds.pop()

    def take(self) -> dict[str, float]:
        """Return the seconds by kind of work since the last call; no other thread may use the stopwatch meanwhile."""
        self._count()
        taken, self._seconds = self._seconds, {}
        return taken

    @property
    def current(self) -> tuple[str, float]:
        """The innermost kind of work ("" for none), and the seconds since it began or went on after a nested kind.

        Any thread may read it.
        """
        kinds = self._kinds[-1:]  # [] for none: the thread may enter and leave kinds meanwhile
        return (kinds[0], self._clock() - self._counted_until) if kinds else ("", 0.0)

    def _count(self) -> None:
        """Add the time since the last call to the innermost kind of work."""
        now = self._clock()
        if self._kinds:
            kind = self._kinds[-1]
            self._seconds[kind] = self._seconds.get(kind, 0.0) + now - self._counted_until
        self._counted_until = now


class _Thread(threading.local):
    """Thread-local storage of the stopwatch that is running in each thread."""

    watch: Stopwatch | None = None


_thread = _Thread()


class Work(ContextDecorator):
    """A kind of work, used as `with NET:` or `@NET`; it does nothing if no stopwatch is running in the thread."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        if _thread.watch is not None:
            _thread.watch.enter(self.name)

    def __exit__(self, *_: object) -> None:
        if _thread.watch is not None:
            _thread.watch.leave()


NET = Work("net")  # inference for self-play
TREE = Work("tree")  # selection, expansion and backup in search trees
BOARDS = Work("boards")  # moves, legal moves and planes
TRANSFER = Work("transfer")  # copies between the CPU and a device, and waiting for them
OPTIMIZER = Work("optimizer")  # gradient steps
SAMPLING = Work("sampling")  # adding games to the replay memory, and waiting for a batch from it
PUBLISHING = Work("publishing")  # making the network's frozen copy for self-play
SAVING = Work("saving")  # checkpoints
PLAYING = Work("playing")  # the run's main thread waits for the threads of self-play
MATCHES = Work("matches")  # matches of the gate
EXAMINATION = Work("examination")  # judges other than the gate; not part of the training time
GAMES = Work("games")  # self-play's threads between searches: choosing moves, making records
