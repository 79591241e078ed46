"""OpenJob: a job until its answer is handed back: who has it, who failed at it, and which answer counts."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

MOST_FAILURES = 3  # of a job, on two workers if there are two
MOST_DEATHS = 6  # workers that a job may take with it


class Comparable(Protocol):
    """An answer, as the run reads it."""

    @property
    def moves(self) -> int:
        """The moves played, or other units of work, by which workers are measured."""

    def same_games(self, other: Self, /) -> bool:
        """Return whether two answers tell the same, bit for bit."""


Answer = TypeVar("Answer", bound=Comparable)


@dataclass
class OpenJob(Generic[Answer]):
    """A job that is not done.

    key: its name.  work: the name of its work.  data: what the worker gets.
    hand_back: called once, with the answer.
    copies: answers that must agree.
    given: the workers that have it, and since when.  answers: by worker.  failures: worker and traceback of each.
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
        """Whether fewer workers have it, or have answered, than must."""
        return len(self.given) + len(self.answers) < self.copies

    def is_done(self, live: Collection[str]) -> bool:
        """Whether enough have answered, or no other worker is there to be asked that has not failed at it."""
        asked = {*self.answers, *(name for name, _ in self.failures)}
        return len(self.answers) >= self.copies or (bool(self.answers) and not self.given and asked.issuperset(live))

    def dawdles(self, seconds: float) -> bool:
        """Whether a single worker has had it for longer than so many seconds."""
        return len(self.given) == 1 and time.monotonic() - min(self.given.values()) > seconds

    def able(self, free: dict[str, int], live: Collection[str], proven: Collection[str]) -> list[str]:
        """Return the workers with a free core that may have it.

        These have not had it, and rather not failed at it.  Once it was lost with a worker, it is for those that have
        answered before, if there are any: new ones may come only to go, and the job be taken for the cause.
        """
        without_failure = set(live) - {name for name, _ in self.failures}
        wanted = (without_failure or set(live)) - self.answers.keys()
        if self.deaths and wanted & set(proven):
            wanted &= set(proven)
        wanted -= self.given.keys()
        return [name for name, cores in free.items() if cores > 0 and name in wanted]

    def fail(self, worker: str, error: str, live: Collection[str]) -> None:
        """Note a failure; raise RuntimeError if the job itself is at fault."""
        self.failures.append((worker, error))
        names = list(dict.fromkeys(name for name, _ in self.failures))
        if len(self.failures) >= MOST_FAILURES and len(names) >= min(2, len(live)):
            raise RuntimeError(f"a task failed {len(self.failures)} times, on {' and '.join(names)}:\n{error}")

    def lose(self, worker: str, *, hope: bool = False) -> None:
        """Note that a worker has ended that had it; raise ChildProcessError if that has happened too often.

        An answer that is there counts then, without a second one.
        hope: whether workers may still show that they end for other reasons.
        """
        del self.given[worker]
        self.deaths += 1
        if self.answers:
            self.copies = 1
        elif self.deaths >= MOST_DEATHS and not hope:
            raise ChildProcessError(f"{self.deaths} workers have ended while they played one task: {self.key}")

    def settle(self, referee: Callable[[str, bytes], Answer]) -> tuple[Answer, list[str]]:
        """Return the answer that counts, and the workers whose answers differ from it.

        referee: does a job of a work in this process, where answers differ.
        """
        first, *rest = self.answers.values()
        if all(map(first.same_games, rest)):
            return first, []
        right = referee(self.work, self.data)
        return right, [name for name, answer in self.answers.items() if not right.same_games(answer)]
