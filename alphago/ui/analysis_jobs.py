"""`Job`, a position to analyse; `JobSource`, from which threads take jobs; `Limits` of what clients may ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import Evaluator
from alphago.ui.analysis_query import MOST_VISITS, Query, QueryTurn


class Limits(NamedTuple):
    """What the clients of an engine may ask of it; the defaults are for clients on the engine's own machine.

    characters: most characters of a line. positions: most positions that wait or are searched at a time.
    visits: most visits of a position; a query that asks for more gets `visits`, and a warning.
    slots: most positions that a thread searches side by side.
    kept: most searches that a thread keeps for later queries; each is for one board size and rules.
    tree_bytes: most bytes of all trees of a thread together; the search of a position ends early if its tree is full.
    """

    characters: int = 10_000_000
    positions: int = 1_000_000
    visits: int = MOST_VISITS
    slots: int = 64
    kept: int = 16
    tree_bytes: int = 2**31


OWN_USER = Limits()


@dataclass(order=True)
class Job:
    """One position of a query; jobs are sorted by priority, the greatest first, then by age, the oldest first."""

    rank: tuple[int, int]  # (-priority, number)
    query: Query = field(compare=False)
    turn: QueryTurn = field(compare=False)
    stopped: bool = field(default=False, compare=False)  # whether a client has asked to end it

    @property
    def number(self) -> int:
        """The job's number among all jobs of the engine."""
        return self.rank[1]


class JobSource(Protocol):
    """The interface of an engine for its workers, which take jobs from it and send replies through it."""

    limits: Limits

    @property
    def ending(self) -> bool:
        """Whether workers must stop at once."""

    def take(self, most: int, idle: bool) -> list[Job] | None:
        """Return at most `most` jobs for a worker, [] if there are none; return None if the worker must end.

        idle: whether the worker has no other job; the call then waits until there is one.
        """

    def send(self, reply: Mapping[str, Any]) -> None:
        """Send a reply unchanged, such as an error."""

    def report(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a reply of a job; the query's first reply contains its warnings."""

    def finish(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a job's last reply, and forget the job."""

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the network's evaluator for the game `env`."""


def no_results(job: Job) -> dict[str, Any]:
    """Return the last reply of a job that ends without results."""
    return {"id": job.query.id, "isDuringSearch": False, "turnNumber": job.turn.number, "noResults": True}
