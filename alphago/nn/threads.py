"""Threads that run tasks in parallel, each with a single torch thread."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Result = TypeVar("Result")


@contextlib.contextmanager
def one_torch_thread() -> Iterator[None]:
    """Set torch's number of threads to 1 within the `with` block, for this thread and threads started in it.

    torch's threads wait for each other after every operation.  If another program keeps one of two cores busy, a small
    network therefore takes ten times as long on two threads as on one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Workers:
    """`count` threads that run tasks in parallel, each with a single torch thread; `close` ends them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))

    def run(self, tasks: Sequence[Callable[[], Result]], stop: threading.Event | None = None) -> list[Result]:
        """Run the tasks and return their results, in order.

        If a task raises an exception, or Ctrl-C interrupts this method, the method sets `stop`, waits until all tasks
        have ended, and raises the exception.

        stop: an event at which long tasks should end early; None if the tasks check no event.
        """
        futures = [self._pool.submit(task) for task in tasks]
        if stop is not None:
            for future in futures:
                future.add_done_callback(lambda done: stop.set() if done.exception() else None)
        try:
            return [future.result() for future in futures]
        except BaseException:
            if stop is not None:
                stop.set()
            for future in futures:
                future.exception()
            raise

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
