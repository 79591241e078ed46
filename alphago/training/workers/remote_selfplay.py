"""RemoteSelfPlay: the GameSource whose groups are played by workers, here or elsewhere, as PlayingCrew names them."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from statistics import mean
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.validation import check_int
from alphago.training.group import GroupPlan
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import NO_LIMIT, SelfPlaySettings
from alphago.training.workers.group_player import GroupPlayer, Played, Task, Version
from alphago.workers.crew import Crew, crew_of
from alphago.workers.jobs import JobPool
from alphago.workers.work import Transport

MANY = 64  # number of groups from which a run is asynchronous unless its call sets `max_lag`
GOES_ON = (
    f"with {MANY} groups or more workers play on while the network learns, so this run is not bit-identical to another "
    "one (max_lag is 1; with 0 they wait for each network)"
)
WAIT = 0.1  # seconds to wait for answers before `go_on` looks at the clock, at `stop` and for news


class RemoteGroup(GroupPlan):
    """A group between two tasks: the saved state of its games."""

    def __init__(self, env: GameEnv, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range) -> None:
        super().__init__(env, settings, width, seed=seed, numbers=numbers)
        self.saved: list[dict[str, Any] | None] = [None] * width  # the state of each slot
        self.games: list[GameRecord] = []  # the games in progress

    def use(self, evaluator: Evaluator) -> None:
        """Do nothing: each task begins games in free slots, and there are no trees to clear."""

    def records(self) -> list[GameRecord]:
        return self.games + [record for _, record in self.finished]

    def slot_states(self) -> list[dict[str, Any] | None]:
        return self.saved

    def restore_slots(self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord]) -> None:
        self.saved = [None if slot is None else dict(slot) for slot in slots]
        self.games = list(islice(records, sum(slot is not None for slot in slots)))

    def follow(self, group: GroupPlan) -> None:
        """Play from now on with the capacity, readouts and threshold of another group."""
        self.capacity, self.readouts, self.resign_threshold = group.capacity, group.readouts, group.resign_threshold

    @property
    def is_over(self) -> bool:
        """Whether the group has no game left."""
        return not self.numbers and not self.games

    def task(self) -> Task:
        """Return the task to play the group's moves left."""
        state = {**self.state(), "finished": 0}
        return Task(end=self.numbers.stop, step=self.numbers.step, state=state, games=self.games)

    def take_in(self, played: Played) -> None:
        """Continue from what a worker has played; finished games are kept for `take`."""
        self.numbers = range(played.state["next"], self.numbers.stop, self.numbers.step)
        self.left = played.state["left"]
        records = iter([replace(record, env=self.env) for record in played.games])
        self.restore_slots(played.state["slots"], records)  # takes the games in progress, which come first
        self.add_finished(records)  # takes the finished games
        self.moves += played.moves
        self.readouts_done += played.readouts


class RemoteSelfPlay(SelfPlay):
    """Lets workers play the groups of SelfPlay; a run may change between SelfPlay and RemoteSelfPlay at any time.

    Synchronous: in each iteration every group has one task.  Games are bit for bit those of SelfPlay with as many
    groups, no matter which workers join, leave or die.

    Asynchronous: a group whose task is done gets its next task at once, with the newest network.  An iteration ends
    when as many tasks are done as there are groups, no matter of which groups.  So there are as many moves between two
    versions as in a synchronous run.  A task begins only if its answer is expected to be learned from at most `max_lag`
    versions later.  If other tasks overtake it, its answer is dropped, and its moves are played again.

    connect: makes the transport that carries the tasks.  max_lag: None for synchronous.  The others: as in SelfPlay.
    """

    groups: Sequence[RemoteGroup]

    def __init__(
        self,
        env: GameEnv,
        settings: SelfPlaySettings,
        numbers: range,
        workers: Workers,
        *,
        connect: Callable[[], Transport],
        max_lag: int | None = None,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        super().__init__(env, settings, numbers, workers, seed=seed, device=device)
        self.max_lag = max_lag
        self.published = 0  # number of versions so far
        self.work = ""  # name of the newest version's work
        self.plies = 0  # moves of an iteration; 0 after `restore` until the next iteration begins
        self.in_flight: dict[int, int] = {}  # by group with a task that is not done: the task's version
        # Asynchronous: the groups as they will be once all answers that have arrived are taken in.
        self.ahead: dict[int, RemoteGroup] = {}
        self.arrived: SimpleQueue[tuple[int, int, Played]] = SimpleQueue()  # groups, versions and answers
        self.has_arrived = threading.Event()  # set when an answer arrives; `go_on` clears it
        self.done = 0  # number of answers that the iteration has taken in
        self.spent: Counter[str] = Counter()
        self.lags: list[int] = []
        self.dropped = 0  # answers that were too old
        self.exact = max_lag is None and device == "cpu"
        self.pool = JobPool(connect())

    def new_group(self, width: int, numbers: range, groups: int) -> GroupPlan:
        return RemoteGroup(self.env, self.settings, width, seed=self.seed, numbers=numbers)

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Give the workers a new version of the network for their next tasks; see `GameSource.publish`."""
        super().publish(net, dtype)
        assert self.evaluator is not None
        version = Version.of(
            self.env, self.settings, self.evaluator, exact=self.exact, net=net, dtype=dtype, seed=self.seed
        )
        version_bytes = version.to_bytes()
        with self.pool.lock:
            self.published += 1
            self.done = 0  # answers that arrive from now on belong to the next iteration
            self.work = self.pool.publish(GroupPlayer, version_bytes, exact=self.exact)

    def begin(self, plies: int | None, *more: Any, **named: Any) -> None:
        """Begin an iteration, as `SelfPlay.begin` does."""
        super().begin(plies, *more, **named)
        self.plies = sys.maxsize if plies is None else plies
        self.done = 0
        for group in self.groups:
            group.left = 0 if group.is_over else group.left  # a group without games gets no task

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Let workers play the iteration's moves; return False if moves are left, or if there is news to report.

        stop, until: as in `SelfPlay.go_on`.
        """
        while True:
            self.has_arrived.clear()
            # Read before answers are taken in, so that the answers of all groups that are not busy are taken in.
            busy = set(self.in_flight)
            self._take_in()
            for number, group in enumerate(self.groups):
                if number not in busy:
                    self._submit(number, group)
            with self.pool.lock:
                has_answers_to_come = bool(self.in_flight) or self.arrived.qsize() > 0
                if self._is_full or not has_answers_to_come:
                    return True
            self.pool.check()
            late = until is not None and time.monotonic() >= until
            if late or self.pool.sentences or (stop is not None and stop.is_set()):
                return False
            self.has_arrived.wait(WAIT)

    @property
    def _is_full(self) -> bool:
        """Whether an asynchronous iteration has taken in all its answers."""
        return self.max_lag is not None and self.done >= len(self.groups)

    def _submit(self, number: int, group: RemoteGroup) -> None:
        """Give the workers the next task of a group, if there is one, to be played by the newest network.

        number: the group's index in `groups`.
        """
        if self.max_lag is not None:  # the task may begin before earlier answers of the group are taken in
            if number not in self.ahead:
                self.ahead[number] = copy(group)
                self.ahead[number].finished = []
            group = self.ahead[number]
            if not group.left and not group.is_over:
                group.left = self.plies  # the moves of the group's next iteration
        if not group.left:
            return
        with self.pool.lock:
            too_early = self.max_lag is not None and self._wait_of(self.in_flight) > self.max_lag
            if too_early or number in self.in_flight:
                return
            version = self.in_flight[number] = self.published
            work = self.work
        self.pool.submit(work, group.task().to_bytes(), partial(self._hand_back, number, version))

    def _wait_of(self, before: Collection[int] = ()) -> int:
        """Return how many versions from now the next answer will be learned from.

        before: groups whose answers come before it.
        """
        answers_before = self.done + self.arrived.qsize() + len(before)
        return answers_before // len(self.groups)  # a version takes as many answers as there are groups

    def _hand_back(self, number: int, version: int, answer: bytes) -> int:
        """Keep an answer, and return its number of moves; asynchronous groups go on at once.

        The pool's thread calls this, with its lock.

        number, version: the task's group and version.
        """
        played = Played.from_bytes(answer)
        lag = self.published - version + self._wait_of()  # the network's age when the answer is learned from
        if self.max_lag is not None and lag > self.max_lag:
            self.dropped += 1  # the group is unchanged, so its moves are played again
        else:
            self.arrived.put((number, version, played))
            if self.max_lag is not None:
                ahead = self.ahead[number]
                ahead.take_in(played)
                ahead.finished.clear()
                ahead.follow(self.groups[number])
        del self.in_flight[number]
        if self.max_lag is not None:
            self._submit(number, self.ahead[number])
        self.has_arrived.set()
        return played.moves

    def _take_in(self) -> None:
        """Let the groups take in the answers that have arrived, but no more than belong to the iteration."""
        while not self._is_full:
            with self.pool.lock:
                try:
                    number, version, played = self.arrived.get_nowait()
                except Empty:
                    return
                self.done += 1
            self.groups[number].take_in(played)
            self.spent.update(played.seconds)
            self.lags.append(self.published - version)

    def time_spent(self) -> dict[str, float]:
        """Return the workers' seconds by kind of work, scaled from the workers' cores to this process's threads."""
        scale = self.workers.count / max(1, self.pool.cores)
        spent, self.spent = self.spent, Counter()
        return {kind: seconds * scale for kind, seconds in spent.items()}

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of workers and tasks for an iteration's row, which replace those of this process."""
        lags, self.lags = self.lags, []
        metrics = {**self.pool.metrics(), "processor_share": None}  # this process's share means little
        if self.max_lag is not None:  # games are played while the network learns, too
            speed = sum(metrics["workers_moves_per_second"].values())
            metrics |= {"moves_per_second": speed, "readouts_per_second": None}
            metrics |= {"selfplay_share": None, "lag": mean(lags) if lags else None, "too_old": self.dropped}
        return metrics

    def news(self) -> list[str]:
        return self.pool.news()

    def close(self) -> None:
        self.pool.close()


@dataclass(frozen=True)
class PlayingCrew:
    """A MakeSource whose source lets workers play a run's games; max_lag: see `train`."""

    crew: Crew
    max_lag: int | None = None

    def __call__(self, env: GameEnv, settings: SelfPlaySettings, *arguments: Any, **options: Any) -> RemoteSelfPlay:
        """Return the source of a stage's games; arguments, options: the other arguments of SelfPlay."""
        has_many_groups = settings.groups >= MANY
        default_lag = 1 if has_many_groups else 0
        max_lag = default_lag if self.max_lag is None else self.max_lag
        # For RemoteSelfPlay, None means that the workers wait for each new network.
        connect = partial(self.crew.connect, env)
        source = RemoteSelfPlay(env, settings, *arguments, connect=connect, max_lag=max_lag or None, **options)
        if has_many_groups and self.max_lag is None:
            source.pool.sentences.append(GOES_ON)
        return source

    def default_settings(self) -> dict[str, int]:
        """Return the settings, by keyword, that a new run takes where its call gives none.

        Each core plays a group; this machine's cores take the gradient steps.
        """
        return {"groups": self.crew.count or available_cores(), "learner_threads": available_cores()}


def playing_crew(workers: str | int | None, max_lag: int | None = None) -> PlayingCrew | None:
    """Return the workers that a user names, None for this process's threads, as `crew_of`; max_lag: see `train`."""
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    crew = crew_of(workers)
    if crew is None and max_lag is not None:
        raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
    return None if crew is None else PlayingCrew(crew, max_lag)
