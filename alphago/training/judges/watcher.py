"""Opponents, records and exams that are watched during a run, by a judge that does not influence training.

Watching takes at most a share of the run's time.  With each second of training, watching earns some time, and a test
begins when the time for it is earned.  A match has fewer games if the time does not suffice for all.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from alphago.arena.engine import Engine, EngineError
from alphago.arena.entrant import Entrant, resolve_player
from alphago.arena.match import play_match
from alphago.arena.match_games import MatchPlan, MatchSetup, opening_length
from alphago.arena.match_result import MatchGame, MatchResult
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.exams.grades import compute_grade
from alphago.exams.grading import BLUNDER, answer_all, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.nn.threads import one_torch_thread
from alphago.records.collection import read_collection
from alphago.system import stopwatch
from alphago.system.cores import available_cores
from alphago.system.interrupts import Stopped
from alphago.training.judge import Judge
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult, games_as_text, match_row, without_forfeits
from alphago.training.run import Run
from alphago.training.settings.judge_settings import RECORDS_PREFIX, WatchList, split_readouts

PAIRS = 10  # pairs of games in a match
SEARCH = Gumbel()  # of both players of a match, if the opponent is a network
MOST_POSITIONS = 4096  # of records to predict: enough to distinguish an accuracy of 40 % from 42 %
EXAM_NAME = "exam"  # the name in `watch` of the package's exam; for another exam, a colon and its file follow
GRADE_PREFIX = "exam_"  # of the grade's numbers in a row of evaluations.jsonl
RUN_PARTS = 20  # parts of a run, in each of which an opponent tests at most one network
LONGEST_GAP = 1 / 8  # share of the run without a test, after which the time for the shortest test suffices
SHARE_FOR_LAST_TEST = 0.25  # share of the watching time that is left to the run's last network
MIN_TEST_SECONDS = 0.25  # seconds that must be earned before any test
SAVED = ("spent", "tested", "network", "whole", "least")  # attributes of a WatchedEntry in the run's state


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again.

    Attributes:
        name: the name of this opponent, set of records or exam in `watch`.
    """

    name: str

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, seconds_left: Callable[[], float], stop: threading.Event
    ) -> WatchResult:
        """Test a network.

        Args:
            evaluator: the evaluator of the network that is tested.
            device: where an opponent's network is computed.
            seed: determines all random choices of the test.
            seconds_left: function that returns the seconds that the test may still take.  A match has fewer games if
                they do not suffice for all.

        Raises:
            Stopped: if `stop` was set before the end.
            EngineError: if an engine does not start.
        """


def make_watched(watch: WatchList | None, env: GameEnv) -> list[Watched]:
    """Return an opponent, records or an exam for each name in the run's setting `watch`.

    Raises:
        ValueError, OSError or EngineError: for the first name that does not exist or cannot play the game `env`.
    """
    return [] if watch is None else [watched_by_name(name, env) for name in watch.opponents]


def watched_by_name(text: str, env: GameEnv) -> Watched:
    """Return the opponent, the records or the exam for one name in `watch`, such as "gnugo:10@64".

    Raises the errors of `make_watched`.
    """
    if text.startswith(RECORDS_PREFIX):
        return WatchedRecords(text, env, read_collection(text.removeprefix(RECORDS_PREFIX), env, MOST_POSITIONS))
    name, readouts = split_readouts(text)
    if name.partition(":")[0] == EXAM_NAME:
        return WatchedExam(name, readouts, env)
    return WatchedOpponent(name, readouts, env)


class WatchedExam:
    """An exam that tests a run's networks; see `Watched`.

    Args:
        text: "exam" for the package's exam of the run's board, or "exam:FILE".
        readouts: simulations in each position; 0 for the policy alone.
        env: the run's game.

    Raises:
        ValueError: if there is no such exam, or if it is not of the run's game and board.
    """

    def __init__(self, text: str, readouts: int, env: GameEnv) -> None:
        self.text = text
        self.readouts = readouts
        self.name = f"{text}@{readouts}"
        self.env = exam_game(env, env.N)  # the run's game, under the rules of exams
        self.exam = find_exam(text.partition(":")[2] or None, env.N)  # the FILE; None for the packaged exam
        if self.exam.size != env.N:
            board = f"{self.exam.size}x{self.exam.size}"
            raise ValueError(f"{text} must be an exam on the run's board, {env.N}x{env.N}, got one on {board}")
        self.positions = self.exam.positions_of(self.env)

    def test(self, evaluator: Evaluator, device: str, **_: Any) -> WatchResult:
        """Let a network take the whole exam.

        The other arguments of `Watched.test` are ignored: there is no opponent, no chance, no limit of time, and the
        exam does not stop before its end.
        """
        with one_torch_thread():  # since the exam's own threads use all cores
            answers = answer_all(self.positions, evaluator, self.readouts, threads=available_cores())
        grade = compute_grade(mark(self.exam, answers))
        numbers = {GRADE_PREFIX + name: value for name, value in grade.row().items() if value is not None}
        summary = (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )
        return WatchResult({"opponent": self.text, "readouts": self.readouts, **numbers}, summary)


class WatchedOpponent:
    """An opponent that tests a run's networks by matches; see `Watched`.

    Raises the errors of `resolve_player` if the opponent does not exist or does not play the game.

    Args:
        opponent: a player's name, as for `evaluate`.
        readouts: simulations per move of the run's network; the opponent has as many if it is a network.
        env: the run's game; engines and playout players play `env.match_variant()`.
    """

    def __init__(self, opponent: str, readouts: int, env: GameEnv) -> None:
        self.opponent = opponent
        self.readouts = readouts
        self.name = f"{opponent}@{readouts}"
        self.player = resolve_player(opponent, env)
        self.device = "cpu"  # the device for which `player` was made; only an opponent that is a network uses it
        # As in `evaluate`: engines do not know the game's limits, and playout players are rated without limits.
        self.env = env.match_variant() if isinstance(self.player, (PlayoutSettings, Engine)) else env

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, seconds_left: Callable[[], float], stop: threading.Event
    ) -> WatchResult:
        """Play up to PAIRS pairs of games: first some pairs, then as many as are likely to be over in time.

        The arguments are those of `Watched.test`.
        """
        if device != self.device:
            self.player = resolve_player(self.opponent, self.env, device)
            self.device = device
        players = (Entrant(evaluator, self.readouts, SEARCH), Entrant(self.player, self.readouts, SEARCH))
        plan = MatchPlan(games=2 * PAIRS, sampled_plies=0, random_opening=opening_length(self.env), seed=seed, leaves=1)
        games: list[MatchGame] = []
        first_pairs = pairs = min(PAIRS, max(1, available_cores() // 2))  # as many games as cores, at most PAIRS pairs
        seconds_at_first = seconds_left()
        while pairs > 0:
            numbers = range(len(games), len(games) + 2 * pairs)
            play_match(MatchSetup(self.env, players, plan), numbers, games.append, stop=LinkedEvent(stop))
            if stop.is_set():
                raise Stopped
            pairs = more_pairs(len(games) // 2, seconds_at_first, seconds_left())
        row, summary = self.result(games)
        return WatchResult(row, summary, part=len(games) / 2 / PAIRS, least_part=first_pairs / PAIRS)

    def result(self, games: Sequence[MatchGame]) -> tuple[dict[str, Any], str]:
        """Return entries of a row of evaluations.jsonl, with the moves of each game, and a clause for a report.

        A pair of games does not count if the opponent, an external engine, forfeited one of the two games, which means
        that it lost the game by a fault.  The clause tells the number of forfeited games.
        """
        result = MatchResult.of(self.env, games)
        valid = without_forfeits(result)
        texts = [str(valid)] if valid.games else []
        if forfeits := result.forfeits:
            first_fault = forfeits[min(forfeits)]  # the keys are numbers of games
            texts.append(f"{len(forfeits)} games that the opponent lost by a fault do not count: {first_fault}")
        row = {
            "opponent": self.opponent,
            "readouts": self.readouts,
            **(match_row(self.env, valid) if valid.games else {"played": 0}),
            "forfeits": len(forfeits),
            "moves": games_as_text(self.env, valid),
        }
        return row, "; ".join(texts)


def more_pairs(played: int, seconds_at_first: float, seconds_left: float) -> int:
    """Return how many more pairs of games, of PAIRS in all, are likely to be over in time; 0 or less for none.

    Args:
        played: number of pairs played so far.
        seconds_at_first: the time that was left before the first of them.
        seconds_left: the time that is left now.
    """
    seconds_per_pair = max(seconds_at_first - seconds_left, 1e-9) / played
    return min(PAIRS - played, int(seconds_left / seconds_per_pair))


class LinkedEvent(threading.Event):
    """An event that counts as set also if another event is set.

    A match that fails sets its event to stop its threads.  With an event of its own it does not stop the run.
    """

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self.other = other

    def is_set(self) -> bool:
        return super().is_set() or self.other.is_set()


@dataclass
class WatchedEntry:
    """A task of the Watcher: a watched opponent, set of records or exam, with the times of its tests.

    Attributes:
        spent: seconds of all its tests so far.
        tested: the run's progress, 0 .. 1, at the latest test; -1 before the first.
        network: the run's number of iterations at the latest test; -1 before the first.
        whole: seconds that a whole test takes, estimated from the latest test; 0 before the first.
        least: seconds that the shortest test takes, such as a match with the fewest games, estimated in the same way.
    """

    watched: Watched
    spent: float = 0.0
    tested: float = -1.0
    network: int = -1
    whole: float = 0.0
    least: float = 0.0

    def add_time(self, seconds: float, result: WatchResult | None) -> None:
        """Add the seconds of a test to those spent, and estimate from them how long the next test takes.

        The task's first test may have compiled kernels, which later tests do not.  So the first test counts as at most
        MIN_TEST_SECONDS.

        Args:
            result: the result of the test; None if the test was stopped or has failed: then nothing is estimated.
        """
        # `tested` is -1 before the first test.
        usual_seconds = min(seconds, MIN_TEST_SECONDS) if self.tested < 0 else seconds
        self.spent += usual_seconds
        if result is not None:  # `whole` and `least` are seconds, `part` and `least_part` are shares of a whole test
            self.whole = usual_seconds / result.part
            self.least = self.whole * result.least_part


class Watcher(Judge[Run]):
    """The judge that tests a run's networks against `watched` and logs results and games to evaluations.jsonl.

    Args:
        env: the game of the matches.
        watched: the opponents, sets of records and exams.
        share: largest share of the run's time for watching, 0 <= share < 1.
        clock: returns the time in seconds.
    """

    name = "watch"
    decides = False

    def __init__(
        self, env: GameEnv, watched: Sequence[Watched], share: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.env = env
        self.tasks = [WatchedEntry(item) for item in watched]
        self.share = share
        self.clock = clock
        self.training_seconds = 0.0  # the run's seconds of training when `due` or `judge` was last called
        self.spent = 0.0  # seconds of watching
        self.tests = 0  # number of tests begun

    @property
    def earned(self) -> float:
        """The seconds of watching that `share` allows so far, including those already spent."""
        return self.share / (1 - self.share) * self.training_seconds  # `share` of the sum of training and watching

    def due(self, run: Run) -> bool:
        """Return whether a test should begin."""
        self.training_seconds = run.clock.seconds  # for `earned`, and for `conclusion`, which does not get the run
        return self.next_test(run.progress, run.counts.iterations, is_over=run.is_over) is not None

    def next_test(self, progress: float, iterations: int, *, is_over: bool) -> tuple[WatchedEntry, float] | None:
        """Return the task whose test is due, and the seconds that the test may take; None if no test is due.

        The run has RUN_PARTS parts.  Of the tasks that have not yet tested a network in the present part, the one with
        the least time spent is next.  Its test is due once the time left suffices for a whole test.  If the task has
        had no test yet, or if the share LONGEST_GAP of the run has passed since its latest test, the time for the
        shortest test is enough.  No test is due with less than MIN_TEST_SECONDS left.  The share SHARE_FOR_LAST_TEST of
        the time earned is kept for `last_test`, which chooses the task once the run is over.

        Args:
            progress: the run's progress, 0 .. 1; when a run is prolonged, its progress becomes less.
            iterations: the run's number of iterations, which tells one network from another.
            is_over: whether the run is over.
        """
        if is_over:
            return self.last_test(iterations)
        part = int(RUN_PARTS * progress)
        tasks = [task for task in self.tasks if int(RUN_PARTS * task.tested) != part]
        if not tasks:
            return None
        task = min(tasks, key=lambda task: task.spent)
        # `tested` is the run's progress at the task's latest test, -1 before the first.  In a prolonged run, `tested`
        # may be more than `progress`, which has become less.
        was_lately_tested = task.tested <= progress < task.tested + LONGEST_GAP
        seconds_needed = task.whole if was_lately_tested else task.least
        seconds_left = (1 - SHARE_FOR_LAST_TEST) * self.earned - self.spent
        return (task, seconds_left) if seconds_left >= max(MIN_TEST_SECONDS, seconds_needed) else None

    def last_test(self, iterations: int) -> tuple[WatchedEntry, float] | None:
        """Return the next task and its seconds, as `next_test`, for the last network of a run that is over.

        Each task tests this network, quick tests first.  The time left is divided equally among the tasks that are
        left.  There may be none, even less than 0 seconds; a test is then as short as possible.
        """
        # `task.network` is the number of iterations of the network that the task tested last.
        tasks = [task for task in self.tasks if task.network != iterations]
        if not tasks:
            return None
        return min(tasks, key=lambda task: task.whole), (self.earned - self.spent) / len(tasks)

    def judge(self, run: Run, stop: threading.Event) -> None:
        """Run the tests that are due, outside the training time; raise Stopped if `stop` was set before the end."""
        self.training_seconds = run.clock.seconds
        # Read before the `with` block, at whose end the clock is put back: within it the clock goes on.
        standing, progress, is_over = run.standing, run.progress, run.is_over
        with run.clock.not_counting(), stopwatch.EXAMINATION:
            while (upcoming := self.next_test(progress, run.counts.iterations, is_over=is_over)) is not None:
                task, seconds_allowed = upcoming
                self.test(task, run, standing, seconds_allowed, stop)
                # The number of iterations tells one network from another.
                task.tested, task.network = progress, run.counts.iterations

    def test(
        self, task: WatchedEntry, run: Run, standing: Mapping[str, float], seconds: float, stop: threading.Event
    ) -> None:
        """Test the network that self-play uses, and log the result; raise Stopped if `stop` was set before the end.

        Args:
            task: what tests the network.
            standing: `Run.standing` before the test.
            seconds: the time that the test may take.
        """
        began = self.clock()
        self.tests += 1
        result = None
        try:
            evaluator = run.match_evaluator(run.player, self.env)
            result = task.watched.test(
                evaluator, run.device, seed=self.tests, seconds_left=lambda: began + seconds - self.clock(), stop=stop
            )
        except EngineError as error:
            run.note(f"watching {task.watched.name} failed, after {self.training_seconds / 60:.1f} minutes: {error}")
        finally:
            seconds_taken = self.clock() - began
            self.spent += seconds_taken
            task.add_time(seconds_taken, result)
        if result is None:  # an engine has failed, which does not end the watching, but a stop may have made it fail
            if stop.is_set():
                raise Stopped
            return
        times = {"match_seconds": seconds_taken, "watch_seconds": self.spent}
        run.add_match({**standing, "judge": self.name, **result.row, **times})
        after = f"{standing['seconds'] / 60:.1f} minutes and {standing['games']:.0f} games"
        run.note(f"{task.watched.name} after {after}: {result.summary}")

    def conclusion(self, longer: str) -> str:
        """Return a sentence that tells how much time watching took; `longer` is not used."""
        used = self.spent / max(self.spent + self.training_seconds, 1e-9)
        return f"watching took {self.spent:.1f} s, {used:.1%} of the time (at most {self.share:.1%} was asked for)"

    def state(self) -> dict[str, Any]:
        """Return the time spent, and the times of each task's tests, as plain data."""
        tasks = {task.watched.name: {name: getattr(task, name) for name in SAVED} for task in self.tasks}
        return {"spent": self.spent, "tests": self.tests, "tasks": tasks}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `state`; do nothing if it is None.  This judge has no tensors.

        A task that was added since then starts with the smallest `spent` of all saved tasks, so that it gets no more
        time from now on than they do.
        """
        if state is None:
            return
        self.spent, self.tests = state["spent"], state["tests"]
        saved = state["tasks"]
        new_task = {"spent": min((times["spent"] for times in saved.values()), default=0.0)}
        self.tasks = [WatchedEntry(task.watched, **saved.get(task.watched.name, new_task)) for task in self.tasks]
