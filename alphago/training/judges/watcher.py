"""Opponents watched during a run: a judge that measures the networks' strength and does not influence training.

Watching takes at most a share of the run's time.  Each test is of the present network.  It begins when the share has
earned the time for it; a match has fewer games if the time does not suffice for all.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from alphago.arena.engine import EngineError
from alphago.env.game import GameEnv
from alphago.system.stopwatch import EXAMINATION
from alphago.training.judge import Judge
from alphago.training.judges.watched import Watched
from alphago.training.run import Run

POINTS = 20  # parts of a run, in each of which an opponent tests at most one network
LONGEST = 1 / 8  # share of the run after which a test may begin even if the time suffices only for a part of it
AT_THE_END = 0.25  # share of the watching time that is left to the run's last network
SHORTEST = 0.25  # seconds that must be earned before any test


@dataclass
class WatchTask:
    """A watched opponent, set of records or exam, and what is known of its tests.

    spent: seconds of all its tests.
    tested: the run's progress, 0 .. 1, at the latest test; None before the first.
    network: the run's number of iterations at the latest test; -1 before the first.
    whole, least: seconds of a whole test, and of the smallest part of one, by the latest test.
    """

    watched: Watched
    spent: float = 0.0
    tested: float | None = None
    network: int = -1
    whole: float = 0.0
    least: float = 0.0


SAVED = ("spent", "tested", "network", "whole", "least")


class Watcher(Judge[Run]):
    """The judge that tests a run's networks against `watched` and logs results and games to evaluations.jsonl.

    env: the game of the matches.
    share: largest share of the run's time for watching, 0 <= share < 1.
    clock: returns the time in seconds.
    """

    name = "watch"
    decides = False

    def __init__(
        self,
        env: GameEnv,
        watched: Sequence[Watched],
        share: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.env = env
        self.tasks = [WatchTask(item) for item in watched]
        self.share = share
        self.clock = clock
        self.trained = 0.0  # the run's seconds of training
        self.spent = 0.0  # seconds of watching
        self.tests = 0  # number of tests begun

    @property
    def earned(self) -> float:
        """Seconds of watching that `share` allows so far."""
        return self.share / (1 - self.share) * self.trained  # `share` of the sum of training and watching

    @property
    def left(self) -> float:
        """Seconds of watching that are allowed before the run's end; negative if more were spent."""
        return (1 - AT_THE_END) * self.earned - self.spent

    def due(self, run: Run) -> bool:
        """Return whether a test should begin."""
        self.trained = run.clock.seconds
        if run.is_over:
            return any(task.network != run.counts.iterations for task in self.tasks)
        return self.next_task(run.progress) is not None

    def next_task(self, progress: float) -> WatchTask | None:
        """Return the task with the least time spent of those that have tested no network in this part of the run.

        Returns None if there is none, or if the time for its test is not earned: that of a whole test, or once LONGEST
        of the run has passed since the latest test, that of the smallest part.

        progress: the run's progress, 0 .. 1; a prolonged run has less than before.
        """
        part = int(POINTS * progress)
        waiting = [task for task in self.tasks if task.tested is None or int(POINTS * task.tested) != part]
        if not waiting:
            return None
        task = min(waiting, key=lambda task: task.spent)
        was_lately = task.tested is not None and task.tested <= progress < task.tested + LONGEST
        price = task.whole if was_lately else task.least
        return task if self.left >= max(SHORTEST, price) else None

    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Run the tests that are due, with the run's clock stopped; return False if `stop` was set first."""
        self.trained = run.clock.seconds
        standing, progress = run.standing, run.progress
        tests = self.last_tests(run.counts.iterations) if run.is_over else self.due_tests(progress)
        with run.clock.stopped(), EXAMINATION:
            for task, seconds in tests:
                if not self.test(task, run, standing, seconds, stop):
                    return False
                task.tested, task.network = progress, run.counts.iterations
        return True

    def due_tests(self, progress: float) -> Iterable[tuple[WatchTask, float]]:
        """Yield each task whose test is due, with the seconds that the test may take."""
        while (task := self.next_task(progress)) is not None:
            yield task, self.left

    def last_tests(self, network: int) -> Iterable[tuple[WatchTask, float]]:
        """Yield the tasks that have not tested the run's last network, each with an equal part of the time left.

        Tasks of quick tests come first: what they leave of their parts is divided among the others.

        network: the run's number of iterations.
        """
        tasks = [task for task in self.tasks if task.network != network]
        for number, task in enumerate(sorted(tasks, key=lambda task: task.whole)):
            yield task, (self.earned - self.spent) / (len(tasks) - number)

    def test(
        self, task: WatchTask, run: Run, standing: Mapping[str, float], seconds: float, stop: threading.Event
    ) -> bool:
        """Test the network that self-play uses, and log the result; return False if `stop` was set first.

        standing: `Run.standing` before the test.  seconds: the time that the test may take.
        """
        began = self.clock()
        self.tests += 1
        failure, result = "", None
        try:
            evaluator = run.match_evaluator(run.player, self.env)
            result = task.watched.test(
                evaluator, run.device, seed=self.tests, left=lambda: began + seconds - self.clock(), stop=stop
            )
        except EngineError as error:
            failure = f"watching {task.watched.name} failed, after {self.trained / 60:.1f} minutes: {error}"
        took = self.clock() - began
        self.spent += took
        counted = took if task.tested is not None else min(took, SHORTEST)  # the first test may have compiled
        task.spent += counted
        if failure:
            run.note(failure)
        if result is None:
            return not stop.is_set()
        task.whole, task.least = counted / result.part, counted / result.part * result.least
        times = {"match_seconds": took, "watch_seconds": self.spent}
        run.add_match({**standing, "judge": self.name, **result.row, **times})
        after = f"{standing['seconds'] / 60:.1f} minutes and {standing['games']:.0f} games"
        run.note(f"{task.watched.name} after {after}: {result.summary}")
        return True

    def conclusion(self, longer: str) -> str:
        """Return a sentence that tells how much time watching took."""
        used = self.spent / max(self.spent + self.trained, 1e-9)
        return f"watching took {self.spent:.1f} s, {used:.1%} of the time (at most {self.share:.1%} was asked for)"

    def state(self) -> dict[str, Any]:
        """Return the time spent, and what is known of each task, as plain data."""
        tasks = {task.watched.name: {name: getattr(task, name) for name in SAVED} for task in self.tasks}
        return {"spent": self.spent, "tests": self.tests, "tasks": tasks}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `state`; do nothing if it is None.

        An opponent that was added since then starts with the smallest `spent` of all saved tasks, so that it gets no
        more time than they do.
        """
        if state is None:
            return
        self.spent, self.tests = state["spent"], state["tests"]
        least = min((saved["spent"] for saved in state["tasks"].values()), default=0.0)
        for task in self.tasks:
            for name, value in state["tasks"].get(task.watched.name, {"spent": least}).items():
                setattr(task, name, value)
