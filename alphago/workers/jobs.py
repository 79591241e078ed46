"""JobPool: gives jobs to workers that come, go and fail, until each job has its answer; and who the workers are."""

import itertools
import secrets
import sys
import threading
import time
import traceback
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from alphago.drawing.live_bar import LiveBar
from alphago.env.game import GameEnv
from alphago.system.validation import check_int
from alphago.workers.own_workers import OwnWorkers
from alphago.workers.ray_cluster import RayCluster, cluster_here, import_ray
from alphago.workers.shared_folder import SharedFolder
from alphago.workers.work import HAS_LEFT, JobAnswer, RemoteWork, Transport, to_publish

# Errors of reading an answer that is damaged.
DAMAGED = (ValueError, KeyError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
MOST_ERRORS = 3  # after so many errors of a job, the job is at fault, and not its workers
MOST_ENDS = 6  # the same after so many workers that ended while they had it
SILENCE = 10.0  # seconds without a worker after which the run says so
SILENCES_TO_REPEAT = 6  # after so many more times SILENCE the run says so again
AHEAD = 2  # jobs of `map` under way for each core: enough to keep it busy, few enough to keep memory flat
FEWEST = 4  # least number of jobs under way, also before workers are there
WAIT = 0.1  # seconds after which `map`, if no answer arrives, asks for news of the workers
FOLDER = "folder:"
MOST_WORKERS = 10_000
MakeTransport = Callable[[GameEnv | None], Transport]  # returns the transport to workers for games of an env


@dataclass
class Job:
    """A job that is not done.

    Attributes:
        work: the name of its work.
        data: the job as bytes.
        read: converts the answer's bytes to what `hand_back` takes.  If it raises an error of DAMAGED, the job is done
            again.
        hand_back: called with the result of `read`; returns the number of moves played, or of other units of work.
        worker: the name of the worker that has the job; None if no worker has it.
        failed_workers: for each error of the job, the worker's name.
        ended_workers: the workers that ended while they had the job, without those that left as they were told.
    """

    work: str
    data: bytes
    read: Callable[[bytes], Any]
    hand_back: Callable[[Any], int]
    worker: str | None = None
    failed_workers: list[str] = field(default_factory=list)
    ended_workers: list[str] = field(default_factory=list)


class JobPool:
    """Gives jobs to workers in a thread of its own, which also calls `hand_back`; `check` raises the thread's errors.

    A job whose worker ends, or whose answer is damaged, is done again by another worker.  A job that fails MOST_ERRORS
    times or ends MOST_ENDS workers ends the thread with an error, which has the job's traceback if there is one.

    Args:
        transport: carries the jobs.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.lock = threading.RLock()
        self.session = secrets.token_hex(4)  # begins the names of jobs and works: workers may have those of other calls
        self.numbers = itertools.count(1)  # for the names of jobs and works
        self.live: dict[str, int] = {}  # by the name of a worker that is there: how many jobs it does at the same time
        self.refused: set[str] = set()  # workers that cannot do the run's work
        self.jobs: dict[str, Job] = {}  # by key: the jobs that are not done
        self.sentences: list[str] = []  # for `news`
        # Jobs done, jobs taken from a worker again, bytes of jobs and answers.
        self.counts = Counter(done=0, repeated=0, bytes=0)
        self.moves: Counter[str] = Counter()  # by worker, since the last `metrics`
        self.measured_at = time.monotonic()  # when `metrics` was last called
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
        """Let workers do jobs of one work, and yield the answers as they arrive.

        Args:
            kind, data: the work: its class, and the argument of the class's `from_bytes`.
            jobs: the jobs as bytes.
            read: converts an answer's bytes to what is yielded; raises an error of DAMAGED if they are damaged.
            stop: an event that ends the iteration and drops the jobs under way.
            in_order: whether to yield the answers in the order of the jobs; workers then wait for a job that takes
                long.

        Raises:
            RuntimeError: if no worker can do a job.
        """
        work = self.publish(kind, data)
        jobs = iter(jobs)
        arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()  # numbers of jobs and answers, from the pool's thread
        submitted = yielded = 0  # how many jobs were submitted, and how many answers yielded
        waiting: dict[int, Any] = {}  # answers, by how many others are to be yielded before

        def hand_back(number: int, answer: Any) -> int:
            """Put a job's answer into `arrived`, and return 1 unit of work; the pool's thread calls this (see Job)."""
            arrived.put((number, answer))
            return 1

        try:
            while not (stop is not None and stop.is_set()):
                most = max(FEWEST, AHEAD * self.cores)  # jobs under way, with those whose answers wait for their turn
                while submitted - yielded < most and (job := next(jobs, None)) is not None:
                    self.submit(work, job, read, partial(hand_back, submitted))
                    submitted += 1
                if submitted == yielded:  # no job is left or under way
                    return
                try:
                    number, answer = arrived.get(timeout=WAIT)
                except Empty:
                    self.check()
                    for sentence in self.news():
                        LiveBar.write(sentence, file=sys.stderr)
                    continue
                waiting[number if in_order else yielded] = answer  # without an order, each is the next
                while yielded in waiting:
                    yield waiting.pop(yielded)
                    yielded += 1
        finally:
            with self.lock:
                self.jobs.clear()

    def publish(self, kind: type[RemoteWork], data: bytes, *, exact: bool = True) -> str:
        """Give workers a work, and return its name; earlier works remain as long as jobs need them.

        Args:
            kind: the work's class.
            data: the argument of the class's `from_bytes`.
            exact: whether answers must be equal to the bit, which also needs equal versions of libraries.
        """
        name = f"{self.session}-w{next(self.numbers)}"
        work = to_publish(kind, data, exact=exact)
        with self.lock:
            self.check()
            self.transport.publish(name, work, {job.work for job in self.jobs.values()})
        return name

    def submit(self, work: str, data: bytes, read: Callable[[bytes], Any], hand_back: Callable[[Any], int]) -> None:
        """Let workers do a job; return at once.

        Args:
            work: the name of its work, from `publish`.
            data: the job as bytes.
            read, hand_back: see Job; the pool's thread calls them.
        """
        with self.lock:
            self.jobs[f"{self.session}-{next(self.numbers)}"] = Job(work, data, read, hand_back)

    def check(self) -> None:
        """Raise the error that has ended the pool's thread, if there is one."""
        if self.error is not None:
            raise self.error

    def metrics(self) -> dict[str, Any]:
        """Return metrics of the workers, by name: speeds since the last call, and counts since the pool began."""
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
                **{f"tasks_{name}": count for name, count in self.counts.items()},
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
        """End the pool's thread, which closes the transport."""
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
            with self.lock:  # not while another thread publishes
                self.transport.close()

    def step(self) -> None:
        """Note which workers are there, take their answers, and give jobs to workers that are free."""
        workers = self.transport.workers()
        answers = self.transport.answers()
        with self.lock:
            self._note_workers(workers)
            for answer in answers:
                self._take_answer(answer)
            self._give_jobs()

    def _note_workers(self, workers: dict[str, int]) -> None:
        """Note which workers are there; let other workers do the jobs of those that are gone.

        Args:
            workers: by name: how many jobs the worker does at the same time.
        """
        before = self.live
        self.live = {name: cores for name, cores in workers.items() if name not in self.refused}
        for name, cores in sorted(self.live.items()):
            if name not in before and not self.transport.is_own:  # the start of own workers is no news
                self.sentences.append(f"worker {name} has come ({cores} task{'s' * (cores != 1)} at a time)")
        for name in sorted(before.keys() - self.live.keys()):
            why = self.transport.gone.get(name, "")
            because = f": {why}" if why else ""
            self.sentences.append(f"worker {name} has gone{because}")
            for job in self._lose_jobs(name):
                if why != HAS_LEFT:
                    # Raises RuntimeError if the job has now ended MOST_ENDS workers.
                    count_failure(job.ended_workers, name, MOST_ENDS, f"its worker has ended{because}")
        now = time.monotonic()
        if self.live or not self.jobs:  # no job waits for a worker, so SILENCE begins anew
            self.tell_at = now + SILENCE
        elif now >= self.tell_at:
            self.tell_at = now + SILENCES_TO_REPEAT * SILENCE
            self.sentences.append(f"the run waits for a worker, and there is none: {self.transport.how_to_join()}")

    def _lose_jobs(self, worker: str) -> list[Job]:
        """Take a worker's jobs from it, and return them."""
        lost = [job for job in self.jobs.values() if job.worker == worker]
        for job in lost:
            job.worker = None
        self.counts["repeated"] += len(lost)
        return lost

    def _take_answer(self, answer: JobAnswer) -> None:
        """Hand back the answer to a job, or let workers do the job again; leave out a worker that refuses the work."""
        if answer.kind == "refused":
            self._leave_out(answer.worker, reason=answer.data.decode(errors="replace"))
            return
        if (job := self.jobs.get(answer.key)) is None:  # done twice: by a worker that counted as gone, and by another
            return
        error = answer.data.decode(errors="replace") if answer.kind == "error" else ""  # a traceback, or none
        if answer.kind == "done":
            self.counts["bytes"] += len(answer.data)
            try:
                result = job.read(answer.data)
            except DAMAGED:
                error = f"{traceback.format_exc().strip()} (the answer is damaged)"
            else:
                del self.jobs[answer.key]
                self.counts["done"] += 1
                self.moves[answer.worker] += job.hand_back(result)
                return
        # The worker has failed at the job, or has left before it was done.
        if job.worker == answer.worker:  # otherwise another worker has the job now, or will get it
            job.worker = None
            self.counts["repeated"] += 1
            if error:
                self.sentences.append(f"a task failed on worker {answer.worker}: {error.strip().splitlines()[-1]}")
                # Raises RuntimeError if the job has now failed MOST_ERRORS times.
                count_failure(job.failed_workers, answer.worker, MOST_ERRORS, error)

    def _leave_out(self, worker: str, reason: str) -> None:
        """Give a worker no more jobs, since it cannot do the run's work, and take its jobs from it."""
        if worker not in self.refused:
            self.sentences.append(f"worker {worker} is left out: {reason}")
            self.refused.add(worker)
            self.live.pop(worker, None)
            self._lose_jobs(worker)

    def _give_jobs(self) -> None:
        """Give the jobs that no worker has to the workers with the most free cores.

        A worker that has failed at a job gets it again only if all workers have failed at it.
        """
        free = Counter(self.live)  # by worker: the number of free cores
        free.subtract(job.worker for job in self.jobs.values() if job.worker)  # a job takes one core
        for key, job in [(key, job) for key, job in self.jobs.items() if job.worker is None]:
            if max(free.values(), default=0) <= 0:
                return
            candidates = (self.live.keys() - job.failed_workers) or self.live.keys()
            worker = max(candidates, key=lambda name: free[name])
            if free[worker] > 0:
                self.transport.give(worker, key, job.work, job.data)
                job.worker = worker
                free[worker] -= 1
                self.counts["bytes"] += len(job.data)


def count_failure(failures: list[str], worker: str, most: int, error: str) -> None:
    """Add a worker to a job's failures; raise RuntimeError if there are `most` of them.

    Args:
        failures: `Job.failed_workers` or `Job.ended_workers`.
        error: the text about the latest failure, for the message.
    """
    failures.append(worker)
    if len(failures) >= most:
        names = " and ".join(dict.fromkeys(failures))
        raise RuntimeError(f"a task failed {len(failures)} times, on {names}:\n{error}")


def find_workers(workers: str | int | None) -> MakeTransport | None:
    """Return the function that makes the transport to the workers that a user names; None for this process's threads.

    Args:
        workers: a number of processes of one core each; "auto" for the Ray cluster that runs on this machine, or for
            this process's threads if no cluster runs; "folder:PATH" for the workers that share a folder; or the address
            of a Ray cluster.

    Raises:
        ValueError: for another value.
        ImportError: if Ray is needed and not installed.
    """
    number = int(workers) if isinstance(workers, str) and workers.isdecimal() else workers
    if isinstance(number, int):
        return partial(OwnWorkers, check_int("workers", number, 1, MOST_WORKERS))
    if workers == "auto":
        workers = cluster_here()
    if workers is None:
        return None
    if not isinstance(workers, str) or ":" not in workers:
        raise ValueError(f"workers must be a number, auto, a Ray cluster's HOST:PORT or folder:PATH, got {workers!r}")
    if workers.startswith(FOLDER):
        path = workers.removeprefix(FOLDER)
        return lambda env: SharedFolder(path)  # a worker there is told its game when it is started
    import_ray()  # raises ImportError now, before anything else is begun
    return partial(RayCluster, workers)


def open_pool(workers: str | int | None, env: GameEnv | None = None) -> AbstractContextManager[JobPool | None]:
    """Return a context manager for `with`, which gives a JobPool of the workers that a user names, and closes it.

    It gives None if `workers` means this process's threads.

    Args:
        workers: as in `find_workers`.
        env: the game that the workers need to know; None if they need none.
    """
    make_transport = find_workers(workers)
    return nullcontext() if make_transport is None else closing(JobPool(make_transport(env)))
