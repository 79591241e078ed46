"""How much time a run still takes, by a clock that the tests set."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from alphago.system.stopwatch import Stopwatch
from alphago.training.call.progress import remaining, run_progress
from alphago.training.settings.run_settings import RunSettings
from tests.training.small_runs import run_settings


def run_of(settings: RunSettings, **values: Any) -> Any:
    """A run with a clock at 0 that has played nothing."""
    reporter = SimpleNamespace(diagnosis=SimpleNamespace(rows=[]))
    clock = SimpleNamespace(seconds=0.0, remaining=60 * (settings.max_minutes or math.inf))
    counts = {"games": 0, "progress": 0.0, "is_over": False, **values}
    return SimpleNamespace(settings=settings, clock=clock, stopwatch=Stopwatch(), reporter=reporter, **counts)


SETTINGS = run_settings(num_games=100)


def test_by_time() -> None:
    run = run_of(run_settings(num_games=None, max_minutes=2.0))
    run.clock.seconds, run.clock.remaining = 30.0, 90.0
    assert run_progress(run)[:2] == (0.25, 90.0)


def test_over() -> None:
    """The bar is full, though games are left that are never played."""
    run = run_of(SETTINGS, progress=1.0, games=50)
    run.clock.seconds = 30.0
    run.reporter.diagnosis.rows += [{"games": 50, "seconds": 30.0}, {"games": 60, "seconds": 40.0}]
    assert run_progress(run)[:2] != (1.0, 0.0)
    run.is_over = True
    assert run_progress(run)[:2] == (1.0, 0.0)


def test_unknown_at_first() -> None:
    run = run_of(SETTINGS, progress=0.01)
    assert run_progress(run) == (0.01, None, "", 0.0)


def test_by_the_speed_of_games() -> None:
    """Those of the latest iterations; nothing is known before the second one."""
    run = run_of(SETTINGS, progress=0.1)
    rows = run.reporter.diagnosis.rows
    for number in range(1, 31):
        rows.append({"games": 3 * number, "seconds": float(number if number < 10 else 2 * number - 10)})
        assert (remaining(run) is None) == (number == 1)
    run.games = 90
    assert remaining(run) == pytest.approx(10 * 40 / 60)
