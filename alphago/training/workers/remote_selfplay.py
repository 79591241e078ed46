"""RemoteSelfPlay: the GameSource whose groups are played by workers, on this machine or others."""

import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from statistics import mean
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.network_digest import network_digest
from alphago.nn.inference.cpu import compiled_network
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.group import GroupPlan
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.source import Company
from alphago.training.workers.group_player import GroupPlayer
from alphago.training.workers.task import LoosePlayed, Played, Task, Version
from alphago.workers.dispatcher import Dispatcher
from alphago.workers.transport import Transport
from alphago.workers.work import to_publish

AUDITS = 0.01  # share of the tasks that two workers do
WAIT = 0.1  # seconds between two looks at what else there may be than answers


class RemoteGroup(GroupPlan):
    """A group between two tasks: its games as they were saved."""

    def __init__(self, env: GameEnv, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range) -> None:
        super().__init__(env, settings, width, seed=seed, numbers=numbers)
        self.saved: list[dict[str, Any] | None] = [None] * width
        self.games: list[GameRecord] = []  # in progress

    def use(self, evaluator: Evaluator, others: tuple[Evaluator, ...] = (), shares: tuple[float, ...] = ()) -> None:
        """Do nothing, since each task begins games in free slots and has no trees."""

    def records(self) -> list[GameRecord]:
        return self.games + [record for _, record in self.finished]

    def slot_states(self) -> list[dict[str, Any] | None]:
        return self.saved

    def restore_slots(
        self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord], *_: object
    ) -> None:
        self.saved = [None if slot is None else dict(slot) for slot in slots]
        self.games = list(islice(records, sum(slot is not None for slot in slots)))

    def copy(self) -> "RemoteGroup":
        """Return the group without its finished games."""
        twin = RemoteGroup(self.env, self.settings, self.width, seed=self.seed, numbers=self.numbers)
        twin.restore_slots(self.saved, iter(self.games))
        twin.left = self.left
        twin.follow(self)
        return twin

    def follow(self, group: GroupPlan) -> None:
        """Play from now on with the capacity, readouts and threshold of another group."""
        self.capacity, self.readouts, self.resign_threshold = group.capacity, group.readouts, group.resign_threshold

    @property
    def is_over(self) -> bool:
        """Whether the group has no game left."""
        return not self.numbers and not self.games

    def task(self) -> Task:
        """Return the task to play the moves left."""
        return Task.of(self.numbers, {**self.state(), "finished": 0}, self.games)

    def take_in(self, played: Played) -> None:
        """Continue from what a worker has played; the finished games wait for `take`."""
        self.numbers = range(played.state["next"], self.numbers.stop, self.numbers.step)
        self.left = played.state["left"]
        records = iter([replace(record, env=self.env) for record in played.records])
        self.restore_slots(played.state["slots"], records)  # takes the games in progress, which come first
        self.add_finished(records)  # takes the rest
        self.moves += played.moves
        self.readouts_done += played.readouts


class RemoteSelfPlay(SelfPlay):
    """Lets workers play the groups of SelfPlay; a run may change from one of both to the other at any time.

    Synchronous: each iteration gives every group one task.  Games are bit for bit those of SelfPlay with as many
    groups, whatever workers join, leave or die.

    Asynchronous: a group whose task is done gets the next one at once, with the newest network.  An iteration has as
    many tasks as there are groups, whichever are done first, so that versions follow each other after as many moves as
    in a synchronous run.  A task begins only if its turn to be learned from comes at most `max_lag` versions later;
    where others overtake it, its answer is dropped, and its moves are played again.

    connect: makes what carries the tasks.  max_lag: None for synchronous.
    audits: share of the tasks that two workers do, whose answers must agree: to the bit, or as LoosePlayed says.
    The others: as in SelfPlay.
    """

    def __init__(
        self,
        env: GameEnv,
        settings: SelfPlaySettings,
        numbers: range,
        workers: Workers,
        *,
        connect: Callable[[], Transport],
        max_lag: int | None = None,
        audits: float = AUDITS,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        super().__init__(env, settings, numbers, workers, seed=seed, device=device)
        self.max_lag = max_lag
        self.session = secrets.token_hex(4)
        self.versions: dict[int, bytes] = {}  # the newest one, and those of tasks that are not done
        self.published = self.submitted = 0  # versions and tasks so far
        self.plies = 0  # of an iteration; 0 after `restore` until the next one begins
        self.in_flight: dict[int, int] = {}  # groups with a task that is not done, and its version
        self.ahead: dict[int, RemoteGroup] = {}  # asynchronous: the groups as they will be once all has been taken in
        self.arrived: SimpleQueue[tuple[int, int, Played]] = SimpleQueue()  # groups, versions and answers
        self.has_arrived = threading.Event()  # something has, since it was cleared
        self.done = 0  # answers that the iteration has taken in
        self.spent: Counter[str] = Counter()
        self.lags: list[int] = []
        self.dropped = 0  # answers that were too old
        self.exact = max_lag is None and device == "cpu"
        self.kind = Played if self.exact else LoosePlayed
        self.dispatcher = Dispatcher(connect(), read=self.kind.from_bytes, referee=self._referee, audits=audits)

    def _new_group(self, evaluator: Evaluator, width: int, numbers: range, groups: int) -> GroupPlan:
        return RemoteGroup(self.env, self.settings, width, seed=self.seed, numbers=numbers)

    def publish(self, net: NeuralNet, dtype: str | None = None, *, company: Company | None = None) -> None:
        super().publish(net, dtype, company=company)
        assert self.evaluator is not None
        nets = (net, *(() if company is None else company.nets))
        check = network_digest(self.env, self.evaluator) if self.exact else None
        compiled = [compiled_network(evaluator) for evaluator in (self.evaluator, *self.others)]
        version = Version(self.env, self.settings, nets, self.shares, dtype, self.seed, check, compiled)
        version_bytes = version.to_bytes()
        work = to_publish(GroupPlayer, version_bytes, exact=check is not None)
        with self.dispatcher.lock:
            self.published += 1
            self.done = 0  # what arrives from now on is for the next iteration
            needed = {number: self.versions[number] for number in self.in_flight.values()}
            self.versions = {**needed, self.published: version_bytes}
            self.dispatcher.publish(f"{self.session}-{self.published}", work)

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        super().begin(plies, readouts, side_by_side, resign_threshold)
        self.plies, self.done = sys.maxsize if plies is None else plies, 0
        for group in self._remote_groups:
            group.left = 0 if group.is_over else group.left

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Have the iteration's moves played; return False also if there is news to tell."""
        while True:
            self.has_arrived.clear()
            busy = set(self.in_flight)  # before the answers of all others are taken in
            self._take_in()
            for number, group in enumerate(self._remote_groups):
                if number not in busy:
                    self._submit(number, group)
            with self.dispatcher.lock:
                if self._is_full or not (self.in_flight or self.arrived.qsize()):
                    return True
            self.dispatcher.check()
            late = until is not None and time.monotonic() >= until
            if late or self.dispatcher.has_news or (stop is not None and stop.is_set()):
                return False
            self.has_arrived.wait(WAIT)

    @property
    def _remote_groups(self) -> list["RemoteGroup"]:
        return [group for group in self.groups if isinstance(group, RemoteGroup)]

    @property
    def _is_full(self) -> bool:
        """Whether an asynchronous iteration has all its answers."""
        return self.max_lag is not None and self.done >= len(self.groups)

    def _submit(self, number: int, group: "RemoteGroup") -> None:
        """Give the workers the next task of a group, if it has one, to be played by the newest network."""
        if self.max_lag is not None:  # the answers before need not have been taken in
            if number not in self.ahead:
                self.ahead[number] = group.copy()
            group = self.ahead[number]
            group.left = group.left or (0 if group.is_over else self.plies)
        if not group.left:
            return
        with self.dispatcher.lock:
            too_early = self.max_lag is not None and self._wait_of(self.in_flight) > self.max_lag
            if too_early or number in self.in_flight:
                return
            version = self.in_flight[number] = self.published
            self.submitted += 1
            key = f"{self.session}-{number}-{self.submitted}"
        hand_back = partial(self._hand_back, number, version)
        self.dispatcher.submit(key, f"{self.session}-{version}", group.task().to_bytes(), hand_back)

    def _wait_of(self, before: Collection[int] = ()) -> int:
        """Return how many versions later the next answer is learned from; before: groups whose answers come first."""
        return (self.done + self.arrived.qsize() + len(before)) // len(self.groups)

    def _hand_back(self, number: int, version: int, played: Played) -> None:
        """Note an answer; asynchronous groups go on at once.  The dispatcher's thread calls this, with its lock."""
        lag = self.published - version + self._wait_of()  # once it is learned from
        if self.max_lag is not None and lag > self.max_lag:
            self.dropped += 1  # the group is as before, so that its moves are played again
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

    def _take_in(self) -> None:
        """Let the groups take in the answers that have arrived, as many as the iteration may have."""
        while not self._is_full:
            with self.dispatcher.lock:
                try:
                    number, version, played = self.arrived.get_nowait()
                except Empty:
                    return
                self.done += 1
            group = self.groups[number]
            assert isinstance(group, RemoteGroup)
            group.take_in(played)
            self.spent.update(played.seconds)
            self.lags.append(self.published - version)

    def _referee(self, work: str, task: bytes) -> Played:
        """Do a task in this process, whose answer counts where those of two workers differ."""
        version = self.versions[int(work.rpartition("-")[2])]
        played = GroupPlayer.from_bytes(version).play(Task.from_bytes(task), threading.Event())
        assert played is not None
        return self.kind(*played)

    def time_spent(self) -> dict[str, float]:
        """Return the seconds by kind of work, as if this process's threads had spent the workers' time."""
        scale = self.workers.count / max(1, self.dispatcher.cores)
        spent, self.spent = self.spent, Counter()
        return {kind: seconds * scale for kind, seconds in spent.items()}

    def metrics(self) -> dict[str, Any]:
        lags, self.lags = self.lags, []
        found = {**self.dispatcher.metrics(), "processor_share": None}  # of this process, it means little
        if self.max_lag is not None:  # games are played while the network learns, too
            found |= {"moves_per_second": sum(found["workers_moves_per_second"].values()), "readouts_per_second": None}
            found |= {"selfplay_share": None, "lag": mean(lags) if lags else None, "too_old": self.dropped}
        return found

    def news(self) -> list[str]:
        return self.dispatcher.news()

    def close(self) -> None:
        self.dispatcher.close()
