"""Jobs of an analysis engine: one position each, taken by its search threads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import Evaluator
from alphago.ui.analysis_query import Query, Turn


@dataclass(order=True)
class Job:
    """One position of a query; jobs sort by priority, then by age."""

    rank: tuple[int, int]  # (-priority, number)
    query: Query = field(compare=False)
    turn: Turn = field(compare=False)
    stopped: bool = field(default=False, compare=False)


class JobSource(Protocol):
    """The interface of an engine for its workers, which take jobs from it and send replies through it."""

    @property
    def ending(self) -> bool:
        """Whether workers must stop at once."""

    def take(self, most: int, idle: bool) -> list[Job] | None:
        """Return up to `most` jobs; None once the worker must end.

        idle: whether the worker has nothing else to do, so that the call waits for jobs.
        """

    def send(self, reply: Mapping[str, Any]) -> None:
        """Send an intermediate reply of a job, or an error."""

    def finish(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a job's last reply."""

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the network's evaluator for a board and rules."""


def no_results(job: Job) -> dict[str, Any]:
    """Return the last reply of a job that ends without results."""
    return {"id": job.query.id, "isDuringSearch": False, "turnNumber": job.turn.number, "noResults": True}
