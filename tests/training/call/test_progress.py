"""How much time a run still takes, by a clock that the tests set."""

import math
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alphago import GoEnv, train
from alphago.env.games import selfplay_game
from alphago.system.stopwatch import Stopwatch
from alphago.training.call.progress import RunProgress, SelfPlayProgress
from alphago.training.run import RunCounts
from alphago.training.settings.run_settings import RunSettings
from tests.training.small_runs import TINY, Listener, run_settings

LENGTH = selfplay_game(GoEnv(9)).usual_length


def run_of(settings: RunSettings, **values: Any) -> Any:
    """A run with a clock at 0 that has played nothing."""
    clock = SimpleNamespace(seconds=0.0, remaining=60 * (settings.max_minutes or math.inf))
    memory = SimpleNamespace(added=0, can_learn=False, samples_per_position=settings.memory.samples_per_position)
    stage = SimpleNamespace(memory=memory)
    run = {
        "settings": settings,
        "goal": GoEnv(9),
        "games": 0,
        "counts": RunCounts(),
        "progress": 0.0,
        "is_over": False,
        "learner": SimpleNamespace(steps=0),
        "clock": clock,
        "stage": stage,
        "stopwatch": Stopwatch(),
        "pace": SimpleNamespace(so_far=lambda: (0, 0.0)),
    }
    return SimpleNamespace(**{**run, **values})


SETTINGS = run_settings(num_games=100, games_in_flight=10, batch_size=100, samples_per_position=2.0)


def iteration(seconds: float, games: int, moves: int, steps: int, learning: float) -> dict[str, Any]:
    """Metrics at the end of an iteration that began at 0."""
    counts = {"seconds": seconds, "games": games, "steps": steps, "moves": moves}
    return {**counts, "optimizer_share": learning, "game_length": 50.0}


def test_by_time() -> None:
    run = run_of(run_settings(num_games=None, max_minutes=2.0))
    run.clock.seconds, run.clock.remaining = 30.0, 90.0
    assert RunProgress(run)()[:2] == (0.25, 90.0)


def test_over() -> None:
    """The bar is full, though gradient steps that no longer come are still counted as due."""
    run = run_of(SETTINGS, progress=1.0, games=100)
    run.clock.seconds = 30.0
    progress = SelfPlayProgress(run)
    progress.iteration(iteration(30.0, games=0, moves=5000, steps=0, learning=0.0))
    assert progress()[:2] != (1.0, 0.0)
    run.is_over = True
    assert progress()[:2] == (1.0, 0.0)


def test_unknown_at_first() -> None:
    run = run_of(SETTINGS, progress=0.01)
    assert SelfPlayProgress(run)() == (0.01, None, "", 0.0)


def test_before_the_first_iteration_ends() -> None:
    """What a step takes is not known."""
    run = run_of(SETTINGS, pace=SimpleNamespace(so_far=lambda: (500, 10.0)))
    assert SelfPlayProgress(run).remaining() is None


def test_speeds_and_lengths_of_this_run() -> None:
    run = run_of(SETTINGS)
    progress = SelfPlayProgress(run)
    progress.iteration(iteration(80.0, 20, 1500, 10, 0.25))
    run.clock.seconds, run.stage.memory.added, run.stage.memory.can_learn = 80.0, 1000, True
    length = (20 * 50 + 10 * LENGTH) / 30
    rest = (105 * length - 1500) * 60 / 1500 + (100 * length - 1000) * 2 / 100 * 2.0
    assert progress().remaining == pytest.approx(rest)


def test_any_time_from_any_thread(tmp_path: Path) -> None:
    """A real run is asked all the while; what is left falls to nothing."""
    heard, over = [], threading.Event()

    class Asking(Listener):
        def start(self, folder: Path, settings: dict[str, Any], progress: Any) -> None:
            def ask() -> None:
                while not over.wait(0.001):
                    heard.append(progress())

            self.thread = threading.Thread(target=ask)
            self.thread.start()

        def finish(self, *last: Any) -> None:
            over.set()
            self.thread.join()

    train(GoEnv(3), 4, folder=tmp_path / "run", reports=[Asking()], **TINY)
    assert all(0 <= progress.share <= 1 for progress in heard)
    activities = {"", "playing", "learning", "saving", "preparing the new network"}
    assert {progress.activity for progress in heard} <= activities


def test_by_the_speed_of_games() -> None:
    """Those of the latest iterations; nothing is known before the first one."""
    run = run_of(SETTINGS, progress=0.1)
    progress = RunProgress(run)
    assert progress.remaining() is None
    for number in range(1, 11):
        progress.iteration({"games": 5 * number, "seconds": float(number if number < 5 else 2 * number - 4)})
    assert progress.remaining() == pytest.approx(50 * 12 / 30)
