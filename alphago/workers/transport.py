"""Transport: the interface between a run and whatever carries its jobs to workers."""

from typing import NamedTuple, Protocol


class JobAnswer(NamedTuple):
    """What a worker says of the job `key`; nothing but the names if it has left before the job was done.

    done: the answer, as RemoteWork.do returns it.  error: the traceback of an exception.
    refused: why the worker cannot do the run's work.
    """

    worker: str
    key: str
    done: bytes | None = None
    error: str = ""
    refused: str = ""


class Transport(Protocol):
    """Carries works and jobs to workers, which come and go, and answers back; one thread calls it."""

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Let workers have the work `name`, and beside it only those named in `keep`."""

    def workers(self) -> dict[str, int]:
        """Return the workers that are there, and how many jobs each does at the same time."""

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        """Give a job to a worker; nothing happens if the worker has just gone."""

    def answers(self) -> list[JobAnswer]:
        """Return the answers that have arrived; may wait for a short time."""

    def why_gone(self, worker: str) -> str:
        """Return a clause that says why a worker is not there any more; "" if that is not known."""

    def leave_out(self, worker: str, why: str) -> None:
        """Let a worker know why it gets no jobs any more."""

    def how_to_join(self) -> str:
        """Return a clause that says what is there, and how workers are added."""

    def close(self) -> None:
        """Release all that the transport has begun."""
