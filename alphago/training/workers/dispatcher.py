"""Dispatcher: gives tasks to workers that come, go, fail, dawdle or lie, and hands back one answer for each task."""

import hashlib
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from alphago.training.workers.task import Played, Task
from alphago.training.workers.transport import TaskAnswer, Transport

MOST_FAILURES = 3  # of a task, on two workers if there are two
MOST_DEATHS = 6  # workers that a task may take with it
SILENCE = 10.0  # seconds without a worker after which the run says so, and again after six times as many
DAWDLING = 2.0  # a task that takes so many times the usual seconds, and one more, is also given to an idle worker


@dataclass
class OpenTask:
    """A task until its answer is handed back.

    given: the workers that have it, and since when.  answers: by worker.  failures: worker and traceback of each.
    """

    key: str
    task: Task
    hand_back: Callable[[Played], object]
    copies: int  # answers that must agree
    given: dict[str, float] = field(default_factory=dict)
    answers: dict[str, Played] = field(default_factory=dict)
    failures: list[tuple[str, str]] = field(default_factory=list)
    deaths: int = 0


class Dispatcher:
    """Has a thread of its own, from which `hand_back` is called; an error in it is raised by `check`.

    transport: carries the tasks.
    audits: the share of the tasks that two workers do, whose answers must agree bit for bit.
    referee: does a task in this process where two answers differ.
    """

    def __init__(self, transport: Transport, *, audits: float, referee: Callable[[Task], Played]) -> None:
        self.transport, self.audits, self.referee = transport, audits, referee
        self.lock = threading.RLock()
        self.jobs: dict[str, OpenTask] = {}
        self.versions: dict[str, bytes] = {}  # still to be published
        self.live: dict[str, int] = {}
        self.out: set[str] = set()  # workers that are left out
        self.sentences: list[str] = []
        self.durations: deque[float] = deque(maxlen=100)
        self.counts: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()  # by worker
        self.empty_since = self.measured_at = time.monotonic()
        self.told_at = -SILENCE * 6
        self.error: BaseException | None = None
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._run, name="workers", daemon=True)
        self.thread.start()

    # --- for the run's thread ---

    def publish(self, name: str, data: bytes) -> None:
        """Let workers have a version; those that tasks still need remain."""
        with self.lock:
            self.versions[name] = data

    def submit(self, key: str, task: Task, hand_back: Callable[[Played], object]) -> None:
        """Have a task done; `hand_back` is called once with its answer, from the dispatcher's thread."""
        drawn = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) / 2**32
        with self.lock:
            self.jobs[key] = OpenTask(key, task, hand_back, 2 if drawn < self.audits else 1)

    def check(self) -> None:
        """Raise the error that has ended the dispatcher's thread, if there is one."""
        if self.error is not None:
            raise self.error

    def metrics(self) -> dict[str, Any]:
        """Return what there is to tell of the workers since the last call, by name; counts are of the whole stage."""
        with self.lock:
            now, moves = time.monotonic(), self.moves
            seconds, self.measured_at, self.moves = now - self.measured_at, now, Counter()
            counts = {name: self.counts[name] for name in ("done", "repeated", "audited", "left_out", "bytes")}
            return {
                "workers": len(self.live),
                "workers_cores": sum(self.live.values()),
                "workers_moves_per_second": {name: moves[name] / max(seconds, 1e-9) for name in sorted(self.live)},
                **{f"tasks_{name}": count for name, count in counts.items()},
            }

    @property
    def has_news(self) -> bool:
        """Whether `news` has something to say."""
        return bool(self.sentences)

    def news(self) -> list[str]:
        """Return sentences about workers since the last call."""
        with self.lock:
            sentences, self.sentences = self.sentences, []
            return sentences

    def close(self) -> None:
        self.closing.set()
        self.thread.join()

    # --- the dispatcher's thread ---

    def _run(self) -> None:
        try:
            while not self.closing.is_set():
                self.step()
        except BaseException as error:
            self.error = error
        finally:
            self.transport.close()

    def step(self) -> None:
        """Take answers, publish what is new, and give tasks to workers that are free."""
        self._notice(self.transport.workers())
        answers = self.transport.answers()
        with self.lock:
            for answer in answers:
                self._take(answer)
            while self.versions:
                name = next(iter(self.versions))
                needed = {job.task.version for job in self.jobs.values()}
                self.transport.publish(name, self.versions.pop(name), needed)
            self._give()

    def _notice(self, live: dict[str, int]) -> None:
        """Notice which workers have come and gone; the tasks of those gone are given to others."""
        with self.lock:
            live = {name: cores for name, cores in live.items() if name not in self.out}
            came, gone = live.keys() - self.live.keys(), self.live.keys() - live.keys()
            self.live = live
            self.counts["came"] += len(came)
            self.sentences += [f"worker {name} has come ({live[name]} tasks at a time)" for name in sorted(came)]
            self.sentences += [f"worker {name} has gone" for name in sorted(gone - self.out)]
            for job in self.jobs.values():
                for name in job.given.keys() & gone:
                    del job.given[name]
                    job.deaths += name not in self.out
                    self.counts["repeated"] += 1
                    if job.deaths >= MOST_DEATHS:
                        raise RuntimeError(f"{job.deaths} workers have ended while they played one task: {job.key}")
            now = time.monotonic()
            if live or not self.jobs:
                self.empty_since = now
            elif now - self.empty_since >= SILENCE and now - self.told_at >= 6 * SILENCE:
                self.told_at = now
                waiting = f"the run waits for a worker, there is none since {now - self.empty_since:.0f} s"
                self.sentences.append(f"{waiting}: {self.transport.how_to_join()}")

    def _take(self, answer: TaskAnswer) -> None:
        job = self.jobs.get(answer.key)
        since = job.given.pop(answer.worker, None) if job is not None else None
        if answer.refused:
            self._leave_out(answer.worker, answer.refused)
        if job is None or answer.worker in self.out:
            return
        played, error = None, answer.error
        if answer.played is not None:
            self.counts["bytes"] += len(answer.played)
            try:
                played = Played.from_bytes(answer.played)
            except ValueError as damage:
                error = f"the answer {damage}"
        if error:
            self._fail(job, answer.worker, error)
        elif played is None:
            self.counts["repeated"] += 1  # the worker left before it was done
        else:
            self.durations.append(time.monotonic() - (since or 0.0) if since else 0.0)
            self.moves[answer.worker] += played.moves
            job.answers[answer.worker] = played
            self._finish(job)

    def _fail(self, job: OpenTask, worker: str, error: str) -> None:
        job.failures.append((worker, error))
        self.counts["repeated"] += 1
        self.sentences.append(f"a task failed on worker {worker}: {error.strip().splitlines()[-1]}")
        names = list(dict.fromkeys(name for name, _ in job.failures))
        if len(job.failures) >= MOST_FAILURES and len(names) >= min(2, len(self.live)):
            raise RuntimeError(f"a task failed {len(job.failures)} times, on {' and '.join(names)}:\n{error}")

    def _finish(self, job: OpenTask) -> None:
        """Hand back a task's answer, if there are as many as must agree, or no other worker is there to be asked."""
        others = self.live.keys() - job.answers.keys()
        if len(job.answers) < job.copies and others:
            return
        played, *rest = job.answers.values()
        if not all(map(played.same_games, rest)):
            played = self.referee(job.task)
            for name in [name for name, other in job.answers.items() if not played.same_games(other)]:
                self._leave_out(name, "its games differ from those that two others computed of the same task")
        self.counts["audited"] += bool(rest)
        self.counts["done"] += 1
        del self.jobs[job.key]
        job.hand_back(played)

    def _leave_out(self, worker: str, why: str) -> None:
        if worker not in self.out:
            self.out.add(worker)
            self.counts["left_out"] += 1
            self.sentences.append(f"worker {worker} is left out: {why}")
            self.transport.leave_out(worker, why)

    def _give(self) -> None:
        free = Counter({name: cores for name, cores in self.live.items() if name not in self.out})
        for job in self.jobs.values():
            free.subtract(job.given.keys() & free.keys())
        for job in list(self.jobs.values()):
            if len(job.given) + len(job.answers) < job.copies:
                self._give_one(job, free)
        usual = DAWDLING * median(self.durations) + 1.0 if self.durations else float("inf")
        for job in list(self.jobs.values()):
            if len(job.given) == 1 and time.monotonic() - min(job.given.values()) > usual:
                self._give_one(job, free)

    def _give_one(self, job: OpenTask, free: "Counter[str]") -> None:
        """Give a task to the worker with the most free cores that has not had it, or rather not failed at it."""
        failed = {name for name, _ in job.failures}
        able = [name for name, cores in free.items() if cores > 0 and name not in {*job.given, *job.answers}]
        if not failed.issuperset(self.live):
            able = [name for name in able if name not in failed]
        if able:
            worker = max(able, key=lambda name: free[name])
            data = job.task.to_bytes()
            self.counts["bytes"] += len(data)
            self.transport.give(worker, job.key, job.task.version, data)
            job.given[worker] = time.monotonic()
            free[worker] -= 1


def traceback_of(error: BaseException) -> str:
    """Return an exception's traceback as text, for an TaskAnswer."""
    return "".join(traceback.format_exception(error))
