"""Workers for tests: in this process, which do, fail or die as they are told."""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers.work import JobAnswer, WorkBench

NEVER, STOPPED = threading.Event(), threading.Event()
STOPPED.set()
Behaviour = Callable[[JobAnswer], JobAnswer | None]  # what a worker makes of the right answer; None: it dies instead


def honest(answer: JobAnswer) -> JobAnswer:
    return answer


def failing(answer: JobAnswer) -> JobAnswer:
    return JobAnswer(answer.worker, answer.key, "error", b"Traceback\nArithmeticError: one too many")


def damaging(answer: JobAnswer) -> JobAnswer:
    """Of an archive the method of compression is damaged, of another answer the end."""
    before, directory, after = answer.data.rpartition(b"PK\1\2")
    damaged = before + directory + after[:6] + b"c" + after[7:]
    return answer._replace(data=damaged if directory else answer.data[:-1])


def refusing(answer: JobAnswer) -> JobAnswer:
    return JobAnswer(answer.worker, answer.key, "refused", b"this worker must be another one")


def dying(_: JobAnswer) -> None:
    return None


class Local:
    """A transport whose workers do one task at a time, when answers are asked for; device: theirs."""

    is_own = False

    def __init__(self, *, device: str = "cpu", **workers: Behaviour) -> None:
        self.behaviours = workers
        self.gone: dict[str, str] = {}
        self.works: dict[str, bytes] = {}
        self.bench = WorkBench(lambda name: self.works[name], device)
        self.given: deque[tuple[str, str, str, bytes]] = deque()
        self.done: list[tuple[str, str]] = []
        self.asked: set[str] = set()  # the workers that were given a task
        self.closed = 0

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        self.works = {name: data} | {old: self.works[old] for old in keep - {name}}

    def workers(self) -> dict[str, int]:
        return dict.fromkeys(self.behaviours, 1)

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        assert work in self.works
        self.given.append((worker, key, work, job))
        self.asked.add(worker)

    def answers(self) -> list[JobAnswer]:
        if not self.given:
            NEVER.wait(0.001)
            return []
        worker, key, work, job = self.given.popleft()
        if worker not in self.behaviours:
            return []
        right = JobAnswer(worker, key, *self.bench.do(work, lambda: job, NEVER))
        if right.kind == "refused":
            return [right]
        assert right.kind == "done", right.data.decode()
        self.done.append((worker, key))
        answer = self.behaviours[worker](right)
        if answer is None:
            del self.behaviours[worker]
        return [] if answer is None else [answer]

    def how_to_join(self) -> str:
        return "add one"

    def close(self) -> None:
        self.closed += 1


def source_of(transport: Any, **options: Any) -> Callable[..., RemoteSelfPlay]:
    """Return a MakeSource whose workers are those of a transport."""
    return partial(RemoteSelfPlay, make_transport=lambda env: transport, **options)
