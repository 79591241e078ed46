"""JobPool: gives jobs to workers that come, go and fail, until each job has its answer."""

import itertools
import secrets
import sys
import threading
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.live_bar import LiveBar
from alphago.workers.transport_choice import find_workers
from alphago.workers.work import HAS_LEFT, JobAnswer, RemoteWork, Transport, format_traceback, to_publish

COUNTED = ("done", "repeated", "bytes")
DAMAGED = (ValueError, KeyError, zlib.error, zipfile.BadZipFile)  # errors of reading an answer that is damaged
MOST_ERRORS = 3  # errors of a job, from which the job is at fault
MOST_ENDS = 6  # ends of workers that had a job, from which the job is at fault
SILENCE = 10.0  # seconds without a worker after which the run says so
REPEATED = 6  # after so many times SILENCE the run says so again
AHEAD = 2  # jobs of `map` under way for each core: enough to keep it busy, few enough to keep memory flat
FEWEST = 4  # least number of jobs under way, also before workers are there
WAIT = 0.1  # seconds between two looks of `map` for news of the workers


@dataclass
class Job:
    """A job that is not done.

    Attributes:
        work: the name of its work.
        data: the job as bytes.
        read: makes what is handed back of the answer's bytes.  If it raises an error of DAMAGED, the job is done again.
        hand_back: called with what was read; returns the number of moves played, or of other units of work.
        worker: the worker that has it; None if none has.
        failed: the worker of each error, also if it has ended meanwhile.
        ended: the workers that have ended while they had it, other than by leaving.
    """

    work: str
    data: bytes
    read: Callable[[bytes], Any]
    hand_back: Callable[[Any], int]
    worker: str | None = None
    failed: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


class JobPool:
    """Gives jobs to workers in a thread of its own, which also calls `hand_back`; `check` raises the thread's errors.

    A job that is lost with its worker, or whose answer is damaged, is done again by another worker.  One that fails
    MOST_ERRORS times or ends MOST_ENDS workers ends the thread, with the job's traceback if it has one.

    Args:
        transport: carries the jobs.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.lock = threading.RLock()
        self.session = secrets.token_hex(4)  # part of the names of jobs and works, which may meet those of other calls
        self.numbers = itertools.count(1)
        self.live: dict[str, int] = {}  # by worker that is there, the number of jobs that it does at the same time
        self.refused: set[str] = set()  # workers that cannot do the run's work
        self.jobs: dict[str, Job] = {}
        self.sentences: list[str] = []  # for `news`
        self.counts: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()  # by worker
        self.measured_at = time.monotonic()
        self.tell_at = self.measured_at + SILENCE  # when to say that there is no worker
        self.error: BaseException | None = None
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._run, name="workers", daemon=True)
        self.thread.start()

    # --- for the run's thread ---

    def map(
        self,
        kind: type[RemoteWork],
        data: bytes,
        jobs: Iterable[bytes],
        read: Callable[[bytes], Any],
        stop: threading.Event | None = None,
        *,
        in_order: bool = False,
    ) -> Iterator[Any]:
        """Yield the answers as they arrive.

        Args:
            kind, data: the work, as in `to_publish`.
            read: makes what is yielded of an answer's bytes; raises an error of DAMAGED if they are damaged.
            stop: an event that ends the iteration and drops the jobs under way.
            in_order: whether to yield the answers in the order of the jobs; workers then wait for a job that takes
                long.

        Raises:
            RuntimeError: if no worker can do a job.
        """
        work = self.publish(kind, data)
        arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()  # from the pool's thread
        waiting, under_way, due = enumerate(jobs), 0, 0  # due: the turn of the next answer to yield
        early: dict[int, Any] = {}  # answers that are not yielded, by their turn; they count as under way

        def hand_back(number: int, answer: Any) -> int:
            arrived.put((number, answer))
            return 1

        try:
            while not (stop is not None and stop.is_set()):
                most = max(FEWEST, AHEAD * self.cores)  # workers come and go
                for number, job in itertools.islice(waiting, max(0, most - under_way)):
                    self.submit(work, job, read, partial(hand_back, number))
                    under_way += 1
                if not under_way:
                    return
                try:
                    number, answer = arrived.get(timeout=WAIT)
                except Empty:
                    self.check()
                    for sentence in self.news():
                        LiveBar.write(sentence, file=sys.stderr)
                    continue
                early[number if in_order else due] = answer
                while due in early:
                    yield early.pop(due)
                    due += 1
                    under_way -= 1
        finally:
            with self.lock:
                self.jobs.clear()

    def publish(self, kind: type[RemoteWork], data: bytes, *, exact: bool = True) -> str:
        """Give workers a work, and return its name; earlier works remain as long as jobs need them.

        The arguments are those of `to_publish`.
        """
        name = f"{self.session}-w{next(self.numbers)}"
        work = to_publish(kind, data, exact=exact)
        with self.lock:
            self.check()
            self.transport.publish(name, work, {job.work for job in self.jobs.values()})
        return name

    def submit(self, work: str, data: bytes, read: Callable[[bytes], Any], hand_back: Callable[[Any], int]) -> None:
        """Let workers do a job of a work; the pool's thread calls `read` and `hand_back` as in Job."""
        with self.lock:
            key = f"{self.session}-{next(self.numbers)}"
            self.jobs[key] = Job(work, data, read, hand_back)

    def check(self) -> None:
        """Raise the error that has ended the pool's thread, if there is one."""
        if self.error is not None:
            raise self.error

    def metrics(self) -> dict[str, Any]:
        """Return metrics of the workers, by name: speeds since the last call, and counts of the whole stage."""
        with self.lock:
            seconds = max(time.monotonic() - self.measured_at, 1e-9)  # never 0, by which speeds are divided
            speeds = {name: self.moves[name] / seconds for name in sorted(self.live)}
            self.measured_at, self.moves = time.monotonic(), Counter()
            return {
                "workers": len(speeds),
                "workers_cores": self.cores,
                "workers_moves_per_second": speeds,
                "workers_slowest": min(speeds.values(), default=None),
                "workers_fastest": max(speeds.values(), default=None),
                **{f"tasks_{name}": self.counts[name] for name in COUNTED},
            }

    @property
    def cores(self) -> int:
        """The number of jobs that the workers do at the same time."""
        return sum(self.live.values())

    def news(self) -> list[str]:
        """Return sentences about workers since the last call."""
        with self.lock:
            sentences, self.sentences = self.sentences, []
            return sentences

    def close(self) -> None:
        self.closing.set()
        self.thread.join()

    # --- the pool's own thread ---

    def _run(self) -> None:
        """Repeat `step` until `close` is called; keep an error for `check`, which raises it in the run's thread."""
        try:
            while not self.closing.is_set():
                self.step()
        except BaseException as error:
            self.error = error
        finally:
            with self.lock:  # of `publish`
                self.transport.close()

    def step(self) -> None:
        """Take answers, and give jobs to workers that are free."""
        workers = self.transport.workers()
        with self.lock:
            self._notice(workers)
        answers = self.transport.answers()
        with self.lock:
            for answer in answers:
                self._take(answer)
            self._give()

    def _notice(self, workers: dict[str, int]) -> None:
        """Note which workers are there; the jobs of workers that are gone are given to other workers.

        workers: by name, the numbers of their jobs at the same time.
        """
        before, self.live = self.live, {name: cores for name, cores in workers.items() if name not in self.refused}
        for name in [] if self.transport.is_own else sorted(self.live.keys() - before.keys()):
            cores = self.live[name]
            self.sentences.append(f"worker {name} has come ({cores} task{'s' * (cores != 1)} at a time)")
        for name in sorted(before.keys() - self.live.keys()):
            why = self.transport.gone.get(name, "")
            because = f": {why}" if why else ""
            self.sentences.append(f"worker {name} has gone{because}")
            for job in self._lose_jobs(name):
                if why != HAS_LEFT:
                    count_failure(job.ended, name, MOST_ENDS, f"its worker has ended{because}")
        now = time.monotonic()
        if self.live or not self.jobs:
            self.tell_at = now + SILENCE
        elif now >= self.tell_at:
            self.tell_at = now + REPEATED * SILENCE
            self.sentences.append(f"the run waits for a worker, and there is none: {self.transport.how_to_join()}")

    def _lose_jobs(self, worker: str) -> list[Job]:
        """Take a worker's jobs from it, and return them."""
        lost = [job for job in self.jobs.values() if job.worker == worker]
        for job in lost:
            job.worker = None
        self.counts["repeated"] += len(lost)
        return lost

    def _take(self, answer: JobAnswer) -> None:
        """Hand back a job's answer, or note that its worker has not done it."""
        error = answer.data.decode(errors="replace") if answer.kind in ("error", "refused") else ""
        if answer.kind == "refused" and answer.worker not in self.refused:
            self.sentences.append(f"worker {answer.worker} is left out: {error}")
            self.refused.add(answer.worker)
            self.live.pop(answer.worker, None)
            self._lose_jobs(answer.worker)
        job = self.jobs.get(answer.key)
        if job is None:  # a worker that counted as gone has done it, too
            return
        if answer.kind == "done":
            self.counts["bytes"] += len(answer.data)
            try:
                done = job.read(answer.data)
            except DAMAGED as damage:
                error = f"{format_traceback(damage).strip()} (the answer is damaged)"
            else:
                del self.jobs[answer.key]
                self.counts["done"] += 1
                self.moves[answer.worker] += job.hand_back(done)
                return
        if job.worker != answer.worker:  # another worker has the job now, or will get it
            return
        job.worker = None
        self.counts["repeated"] += 1
        if error:  # otherwise the worker has left before the job was done
            self.sentences.append(f"a task failed on worker {answer.worker}: {error.strip().splitlines()[-1]}")
            count_failure(job.failed, answer.worker, MOST_ERRORS, error)

    def _give(self) -> None:
        """Give the jobs that no worker has to the workers with the most free cores.

        A worker that has failed at a job gets it again only if all others have failed, too.
        """
        free = Counter(self.live)
        free.subtract(job.worker for job in self.jobs.values() if job.worker)  # a job takes one core
        for key, job in [item for item in self.jobs.items() if item[1].worker is None]:
            if max(free.values(), default=0) <= 0:
                return
            candidates = self.live.keys() - job.failed or self.live.keys()
            worker = max(candidates, key=lambda name: free[name])
            if free[worker] > 0:
                self.transport.give(worker, key, job.work, job.data)
                job.worker = worker
                free[worker] -= 1
                self.counts["bytes"] += len(job.data)


def count_failure(failures: list[str], worker: str, most: int, error: str) -> None:
    """Add a worker to a job's failures; raise RuntimeError if they are `most`, and the job is at fault."""
    failures.append(worker)
    if len(failures) >= most:
        names = " and ".join(dict.fromkeys(failures))
        raise RuntimeError(f"a task failed {len(failures)} times, on {names}:\n{error}")


@contextmanager
def open_pool(workers: str | int | None, env: GameEnv | None = None) -> Iterator[JobPool | None]:
    """Yield the pool of the workers that a user names, as `find_workers` takes them; None for this process's threads.

    Args:
        env: the game that the workers need to know.
    """
    make_transport = find_workers(workers)
    if make_transport is None:
        yield None
        return
    pool = JobPool(make_transport(env))
    try:
        yield pool
    finally:
        pool.close()
