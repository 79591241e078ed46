"""Training time, and when to save: by a clock that a test moves."""

import signal
import threading
from collections.abc import Iterator

import pytest

from alphago.training import run_clock
from alphago.training.call.signals import stopped_at, stopped_by_interrupt
from alphago.training.run_clock import RunClock, SavingTimes


class Time:
    """The time and the processor time that clocks are given, in place of the modules that measure them."""

    now = 1000.0
    worked = 50.0
    compiled = 7.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.worked

    @property
    def spent(self) -> tuple[float, float]:
        return self.compiled, self.compiled / 2


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    stand_in = Time()
    monkeypatch.setattr(run_clock, "time", stand_in)
    monkeypatch.setattr(run_clock, "compiling_time", stand_in)
    return stand_in


def test_a_limit(time: Time) -> None:
    run = RunClock(minutes=2.0)
    assert (run.seconds, run.is_over, run.deadline) == (0.0, False, 1120.0)
    time.now += 30
    assert (run.seconds, run.is_over, run.deadline) == (30.0, False, 1120.0)
    run.go_on_from(90.0)  # as a run that goes on
    assert (run.seconds, run.is_over, run.deadline) == (90.0, False, 1060.0)
    time.now += 30
    assert (run.is_over, run.progress) == (True, 1.0)  # although its first iteration is not


def test_a_limit_of_the_processor(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes: schedules and the end follow the processor, and the deadline is no later than the end."""
    monkeypatch.setattr(run_clock, "available_cores", lambda: 2)
    run = RunClock(1.0, by_processor=True)
    assert (run.is_over, run.remaining, run.deadline) == (False, 60.0, 1030.0)
    time.now, time.worked, time.compiled = time.now + 100, time.worked + 30, time.compiled + 20
    assert (run.processor, run.progress, run.is_over) == (20.0, 0.0, False)
    run.end_iteration()
    time.now, time.worked = time.now + 1000, time.worked + 20
    assert (run.ready, run.progress, run.is_over, run.deadline) == (20.0, 0.5, False, 2110.0)
    assert 500 < run.remaining < 550  # at 40 of 1080 seconds
    other = RunClock(2.0, by_processor=False)
    other.restore({"seconds": 5.0, "processor": 90.0, "ready": 30.0})  # it was limited by the processor before
    assert other.ready == 5.0
    time.worked += 20
    assert (run.is_over, run.progress) == (True, 1.0)


def test_schedules_begin_when_kernels_are_compiled(time: Time) -> None:
    run = RunClock(minutes=2.0)
    time.now += 40
    assert run.progress == 0.0
    run.end_iteration()
    assert (run.ready, run.progress) == (40.0, 0.0)
    time.now += 20
    run.end_iteration()  # they have begun
    assert run.progress == 0.25
    time.now += 61
    assert run.progress == 1.0
    run.go_on_from(30.0)  # a run whose clock was set back
    assert run.progress == 0.0


def test_compiling_is_no_training_time(time: Time) -> None:
    """With nothing compiled the first iteration may take longer than the whole run."""
    run = RunClock(minutes=1.0)
    time.now += 74
    time.compiled += 70
    assert (run.seconds, run.is_over, run.deadline) == (4.0, False, 1130.0)
    run.end_iteration()
    assert (run.seconds, run.ready, run.deadline) == (4.0, 4.0, 1130.0)
    time.now += 28
    time.compiled += 28  # what an opponent needs later counts as its time
    assert (run.seconds, run.progress) == (32.0, 0.5)
    again = RunClock(minutes=1.0)  # the run goes on, on another machine
    again.restore(run.state())
    time.now += 50
    time.compiled += 45
    assert (again.seconds, again.ready, again.progress) == (37.0, 4.0, 33 / 56)
    again.end_iteration()
    assert again.seconds == 37.0


def test_it_stands_still(time: Time) -> None:
    """Of time and processor time, also where an exception ends that; a run goes on from both in another process."""
    run = RunClock(minutes=1.0)

    def interrupted() -> None:
        with run.not_counting():
            time.now, time.worked = time.now + 500, time.worked + 100
            raise KeyboardInterrupt

    time.now, time.worked = time.now + 10, time.worked + 7
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    time.now, time.worked = time.now + 5, time.worked + 5
    assert (run.seconds, run.processor, run.deadline) == (15.0, 12.0, 1560.0)
    run.go_on_from(90.0, 30.0)
    time.worked += 1
    assert run.processor == 31.0


def test_once_a_minute(time: Time) -> None:
    saving = SavingTimes()
    assert saving.next == time.now + 60
    for took, pause in ((1, 60), (10, 500)):  # less often where it takes long
        saving.schedule_next(began=time.now - took)
        assert saving.next == time.now + pause


SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.fixture
def handlers() -> Iterator[None]:
    """Those of a new process; after the test those of before."""
    before = [signal.signal(number, signal.SIG_DFL) for number in SIGNALS]
    yield
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_ends_the_process(number: int) -> None:
    """After the block, in which everything is saved; nohup's wish is respected."""
    stop, saved = threading.Event(), []

    def save_and_end() -> None:
        with stopped_by_interrupt(stop):
            signal.raise_signal(number)
            saved.append(stop.wait(60))

    with pytest.raises(SystemExit) as end:
        save_and_end()
    assert (end.value.code, saved, signal.getsignal(number)) == (128 + number, [True], signal.SIG_DFL)
    signal.signal(number, signal.SIG_IGN)
    with stopped_by_interrupt(threading.Event()):
        assert signal.getsignal(number) == signal.SIG_IGN


def test_a_deadline_stops() -> None:
    stop = threading.Event()
    with stopped_at(None, stop), stopped_at(0.0, stop):
        assert stop.wait(60)
