"""Where a thread's time goes."""

import contextlib
import threading

from alphago.system.stopwatch import BOARDS, NET, TREE, Stopwatch


class Clock:
    """A clock that tests set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_innermost_counts() -> None:
    watch = Stopwatch(clock := Clock())

    @TREE
    def search() -> str:
        clock.now += 1
        with BOARDS:
            clock.now += 10
        with NET, BOARDS:
            clock.now += 100
        clock.now += 1000
        return "found"

    clock.now = 5
    with watch.running("games"):
        clock.now += 0.5
        assert search() == "found"
        assert watch.take() == {"games": 0.5, "tree": 1001, "boards": 110, "net": 0}
        clock.now += 0.25
    clock.now += 7  # nobody's
    with watch.running("games"):
        clock.now += 0.25
    assert watch.take() == {"games": 0.5}
    with watch.running("games"):
        with contextlib.suppress(ZeroDivisionError), NET:
            clock.now += 1
            raise ZeroDivisionError
        clock.now += 2
    assert watch.take() == {"net": 1, "games": 2}
    assert watch.take() == {}


def test_threads_have_their_own() -> None:
    """A thread without a stopwatch counts nowhere."""
    mine = Stopwatch(clock := Clock())

    def work() -> None:
        with NET:
            clock.now += 1

    with mine.running("other"), TREE:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert mine.take() == {"other": 0, "tree": 1}
