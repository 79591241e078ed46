"""RemoteSelfPlay: the GameSource whose groups are played by workers, here or elsewhere."""

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
from alphago.mcts.evaluator import Evaluator
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
from alphago.workers.jobs import JobPool
from alphago.workers.transport_choice import MakeTransport, find_workers

MANY = 64  # number of groups from which a run is asynchronous unless its call sets `max_lag`
GOES_ON = (
    f"with {MANY} groups or more workers play on while the network learns, so this run is not bit-identical to another "
    "one (max_lag is 1; with 0 they wait for each network)"
)
WAIT = 0.1  # seconds to wait for answers before `advance` looks at the clock, at `stop` and for news


class RemoteGroup(GameGroup):
    """A group of games that workers play: between two tasks it holds their state, as the latest task returned it."""

    def __init__(self, env: GameEnv, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range) -> None:
        super().__init__(env, settings, width, seed=seed, numbers=numbers)
        self.saved: list[dict[str, Any] | None] = [None] * width  # by slot; None without a game
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

    @property
    def is_over(self) -> bool:
        """Whether the group has no game left."""
        return not self.numbers and not self.games

    def task(self) -> GroupMessage:
        """Return the task to play the group's moves left."""
        state = {**self.state(), "finished": 0, "end": self.numbers.stop, "step": self.numbers.step}
        return GroupMessage(state, self.games, {})

    def take_in(self, played: GroupMessage) -> None:
        """Continue from what a worker has played; finished games are kept for `take`."""
        self.numbers = range(played.state["next"], self.numbers.stop, self.numbers.step)
        self.left = played.state["left"]
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
    versions as in a synchronous run.  A task begins only if its answer is expected to be learned from at most `max_lag`
    versions later.  If other tasks overtake it, its answer is dropped, and its moves are played again.

    Attributes:
        make_transport: makes the transport that carries the tasks.
        max_lag: None for synchronous.
    """

    groups: Sequence[RemoteGroup] = field(default=(), init=False)
    make_transport: MakeTransport = field(kw_only=True)
    max_lag: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.published = 0  # number of versions so far
        self.work = ""  # name of the newest version's work
        self.plies = 0  # moves of an iteration; 0 after `restore` until the next iteration begins
        self.in_flight: dict[int, int] = {}  # by group with a task that is not done: the task's version
        self.has_arrived = threading.Event()  # set when an answer arrives; `advance` clears it
        self.done = 0  # number of answers that are not taken yet
        self.learns = False  # whether the answers of an iteration are taken, and the next has not begun
        self.spent: Counter[str] = Counter()
        self.lags: list[int] = []
        self.dropped = 0  # answers that were too old
        self.exact = self.max_lag is None and self.device == "cpu"
        self.pool = JobPool(self.make_transport(self.env))
        self.lock = self.pool.lock

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
            self.learns = False
            self.work = self.pool.publish(GroupPlayer, version, exact=self.exact)

    def begin(self, plies: int | None, *more: Any, **named: Any) -> None:
        """Begin an iteration, as `SelfPlay.begin` does."""
        with self.pool.lock:
            super().begin(plies, *more, **named)
            self.plies = sys.maxsize if plies is None else plies
            self.learns = False
            for group in self.groups:
                group.left = 0 if group.is_over else group.left  # a group without games gets no task

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Let workers play the iteration's moves; return False if moves are left, or if there is news to report.

        Args:
            stop, until: as in `SelfPlay.advance`.
        """
        while True:
            self.has_arrived.clear()
            with self.pool.lock:
                for number in range(len(self.groups)):
                    self._submit(number)
                if self._is_full or not self.in_flight:
                    return True
            self.pool.check()
            late = until is not None and time.monotonic() >= until
            if late or self.pool.sentences or (stop is not None and stop.is_set()):
                return False
            self.has_arrived.wait(WAIT)

    @property
    def _is_full(self) -> bool:
        """Whether an asynchronous iteration has all its answers."""
        return self.max_lag is not None and self.done >= len(self.groups)

    def _submit(self, number: int) -> None:
        """Give the workers the next task of a group, if there is one; the caller has the pool's lock.

        number: the group's index in `groups`.
        """
        group, too_early = self.groups[number], False
        if number in self.in_flight:
            return
        if self.max_lag is not None:
            group.left = group.left or (0 if group.is_over else self.plies)  # the moves of the group's next iteration
            too_early = self._versions_until_learned(len(self.in_flight)) > self.max_lag
        if group.left and not too_early:
            self.in_flight[number] = self.published
            hand_back = partial(self._hand_back, number)
            self.pool.submit(self.work, group.task().to_bytes(), GroupMessage.from_bytes, hand_back)

    def _versions_until_learned(self, before: int = 0) -> int:
        """Return how many versions from now the next answer will be learned from, after `before` other answers."""
        return self.learns + (self.done + before) // len(self.groups)  # a version takes an answer of each group

    def _hand_back(self, number: int, played: GroupMessage) -> int:
        """Let a group go on from an answer, and return its number of moves; asynchronous groups get their next task.

        The pool's thread calls this, with its lock.

        number: the group's index in `groups`.
        """
        # When the answer is learned from.
        lag = self.published - self.in_flight[number] + self._versions_until_learned()
        if self.max_lag is not None and lag > self.max_lag:
            self.dropped += 1  # the group is unchanged, so its moves are played again
        else:
            self.groups[number].take_in(played)
            self.done += 1
            self.spent.update(played.work["seconds"])
            self.lags.append(lag)
        del self.in_flight[number]  # only now, so that `advance` does not end before it raises an error of `on_game`
        if self.max_lag is not None:
            self._submit(number)
        self.has_arrived.set()
        return int(played.work["moves"])

    def take(self) -> list[GameRecord]:
        with self.pool.lock:
            self.done = max(0, self.done - len(self.groups))
            self.learns = True
            return super().take()

    def time_spent(self) -> dict[str, float]:
        """Return the workers' seconds by kind of work, scaled from the workers' cores to this process's threads."""
        scale = self.workers.count / max(1, self.pool.cores)
        with self.pool.lock:
            spent, self.spent = self.spent, Counter()
        return {kind: seconds * scale for kind, seconds in spent.items()}

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of workers and tasks for an iteration's row, which replace those of this process."""
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


def make_remote_source(
    make_transport: MakeTransport,
    max_lag: int | None,
    env: GameEnv,
    settings: SelfPlaySettings,
    *arguments: Any,
    **options: Any,
) -> RemoteSelfPlay:
    """Return the source of a stage's games, which workers play.

    Args:
        max_lag: see `train`.  The others: the arguments of SelfPlay.
    """
    has_many_groups = settings.groups >= MANY
    lag = max_lag if max_lag is not None else int(has_many_groups)
    # For RemoteSelfPlay, None means that the workers wait for each new network.
    source = RemoteSelfPlay(env, settings, *arguments, make_transport=make_transport, max_lag=lag or None, **options)
    if has_many_groups and max_lag is None:
        source.pool.sentences.append(GOES_ON)
    return source


def source_by_workers(workers: str | int | None, max_lag: int | None = None) -> MakeSource | None:
    """Return what makes a run's sources of games; None for this process's threads.

    Args:
        workers: as for `find_workers`.
        max_lag: see `train`.
    """
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    make_transport = find_workers(workers)
    if make_transport is None and max_lag is not None:
        raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
    return None if make_transport is None else partial(make_remote_source, make_transport, max_lag)


def settings_with_workers(workers: str | int | None) -> dict[str, int]:
    """Return the settings, by keyword, that a new run with workers takes where its call gives none.

    Each core plays a group; this machine's cores take the gradient steps.  The cores of other machines, as of a Ray
    cluster, are not counted: a run for them gives `groups` itself.
    """
    groups = int(workers) if str(workers).isdecimal() else available_cores()  # type: ignore[arg-type]
    return {"groups": groups, "learner_threads": available_cores()}
