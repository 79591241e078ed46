"""`Job`, a position to analyse; `JobSource`, from which threads take jobs; `Limits` of what clients may ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import Evaluator
from alphago.ui.analysis_query import MOST_VISITS, Query, QueryTurn


class Limits(NamedTuple):
    """What the clients of an engine may ask of it; the defaults are for the user of this machine.

    characters: most characters of a line. positions: most positions that wait or are searched at a time.
    visits: most visits of a position; a query for more gets this many, and a warning.
    slots: most positions that a thread searches side by side.
    kept: most pairs of board size and rules for which a thread keeps a search, to use it again.
    tree_bytes: most bytes of a thread's trees together; the search of a position ends early if its tree is full.
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
    """One position of a query; jobs sort by priority, the greatest first, then by age, the oldest first."""

    rank: tuple[int, int]  # (-priority, number)
    query: Query = field(compare=False)
    turn: QueryTurn = field(compare=False)
    stopped: bool = field(default=False, compare=False)


class JobSource(Protocol):
    """The interface of an engine for its workers, which take jobs from it and send replies through it."""

    limits: Limits

    @property
    def ending(self) -> bool:
        """Whether workers must stop at once."""

    def take(self, most: int, idle: bool) -> list[Job] | None:
        """Return up to `most` jobs, [] if there are none; return None once the worker must end.

        idle: whether the worker has nothing else to do; if so, the call waits until there is a job.
        """

    def send(self, reply: Mapping[str, Any]) -> None:
        """Send a reply unchanged, such as an error."""

    def report(self, job: Job, reply: dict[str, Any]) -> None:
        """Send an intermediate reply of a job, and with it the query's warnings if they were not sent yet."""

    def finish(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a job's last reply, and forget the job."""

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the network's evaluator for the game `env`."""


def no_results(job: Job) -> dict[str, Any]:
    """Return the last reply of a job that ends without results."""
    return {"id": job.query.id, "isDuringSearch": False, "turnNumber": job.turn.number, "noResults": True}
