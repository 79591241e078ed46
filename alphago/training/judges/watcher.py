"""Opponents watched during a run: a judge that measures the networks' strength and does not influence training.

Watching takes at most a share of the run's time.  An examination, the test of one network against one opponent, is done
in time slices between iterations: each slice ends when the time that the share allows so far is used up.  Its games
pause between two moves and continue in the next slice, perhaps many iterations later, with the same network.  So a long
examination, too, tests a single network, even the untrained one, and does not exceed the share.
"""

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from alphago.arena.engine import EngineError
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.parts import numbered_tensors, strip_prefix
from alphago.system.cores import available_cores
from alphago.system.stopwatch import EXAMINATION
from alphago.training.judge import Judge
from alphago.training.judges.budget import Budget, Clock, Limit
from alphago.training.judges.watched import Examination, Watched, make_watched
from alphago.training.run import Run
from alphago.training.watch_names import WatchList

POINTS = 20  # parts of a run, in each of which an examination may begin; so the most examinations per opponent
LONGEST = 1 / 8  # share of the run that an examination may last; then it ends with the units completed so far
AT_THE_END = 0.25  # share of the watching time that is reserved for the run's last network
SPARE = 0.03  # share of the watching time that stays unused, because a slice ends only after the move in progress
SHORTEST = 0.25  # seconds of the shortest time slice
SIDE_BY_SIDE = 2.0  # about the seconds that units in parallel take together: many quick units, or few slow units
PREFIX = "watch."  # prefix of the tensors' names in a run's state


@dataclass
class WatchTask:
    """A watched opponent, set of records or exam, the time spent on it, and its examination in progress.

    spent: seconds of all its examinations so far.
    cost: seconds per completed unit (see `Examination`) of its latest examination; 0 while unknown.
    begun: the run's progress, 0 .. 1, when its latest examination began; None before the first.
    examination: the examination in progress; None between two examinations.
    seed: random seed of the latest examination.
    network: key, in Watcher.networks, of the network that the latest examination tests.
    standing: `Run.standing` when the latest examination began.
    seconds: seconds of the latest examination so far.
    """

    watched: Watched
    spent: float = 0.0
    cost: float = 0.0
    begun: float | None = None
    examination: Examination | None = None
    seed: int = 0
    network: int = 0
    standing: Mapping[str, float] | None = None
    seconds: float = 0.0


SAVED = ("spent", "cost", "begun", "seed", "network", "standing", "seconds")


@dataclass(frozen=True)
class Watch:
    """The settings of a Watcher: what tests the run's networks, and the largest share of the run's time for it."""

    watched: Sequence[Watched]
    share: float
    chooses = False

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "Watcher":
        """Return the judge that tests a run's networks for `env`."""
        return Watcher(env, self.watched, self.share, at_once=max(1, available_cores() // 2))


def watch_of(watch: WatchList | None, env: GameEnv) -> Watch | None:
    """Return what tests a run's networks by the setting `watch`; None for nothing.  Raises as `make_watched` does."""
    return None if watch is None else Watch(make_watched(watch.opponents, env), watch.share)


class Watcher(Judge[Run]):
    """The judge that tests a run's networks against `watched` and logs results and games to evaluations.jsonl.

    env: the game of the matches.
    share: largest share of the run's time for watching, 0 <= share < 1.
    at_once: number of units (see `Examination`) to run in parallel so that all cores are busy.
    clock: returns the time in seconds.
    """

    name = "watch"
    decides = False

    def __init__(
        self, env: GameEnv, watched: Sequence[Watched], share: float, *, at_once: int = 1, clock: Clock = time.monotonic
    ) -> None:
        self.env = env
        self.tasks = [WatchTask(item) for item in watched]
        self.budget = Budget(share, clock)
        self.at_once = at_once
        self.examinations_begun = 0  # number of examinations begun so far
        self.progress = 0.0  # the run's progress, 0 .. 1
        # The run's number of iterations when the examinations of its last network began; None before that.
        self.ending: int | None = None
        # The networks under examination, by the run's number of iterations when the first examination began.
        self.networks: dict[int, NeuralNet] = {}
        self._evaluators: dict[int, Evaluator] = {}

    # --- when ---

    def due(self, run: Run) -> bool:
        """Return whether an examination should begin, or an examination in progress may have a time slice."""
        self.budget.trained = run.clock.seconds
        if run.is_over:
            return self.ending != run.counts.iterations or any(task.examination for task in self.tasks)
        return any(self.is_due(task, run) for task in self.tasks) or self.next_task() is not None

    def is_due(self, task: WatchTask, run: Run) -> bool:
        """Return whether the next examination of `task` should begin.

        The run is divided into POINTS equal parts.  An examination begins when the run enters a new part, or once the
        task's previous examination has ended, if that is later.  So all opponents whose examinations end in time test
        the same network and share its evaluator.
        """
        if task.examination is not None:
            return False
        return task.begun is None or int(POINTS * task.begun) != int(POINTS * run.progress)

    def next_task(self) -> WatchTask | None:
        """Return the task that gets the next time slice: the one with the least time spent.

        Returns None if no examination is in progress, or if the time left is less than the shortest time slice.  Time
        that is reserved for the run's last network does not count as left.
        """
        tasks = [task for task in self.tasks if task.examination is not None]
        reserve = self.budget.earned * AT_THE_END
        if not tasks or self.budget.left - reserve < SHORTEST:
            return None
        return min(tasks, key=lambda task: task.spent)

    # --- examinations ---

    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Begin the examinations and run the time slices that are due, with the run's clock stopped.

        Returns False if `stop` was set first.
        """
        self.budget.trained = run.clock.seconds
        standing = run.standing
        self.progress = run.progress
        at_the_end = run.is_over
        due = [task for task in self.tasks if self.is_due(task, run)]
        if at_the_end:
            has_begun = self.ending == run.counts.iterations
            due = [] if has_begun else self.tasks
            self.ending = run.counts.iterations
        with run.clock.stopped(), EXAMINATION, self.budget.spending():
            for task in due:
                self.end_examination(task, run)
                self.begin(task, run, standing)
            return self.end(run, stop) if at_the_end else self.spend(run, stop)

    def spend(self, run: Run, stop: threading.Event) -> bool:
        """Continue examinations until the time allowed so far is used up, but keep the reserve for the last network.

        Returns False if `stop` was set first.
        """
        while (task := self.next_task()) is not None:
            self.go_on(task, run, stop, reserve=self.budget.earned * AT_THE_END)
            if stop.is_set():
                return False
        return True

    def end(self, run: Run, stop: threading.Event) -> bool:
        """Examine the run's last network in the remaining time, divided equally among the tasks.

        Returns False if `stop` was set first.
        """
        spare = SPARE * self.budget.earned
        # Tasks of quick units first: what they leave of their share is divided among the others.
        for task in sorted(self.tasks, key=lambda task: task.cost):
            if task.examination is not None and self.budget.left > spare:
                self.evaluator(task.network, run)  # created before the time is divided, since all tasks share it
                tasks_left = sum(other.examination is not None for other in self.tasks)  # this task included
                for_other_tasks = (self.budget.left - spare) * (tasks_left - 1) / tasks_left
                self.go_on(task, run, stop, reserve=spare + for_other_tasks, at_the_end=True)
            if stop.is_set():
                return False
            if task.examination is not None and not task.examination.completed:
                run.note(f"{task.watched.name} had no time for the last network: a larger watch_share gives it more")
            self.end_examination(task, run)
        return True

    def begin(self, task: WatchTask, run: Run, standing: Mapping[str, float]) -> None:
        """Begin the task's examination of the network that self-play uses now.

        standing: the value of `run.standing`.
        """
        if run.counts.iterations not in self.networks:
            net_for_board = run.player if run.env == self.env else run.player.resized(self.env)
            self.networks[run.counts.iterations] = frozen_copy(net_for_board)
        self.examinations_begun += 1
        task.begun = self.progress
        task.seed = self.examinations_begun
        task.network = run.counts.iterations
        task.standing = standing
        task.seconds = 0.0
        task.examination = task.watched.examination(task.seed, run.device)

    def go_on(
        self, task: WatchTask, run: Run, stop: threading.Event, *, reserve: float, at_the_end: bool = False
    ) -> None:
        """Continue a task's examination until it is over, `stop` is set, or only the reserve of the budget is left.

        reserve: seconds of the budget to leave.
        at_the_end: whether to start no more units than the remaining time is likely to complete.
        """
        examination = task.examination
        assert examination is not None
        evaluator = self.evaluator(task.network, run)
        began = self.budget.spent
        at_once = self._units_at_once(task.cost, self.budget.left - reserve if at_the_end else math.inf)
        failure = ""
        try:
            limit = Limit(stop, lambda: self.budget.left <= reserve)
            while not (limit.is_set() or examination.is_over or self.is_late(task)):
                examination.go_on(evaluator, at_once, limit)
        except EngineError as error:
            failure = f"watching {task.watched.name} failed, after {self.budget.trained / 60:.1f} minutes: {error}"
        seconds = self.budget.spent - began
        compiles = not task.spent  # the first slice: the time of compiling does not count
        task.spent += min(seconds, SHORTEST) if compiles else seconds
        task.seconds += seconds
        if examination.completed:
            task.cost = task.seconds / examination.completed
        if failure:
            run.note(failure)
            self.drop(task)
        elif examination.is_over or self.is_late(task):
            self.end_examination(task, run)

    def _units_at_once(self, cost: float, available: float) -> int:
        """Return the number of units to run in parallel: many quick units, or few slow units.

        cost: seconds per unit; 0 while unknown.  available: seconds in which the units are to be completed.
        """
        if not cost:
            return self.at_once
        at_once = max(self.at_once, int(SIDE_BY_SIDE / cost))
        return max(1, int(min(at_once, available / cost)))

    def is_late(self, task: WatchTask) -> bool:
        """Return whether a task's examination has taken longer than LONGEST, and can end with its completed units."""
        examination, begun = task.examination, task.begun
        if examination is None or begun is None:
            return False
        can_end = examination.completed > 0 and examination.at_rest
        is_in_time = begun <= self.progress < begun + LONGEST  # a prolonged run has less progress than before
        return can_end and not is_in_time

    def evaluator(self, network: int, run: Run) -> Evaluator:
        """Return the evaluator of a network under examination, creating it on the first call.

        network: the network's key in `networks`.
        """
        if network not in self._evaluators:
            self._evaluators[network] = self.networks[network].evaluator(run.inference_dtype, run.device, shared=False)
        return self._evaluators[network]

    def end_examination(self, task: WatchTask, run: Run) -> None:
        """End a task's examination, and log and report its result if it completed a unit."""
        examination, standing = task.examination, task.standing
        row = None if examination is None else examination.row()
        if examination is not None and standing is not None and row is not None:
            times = {"match_seconds": task.seconds, "watch_seconds": self.budget.spent}
            run.add_match({**standing, "judge": self.name, **row, **times})
            after = f"{standing['seconds'] / 60:.1f} minutes and {standing['games']:.0f} games"
            run.note(f"{task.watched.name} after {after}: {examination.summary()}")
        self.drop(task)

    def drop(self, task: WatchTask) -> None:
        """Discard a task's examination, and its network unless another examination uses it."""
        if task.examination is not None:
            task.examination.close()
            task.examination = None
        needed = {other.network for other in self.tasks if other.examination is not None}
        for by_number in (self.networks, self._evaluators):
            for number in by_number.keys() - needed:
                del by_number[number]

    def close(self) -> None:
        """Discard all examinations without a report; those in the run's saved state continue when it is resumed."""
        for task in self.tasks:
            self.drop(task)

    def conclusion(self, longer: str) -> str:
        """Return a sentence that tells how much time watching took."""
        return (
            f"watching took {self.budget.spent:.1f} s, {self.budget.used:.1%} of the time "
            f"(at most {self.budget.share:.1%} was asked for)"
        )

    # --- saved state ---

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights of the networks under examination, by name, not copied."""
        return numbered_tensors(self.networks, PREFIX)

    def state(self) -> dict[str, Any]:
        """Return the time spent, and each task with the completed units of its examination, as plain data."""
        tasks = {
            task.watched.name: {
                **{name: getattr(task, name) for name in SAVED},
                "examination": None if task.examination is None else task.examination.state(),
            }
            for task in self.tasks
        }
        return {"spent": self.budget.spent, "begun": self.examinations_begun, "ending": self.ending, "tasks": tasks}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue the saved tasks from `tensors` and `state`; do nothing if `state` is None.

        An opponent that was added since the state was saved starts with the smallest `spent` of all saved tasks, so
        that it gets no more time slices than the saved tasks.
        """
        if state is None:
            return
        self.budget.spent, self.examinations_begun, self.ending = state["spent"], state["begun"], state["ending"]
        saved_tasks = state["tasks"]
        known = [task for task in self.tasks if task.watched.name in saved_tasks]
        for task in known:
            values = saved_tasks[task.watched.name]
            for name in SAVED:
                setattr(task, name, values[name])
            if values["examination"] is not None:
                task.examination = task.watched.examination(task.seed, run.device, values["examination"])
                self._restore_network(task.network, run, tensors)
        least = min((task.spent for task in known), default=0.0)
        for task in self.tasks:
            if task not in known:
                task.spent = least
                self.ending = None  # the new opponent has not examined the last network

    def _restore_network(self, number: int, run: Run, tensors: Mapping[str, torch.Tensor]) -> None:
        if number not in self.networks:
            net = frozen_copy(run.learner.net.resized(self.env))
            net.load_state_dict(strip_prefix(tensors, f"{PREFIX}{number}."))
            self.networks[number] = net
