"""The time that a run may spend on watched opponents, and `Limit`, the event that ends a time slice."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Clock = Callable[[], float]


class Budget:
    """The time that watching may take, and has taken, in the whole run.

    share: largest share of the run's time for watching, 0 <= share < 1.  clock: returns the time in seconds.
    """

    def __init__(self, share: float, clock: Clock) -> None:
        self.share = share
        self.clock = clock
        self.trained = 0.0  # the run's seconds of training so far; the user of the budget sets it
        self._spent = 0.0
        self._since: float | None = None  # the clock when the present `with` block of `spending` began

    @property
    def spent(self) -> float:
        """Seconds of watching so far."""
        return self._spent + (0.0 if self._since is None else self.clock() - self._since)

    @spent.setter
    def spent(self, seconds: float) -> None:
        self._spent = seconds

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time within the `with` block as spent."""
        self._since = self.clock()
        try:
            yield
        finally:
            self._spent, self._since = self.spent, None

    @property
    def earned(self) -> float:
        """Seconds of watching that `share` allows after `trained` seconds of training."""
        return self.share / (1 - self.share) * self.trained  # `share` of the sum of training and watching

    @property
    def left(self) -> float:
        """Seconds of watching that are allowed now; negative if too many were spent."""
        return self.earned - self.spent

    @property
    def used(self) -> float:
        """The share of the run's time that watching has taken so far, 0 .. 1."""
        return self.spent / max(self.spent + self.trained, 1e-9)


class Limit(threading.Event):
    """An event that counts as set if its `set` was called, if the event `stop` is set, or if `is_over` returns True."""

    def __init__(self, stop: threading.Event, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self.stop, self.is_over = stop, is_over

    def is_set(self) -> bool:
        return super().is_set() or self.stop.is_set() or self.is_over()
