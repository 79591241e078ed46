"""Transport: the interface between a run and the part that carries its jobs to workers."""

from typing import NamedTuple, Protocol


class JobAnswer(NamedTuple):
    """A worker's answer to the job `key`; with none of the last three fields, the worker has left before it was done.

    done: the answer, as WorkBench.do returns it.  error: the traceback of an exception.
    refused: why the worker cannot do the run's work; it gets no more jobs.
    """

    worker: str
    key: str
    done: bytes | None = None
    error: str = ""
    refused: str = ""


class Transport(Protocol):
    """Carries works and jobs to workers, which come and go, and carries answers back; one thread calls its methods."""

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Give workers the work `name`, and drop all other works but those named in `keep`."""

    def workers(self) -> dict[str, int]:
        """Return for each worker that is there the number of jobs that it does at the same time."""

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        """Give a job to a worker; do nothing if the worker has just gone."""

    def answers(self) -> list[JobAnswer]:
        """Return the answers that have arrived; may wait for a short time."""

    def why_gone(self, worker: str) -> str:
        """Return a clause that says why a worker is gone; "" if that is not known."""

    def how_to_join(self) -> str:
        """Return a clause that says which machines are there, and how workers are added."""

    def close(self) -> None:
        """Release what the transport holds, such as processes and locks."""
