"""Transport: the interface between a run and whatever carries its tasks to workers."""

from typing import NamedTuple, Protocol


class TaskAnswer(NamedTuple):
    """What a worker says of the task `key`; nothing but the names if it has left before the task was done.

    played: the bytes of a Played.  error: the traceback of an exception.
    refused: why the worker cannot play the run's games.
    """

    worker: str
    key: str
    played: bytes | None = None
    error: str = ""
    refused: str = ""


class Transport(Protocol):
    """Carries versions and tasks to workers, which come and go, and answers back; one thread calls it."""

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Let workers have the version `name`, and beside it only those named in `keep`."""

    def workers(self) -> dict[str, int]:
        """Return the workers that are there, and how many tasks each plays at the same time."""

    def give(self, worker: str, key: str, version: str, task: bytes) -> None:
        """Give a task to a worker; nothing happens if the worker has just gone."""

    def answers(self) -> list[TaskAnswer]:
        """Return the answers that have arrived; may wait for a short time."""

    def leave_out(self, worker: str, why: str) -> None:
        """Let a worker know why it gets no tasks any more."""

    def how_to_join(self) -> str:
        """Return a clause that says what is there, and how workers are added."""

    def close(self) -> None:
        """Release all that the transport has begun."""
