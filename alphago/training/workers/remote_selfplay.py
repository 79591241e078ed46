"""RemoteSelfPlay: the GameSource whose groups of games workers play, on this machine or others."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from statistics import mean
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.network_digest import network_digest
from alphago.nn.inference.cpu import compiled_network
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.validation import check_int
from alphago.training.group import GameGroup
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import NO_LIMIT, SelfPlaySettings
from alphago.training.source import MakeSource
from alphago.training.workers.group_player import GroupMessage, GroupPlayer, Version
from alphago.workers.jobs import JobPool, MakeTransport, find_workers

MANY_GROUPS = 64  # number of groups from which a run is asynchronous unless its call sets `max_lag`
PLAY_ON_NOTICE = (  # tells the user why the run is not bit-identical to another one
    f"with {MANY_GROUPS} groups or more workers play on while the network learns, so this run is not bit-identical to "
    "another one (max_lag is 1; with 0 they wait for each network)"
)
WAIT_SECONDS = 0.1  # seconds that `advance` waits for an answer before it looks at the clock, at `stop` and for news


class RemoteGroup(GameGroup):
    """A group of games that workers play: between two tasks it holds their state, as the latest task returned it."""

    def __init__(self, env: GameEnv, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range) -> None:
        super().__init__(env, settings, width, seed=seed, numbers=numbers)
        self.slots: list[dict[str, Any] | None] = [None] * width  # the state of each slot; None without a game
        self.games: list[GameRecord] = []  # the games in progress

    def records(self) -> list[GameRecord]:
        return self.games + [record for _, record in self.finished]

    def slot_states(self) -> list[dict[str, Any] | None]:
        return self.slots

    def restore_slots(self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord]) -> None:
        self.slots = [None if slot is None else dict(slot) for slot in slots]
        # Each slot that is not None has a game.  Further records remain in the iterator, for the caller.
        self.games = list(islice(records, sum(slot is not None for slot in slots)))

    @property
    def is_over(self) -> bool:
        """Whether the group has no game left."""
        return not self.numbers and not self.games

    def task(self) -> GroupMessage:
        """Return the task to play the moves that the group has left."""
        # Finished games stay here, so the task has 0 of them.  The games that have not begun have the numbers from
        # state["next"] to "end" in steps of "step".
        state = {**self.state(), "finished": 0, "end": self.numbers.stop, "step": self.numbers.step}
        return GroupMessage(state, self.games, {})

    def take_in(self, played: GroupMessage) -> None:
        """Continue from a worker's answer; finished games are kept for `take`."""
        self.numbers = range(played.state["next"], self.numbers.stop, self.numbers.step)
        self.left = played.state["left"]
        # Records in messages have no GameEnv.
        records = iter([replace(record, env=self.env) for record in played.games])
        self.restore_slots(played.state["slots"], records)  # takes the games in progress, which come first
        self.add_finished(records)  # takes the finished games
        self.moves += played.work["moves"]
        self.readouts_done += played.work["readouts"]


@dataclass(eq=False)
class RemoteSelfPlay(SelfPlay):
    """Lets workers play the groups of SelfPlay; a run may change between SelfPlay and RemoteSelfPlay at any time.

    Synchronous: in each iteration every group has one task.  Games are bit for bit those of SelfPlay with as many
    groups, no matter which workers join, leave or die.

    Asynchronous: a group whose task is done gets its next task at once, with the newest network.  An iteration ends
    when as many tasks are done as there are groups, no matter of which groups.  So there are as many moves between two
    versions of the network as in a synchronous run.  A task begins only if the run is expected to learn from its answer
    at most `max_lag` versions later.  If other tasks overtake it, its answer is dropped, and its moves are played
    again.

    Attributes:
        make_transport: makes the transport that carries the tasks.
        max_lag: largest number of versions between the one that plays a task and the one that learns from it; None for
            synchronous.
    """

    groups: Sequence[RemoteGroup] = field(default=(), init=False)
    make_transport: MakeTransport = field(kw_only=True)
    max_lag: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.published = 0  # number of versions so far
        self.version_name = ""  # under which the pool has the newest version, for `pool.submit`
        # Moves of an iteration in each game, with which `_submit` fills up `left`; sys.maxsize for games to their ends.
        # 0 after `restore`, until `begin` is called.
        self.plies_per_iteration = 0
        self.in_flight: dict[int, int] = {}  # the version of each task that is not done, by its group's index
        self.has_arrived = threading.Event()  # set when an answer arrives; `advance` clears it
        self.num_answers = 0  # number of answers that no iteration has taken yet (see `take`)
        # Whether the run learns from an iteration whose answers are taken, and a version is still to be published.
        self.awaits_version = False
        self.seconds: Counter[str] = Counter()  # by kind of work, since the last `time_spent`
        self.lags: list[int] = []  # of each answer since the last `metrics`, see `max_lag`
        self.dropped = 0  # number of answers that were too old
        self.exact = self.max_lag is None and self.device == "cpu"  # whether games must be equal to the bit
        self.pool = JobPool(self.make_transport(self.env))
        self.lock = self.pool.lock  # for `SelfPlay.state`

    def new_group(self, width: int, numbers: range) -> GameGroup:
        return RemoteGroup(self.env, self.settings, width, seed=self.seed, numbers=numbers)

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Give the workers a new version of the network for their next tasks; see `GameSource.publish`."""
        super().publish(net, dtype)
        assert self.evaluator is not None
        digest = network_digest(self.env, self.evaluator) if self.exact else None
        compiled = compiled_network(self.evaluator)
        version = Version(self.env, self.settings, net, dtype, self.seed, digest, compiled).to_bytes()
        with self.pool.lock:
            self.published += 1
            self.awaits_version = False
            self.version_name = self.pool.publish(GroupPlayer, version, exact=self.exact)

    def begin(self, plies: int | None, *more: Any, **named: Any) -> None:
        """Begin an iteration; the arguments are passed on to `SelfPlay.begin`.

        Args:
            plies: moves to play in each game; None for all games to their ends.
        """
        with self.pool.lock:
            super().begin(plies, *more, **named)  # sets `left` of each group to the moves to play
            self.plies_per_iteration = sys.maxsize if plies is None else plies
            self.awaits_version = False  # `publish` has not cleared this if there was nothing to learn
            for group in self.groups:
                group.left = 0 if group.is_over else group.left  # a group without games gets no task

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Wait until workers have played the iteration's moves.

        Args:
            stop: ends the wait when it is set.
            until: value of time.monotonic() that ends the wait.

        Returns:
            False if the wait ended before, or if there is news to report.
        """
        while True:
            self.has_arrived.clear()  # before the look at the answers, so that one that arrives now ends the wait below
            with self.pool.lock:
                for number in range(len(self.groups)):
                    self._submit(number)
                # Asynchronous: an iteration takes as many answers as there are groups.
                has_all_answers = self.max_lag is not None and self.num_answers >= len(self.groups)
                # `_submit` has given out all tasks that there were.  If none is in flight, no moves are left: of the
                # iteration, or if asynchronous, of all games.
                if has_all_answers or not self.in_flight:
                    return True
            self.pool.check()
            wait_ends = (stop is not None and stop.is_set()) or (until is not None and time.monotonic() >= until)
            if wait_ends or self.pool.sentences:  # sentences: what `news` will return
                return False
            self.has_arrived.wait(WAIT_SECONDS)

    def _submit(self, number: int) -> None:
        """Give the workers the next task of a group, if there is one; the caller has the pool's lock.

        Args:
            number: the group's index in `groups`.
        """
        if number in self.in_flight:
            return
        group = self.groups[number]
        # Asynchronous: a group that has played its moves gets those of the next iteration at once.
        if self.max_lag is not None and not group.left and not group.is_over:
            group.left = self.plies_per_iteration
        # How many versions the task's network will be behind when the run learns from the task's answer, if the answers
        # of all tasks in flight arrive first.
        lag = self._versions_until_learned(before=len(self.in_flight))
        too_early = self.max_lag is not None and lag > self.max_lag
        if group.left and not too_early:
            self.in_flight[number] = self.published
            hand_back = partial(self._hand_back, number)
            self.pool.submit(self.version_name, group.task().to_bytes(), GroupMessage.from_bytes, hand_back)

    def _versions_until_learned(self, before: int = 0) -> int:
        """Return how many versions will be published before the run learns from an answer that is still to arrive.

        Args:
            before: number of other answers that will arrive before this one.
        """
        # Each iteration takes as many answers as there are groups, learns from them and publishes a version.
        iterations_before = (self.num_answers + before) // len(self.groups)
        # While the run learns from an iteration, `num_answers` no longer has the iteration's answers, but the
        # iteration's version is still to come.
        return iterations_before + int(self.awaits_version)

    def _hand_back(self, number: int, played: GroupMessage) -> int:
        """Let a group go on from an answer, and return the answer's number of moves; see `Job.hand_back`.

        The pool's thread calls this while it holds the lock.

        Args:
            number: the group's index in `groups`.
            played: the answer.
        """
        # Versions between the task's and the one that learns from the answer.
        lag = self.published - self.in_flight[number] + self._versions_until_learned()
        if self.max_lag is not None and lag > self.max_lag:
            self.dropped += 1  # the group is unchanged, so its moves are played again
        else:
            self.groups[number].take_in(played)
            self.num_answers += 1
            self.seconds.update(played.work["seconds"])
            self.lags.append(lag)
        # After `take_in`, which may raise an error of `on_game`: the task then stays in flight, so that `advance` does
        # not return before `pool.check` raises the error there.
        del self.in_flight[number]
        if self.max_lag is not None:  # workers play on while the run learns and does not call `advance`
            self._submit(number)
        self.has_arrived.set()
        return int(played.work["moves"])

    def take(self) -> list[GameRecord]:
        """Return the games finished since the last call, ordered by number; the run then learns from them."""
        with self.pool.lock:
            # An iteration takes as many answers as there are groups; further answers count for the next one.  When the
            # games end, there may be fewer answers, since a group without games gets no task: hence not below 0.
            self.num_answers = max(0, self.num_answers - len(self.groups))
            self.awaits_version = True  # until the version that is learned from these answers is published
            return super().take()

    def time_spent(self) -> dict[str, float]:
        """Return the remote workers' seconds by kind of work since the last call.

        The seconds are scaled from the number of the remote workers' cores to the number of this process's threads, as
        a run's metrics expect.
        """
        # `self.workers`: this process's threads.  At the moment there may be no remote worker, and `cores` may be 0.
        scale = self.workers.count / max(1, self.pool.cores)
        with self.pool.lock:
            by_kind, self.seconds = self.seconds, Counter()
        return {kind: seconds * scale for kind, seconds in by_kind.items()}

    def metrics(self) -> dict[str, Any]:
        """Return metrics of workers and tasks for an iteration's row; in the row they replace those of this process."""
        with self.pool.lock:
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


def source_by_workers(workers: str | int | None, max_lag: int | None = None) -> MakeSource | None:
    """Return the function that makes a run's sources of games; None if this process's threads play them.

    Args:
        workers: as in `find_workers`.
        max_lag: as in `train`; None for the default.

    Raises:
        ValueError: for invalid workers, and for a `max_lag` without workers.
    """
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    make_transport = find_workers(workers)
    if make_transport is None:
        if max_lag is not None:
            raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
        return None

    def make_source(env: GameEnv, settings: SelfPlaySettings, *more: Any, **options: Any) -> RemoteSelfPlay:
        """Return the source of a stage's games, which workers play; the arguments are those of SelfPlay."""
        # Waiting for each other and for the learner would cost many games, so by default many groups do not wait.
        workers_play_on = max_lag is None and settings.groups >= MANY_GROUPS
        # A run whose workers wait for each new network has `max_lag` 0 in `train`, but None in RemoteSelfPlay.
        most_lag = 1 if workers_play_on else (max_lag or None)
        source = RemoteSelfPlay(env, settings, *more, make_transport=make_transport, max_lag=most_lag, **options)
        if workers_play_on:
            source.pool.sentences.append(PLAY_ON_NOTICE)  # the run reports it
        return source

    return make_source


def settings_with_workers(workers: str | int | None) -> dict[str, int]:
    """Return the default settings, by keyword, of a new run with workers.

    Each core plays a group; this machine's cores take the gradient steps.  The cores of other machines, such as those
    of a Ray cluster, are not counted: for them the caller of `train` sets `groups`.
    """
    groups = int(workers) if str(workers).isdecimal() else available_cores()  # type: ignore[arg-type]
    return {"groups": groups, "learner_threads": available_cores()}
