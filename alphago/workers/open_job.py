"""OpenJob: a job until its answer is handed back: which workers have it or failed at it, and which answer counts."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

MOST_FAILURES = 3  # failures of a job, on two workers if there are two, from which the job is at fault
MOST_DEATHS = 6  # deaths of workers that have the job, from which the job is at fault


class Comparable(Protocol):
    """An answer, converted from its bytes."""

    @property
    def moves(self) -> int:
        """The number of moves played, or of other units of work, from which a worker's speed is computed."""

    def same_games(self, other: Self, /) -> bool:
        """Return whether two answers are the same, as far as different workers can give the same answer."""


Answer = TypeVar("Answer", bound=Comparable)


@dataclass
class OpenJob(Generic[Answer]):
    """A job that is not done.

    key: the job's name.  work: the name of its work.  data: the job as bytes.
    hand_back: called once, with the answer.
    copies: number of answers that must agree.
    given: by worker that has the job, the time since when.  answers: answers by worker.
    failures: worker and traceback of each failure.  deaths: number of workers that have ended while they had the job.
    """

    key: str
    work: str
    data: bytes
    hand_back: Callable[[Answer], object]
    copies: int
    given: dict[str, float] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    failures: list[tuple[str, str]] = field(default_factory=list)
    deaths: int = 0

    @property
    def is_short(self) -> bool:
        """Whether more workers must get the job: fewer than `copies` have it or have answered."""
        return len(self.given) + len(self.answers) < self.copies

    def is_done(self, live: Collection[str]) -> bool:
        """Whether enough workers have answered, or one has and all other live workers have failed at the job."""
        if len(self.answers) >= self.copies:
            return True
        have_tried = {*self.answers, *(name for name, _ in self.failures)}
        nobody_else = not self.given and have_tried.issuperset(live)
        return bool(self.answers) and nobody_else

    def dawdles(self, seconds: float) -> bool:
        """Whether a single worker has the job, and has had it for longer than `seconds`."""
        return len(self.given) == 1 and time.monotonic() - min(self.given.values()) > seconds

    def able(self, free: dict[str, int], live: Collection[str], proven: Collection[str]) -> list[str]:
        """Return the workers with a free core that may get the job.

        A worker that has the job or has answered does not get it again.  A worker that has failed at the job gets it
        again only if all live workers have failed.  Once a worker has died with the job, only proven workers get it, if
        there are any: otherwise new workers that die for other reasons would make the job seem the cause.

        free: number of free cores by worker.  live: the workers that are there.  proven: workers that have answered.
        """
        without_failure = set(live) - {name for name, _ in self.failures}
        wanted = (without_failure or set(live)) - self.answers.keys()
        if self.deaths and wanted & set(proven):
            wanted &= set(proven)
        wanted -= self.given.keys()
        return [name for name, cores in free.items() if cores > 0 and name in wanted]

    def fail(self, worker: str, error: str, live: Collection[str]) -> None:
        """Note a worker's failure with the job; raise RuntimeError if the job itself is at fault.

        error: the traceback.  live: the workers that are there.
        """
        self.failures.append((worker, error))
        names = list(dict.fromkeys(name for name, _ in self.failures))
        if len(self.failures) >= MOST_FAILURES and len(names) >= min(2, len(live)):
            raise RuntimeError(f"a task failed {len(self.failures)} times, on {' and '.join(names)}:\n{error}")

    def lose(self, worker: str, *, hope: bool = False) -> None:
        """Note that a worker that had the job has ended; raise ChildProcessError if that has happened too often.

        If another worker has answered, that one answer is enough from now on.
        hope: whether something else than this job may be what ends workers; then nothing is raised.
        """
        del self.given[worker]
        self.deaths += 1
        if self.answers:
            self.copies = 1
        elif self.deaths >= MOST_DEATHS and not hope:
            raise ChildProcessError(f"{self.deaths} workers have ended while they played one task: {self.key}")

    def settle(self, referee: Callable[[str, bytes], Answer]) -> tuple[Answer, list[str]]:
        """Return the answer that counts, and the workers whose answers differ from it.

        referee: does a job in this process; called if answers differ.
        """
        first, *rest = self.answers.values()
        if all(map(first.same_games, rest)):
            return first, []
        right = referee(self.work, self.data)
        return right, [name for name, answer in self.answers.items() if not right.same_games(answer)]
