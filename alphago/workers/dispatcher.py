"""Dispatcher: gives jobs to workers that come, go, fail, dawdle or lie, and hands back one answer for each job."""

import hashlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from math import log
from statistics import mean, median, stdev
from typing import Any, Generic

from alphago.workers.open_job import Answer, OpenJob
from alphago.workers.roster import Roster
from alphago.workers.transport import JobAnswer, Transport

COUNTED = ("done", "repeated", "audited", "left_out", "bytes")
DAWDLING = 2.0  # a job that takes longer than DAWDLING times the median, plus a second, is also given to an idle worker


class Dispatcher(Generic[Answer]):
    """Gives jobs to workers in a thread of its own, which also calls `hand_back`; `check` raises the thread's errors.

    transport: carries the jobs.
    read: converts the bytes of an answer; raises ValueError if they are damaged.
    referee: does a job in this process if two answers differ; its arguments are the name of the work, and the job.
    audits: the share of the jobs that two workers do; their answers must be the same.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        read: Callable[[bytes], Answer],
        referee: Callable[[str, bytes], Answer],
        audits: float,
    ) -> None:
        self.transport, self.read, self.referee, self.audits = transport, read, referee, audits
        self.lock = threading.RLock()
        self.roster = Roster()
        self.jobs: dict[str, OpenJob[Answer]] = {}
        self.works: dict[str, bytes] = {}  # works that the thread has yet to publish
        self.durations: deque[float] = deque(maxlen=100)
        self.latest: list[float] = []  # durations since the last call of `metrics`
        self.counts: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()  # by worker
        self.measured_at = time.monotonic()
        self.error: BaseException | None = None
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._run, name="workers", daemon=True)
        self.thread.start()

    # --- for the run's thread ---

    def publish(self, name: str, data: bytes) -> None:
        """Give workers a work; earlier works remain as long as jobs need them."""
        with self.lock:
            self.works[name] = data

    def submit(self, key: str, work: str, data: bytes, hand_back: Callable[[Answer], object]) -> None:
        """Let workers do a job of a work; the dispatcher's thread calls `hand_back` once, with the answer."""
        # A hash of the key as a number in [0, 1), so that a job's audit does not depend on when it is submitted.
        drawn = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) / 2**32
        with self.lock:
            self.jobs[key] = OpenJob(key, work, data, hand_back, copies=2 if drawn < self.audits else 1)

    def withdraw(self) -> None:
        """Drop the jobs that are not done."""
        with self.lock:
            self.jobs.clear()

    def check(self) -> None:
        """Raise the error that has ended the dispatcher's thread, if there is one."""
        if self.error is not None:
            raise self.error

    def metrics(self) -> dict[str, Any]:
        """Return metrics of the workers, by name: speeds since the last call, and counts of the whole stage."""
        with self.lock:
            seconds = max(time.monotonic() - self.measured_at, 1e-9)  # never 0, by which speeds are divided
            speeds = {name: self.moves[name] / seconds for name in sorted(self.roster.live)}
            lasted = self.latest
            self.measured_at, self.moves, self.latest = time.monotonic(), Counter(), []
            return {
                "workers": len(speeds),
                "workers_cores": self.cores,
                "workers_moves_per_second": speeds,
                "workers_slowest": min(speeds.values(), default=None),
                "workers_fastest": max(speeds.values(), default=None),
                "task_seconds": mean(lasted) if lasted else None,  # from giving the job to its answer
                "task_spread": stdev(map(log, lasted)) if len(lasted) > 1 else None,  # of the logarithms
                **{f"tasks_{name}": self.counts[name] for name in COUNTED},
            }

    @property
    def cores(self) -> int:
        """The number of jobs that the workers do at the same time."""
        return sum(self.roster.live.values())

    @property
    def has_news(self) -> bool:
        """Whether `news` has something to say."""
        return bool(self.roster.sentences)

    def tell(self, sentence: str) -> None:
        """Add a sentence to `news`."""
        with self.lock:
            self.roster.sentences.append(sentence)

    def news(self) -> list[str]:
        """Return sentences about workers since the last call."""
        with self.lock:
            return self.roster.take_sentences()

    def close(self) -> None:
        self.closing.set()
        self.thread.join()

    # --- the dispatcher's thread ---

    def _run(self) -> None:
        """Repeat `step` until `close` is called; keep an error for `check`, which raises it in the run's thread."""
        try:
            while not self.closing.is_set():
                self.step()
        except BaseException as error:
            self.error = error
        finally:
            self.transport.close()

    def step(self) -> None:
        """Take answers, publish new works, and give jobs to workers that are free."""
        there = self.transport.workers()
        with self.lock:
            self._notice(there)
        answers = self.transport.answers()
        with self.lock:
            for answer in answers:
                self._take(answer)
            for job in [job for job in self.jobs.values() if job.is_done(self.roster.live)]:
                self._finish(job)
            for name in list(self.works):
                needed = {job.work for job in self.jobs.values()}
                self.transport.publish(name, self.works.pop(name), needed)
            self._give()

    def _notice(self, there: dict[str, int]) -> None:
        """Note which workers are there; the jobs of workers that are gone are given to other workers.

        there: as in `Roster.notice`.
        """
        for name in self.roster.notice(there, self.transport.why_gone):
            for job in [job for job in self.jobs.values() if name in job.given]:
                self.counts["repeated"] += 1
                if name in self.roster.out:  # it was left out, and has not died with the job
                    del job.given[name]
                else:
                    others_play = any(other.given for other in self.jobs.values() if other is not job)
                    # Without an answer to any job so far, the cause may be the machines and not this job.
                    job.lose(name, hope=others_play and not self.roster.proven)
        seconds = self.roster.silence(wanted=bool(self.jobs))
        if seconds is not None:
            out = f" but {len(self.roster.out)} left out" if self.roster.out else ""
            waiting = f"the run waits for a worker, there is none since {seconds:.0f} s{out}"
            self.roster.sentences.append(f"{waiting}: {self.transport.how_to_join()}")

    def _take(self, answer: JobAnswer) -> None:
        """Store an answer, or an error, with its job; ignore it if the job is done or the worker is left out."""
        job = self.jobs.get(answer.key)
        # None if the job is done, or if this worker counted as gone in the meantime.
        given_at = job.given.pop(answer.worker, None) if job is not None else None
        if answer.refused:
            self._leave_out(answer.worker, answer.refused)
        if job is None or answer.worker in self.roster.out:
            return
        result, error = None, answer.error
        if answer.done is not None:
            self.counts["bytes"] += len(answer.done)
            try:
                result = self.read(answer.done)
            except ValueError as damage:
                error = f"the answer {damage}"
        if result is None:  # the worker has failed, or has left before the job was done
            self.counts["repeated"] += 1
            if error:
                self.roster.sentences.append(f"a task failed on worker {answer.worker}: {last_line(error)}")
                job.fail(answer.worker, error, self.roster.live)
            return
        if given_at is not None:
            self.durations.append(time.monotonic() - given_at)
            self.latest.append(self.durations[-1])
        self.roster.proven.add(answer.worker)
        self.moves[answer.worker] += result.moves
        job.answers[answer.worker] = result

    def _finish(self, job: OpenJob[Answer]) -> None:
        """Hand back a job's answer; leave out the workers whose answers were wrong."""
        answer, wrong = job.settle(self.referee)
        for name in wrong:
            self._leave_out(name, "its games differ from those that two others computed of the same task")
        if len(job.answers) > 1:
            self.counts["audited"] += 1
        self.counts["done"] += 1
        del self.jobs[job.key]
        job.hand_back(answer)

    def _leave_out(self, worker: str, why: str) -> None:
        if self.roster.leave_out(worker, why):
            self.counts["left_out"] += 1
            self.transport.leave_out(worker, why)

    def _give(self) -> None:
        """Give jobs to free cores: first the jobs that no worker has, then the jobs that take long."""
        free = Counter({name: cores for name, cores in self.roster.live.items() if name not in self.roster.out})
        for job in self.jobs.values():
            free.subtract(job.given.keys() & free.keys())  # a job takes one core
        if max(free.values(), default=0) <= 0:
            return
        for job in [job for job in self.jobs.values() if job.is_short]:
            self._give_one(job, free)
        long_seconds = DAWDLING * median(self.durations) + 1.0 if self.durations else float("inf")
        for job in [job for job in self.jobs.values() if job.dawdles(long_seconds)]:
            self._give_one(job, free)

    def _give_one(self, job: OpenJob[Answer], free: "Counter[str]") -> None:
        """Give a job to the worker with the most free cores among the workers that may have it, if there are any.

        free: the number of free cores by worker, which is updated.
        """
        if able := job.able(free, self.roster.live, self.roster.proven):
            worker = max(able, key=lambda name: free[name])
            self.counts["bytes"] += len(job.data)
            self.transport.give(worker, job.key, job.work, job.data)
            job.given[worker] = time.monotonic()
            free[worker] -= 1


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]
