"""Threads that run tasks in parallel, each with a single torch thread; and torch's settings for all computations."""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import torch

Result = TypeVar("Result")
SWITCH_SECONDS = 0.0002  # see `quick_switches`

# A forked child does not have torch's threads, and would wait for them for ever unless torch uses a single thread.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


@contextlib.contextmanager
def own_settings() -> Iterator[None]:
    """Within the `with` block, compute with the default settings of torch and NumPy, whatever the caller has changed.

    These are: float32, tensors on the CPU unless they are put elsewhere, no autocast, no inference mode, and no
    exceptions for numbers that underflow.
    """
    dtype = torch.get_default_dtype()
    with contextlib.ExitStack() as stack:
        if dtype != torch.float32:
            torch.set_default_dtype(torch.float32)
            stack.callback(torch.set_default_dtype, dtype)
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
        yield


@contextlib.contextmanager
def one_torch_thread() -> Iterator[None]:
    """Set torch's number of threads to 1 within the `with` block, for this thread and threads started in it.

    The other settings are those of `own_settings`.

    With several threads, torch's threads wait for each other after every operation.  If another program keeps one of
    two cores busy, a small network therefore takes ten times as long on two threads as on one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with own_settings():
            yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def own_thread_settings() -> Iterator[None]:
    """Use `own_settings` within the `with` block, in a thread that this package has started.

    The thread's number of torch threads is set to 1, also for the time after the block.
    """
    torch.set_num_threads(1)
    with own_settings():
        yield


@contextlib.contextmanager
def quick_switches(enabled: bool) -> Iterator[None]:
    """If `enabled`, let the thread that holds Python's lock give it to a waiting thread after SWITCH_SECONDS.

    This holds for all threads within the `with` block.  A thread whose work on a GPU has ended needs Python's lock for
    a moment to give the GPU more work.  By Python's default it waits up to 5 ms for the lock, several times as long as
    the GPU was at work, if another thread records moves or draws samples meanwhile.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS if enabled else before)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Workers(ThreadPoolExecutor):
    """`count` threads that run tasks in parallel, each with a single torch thread; a `with` statement ends them."""

    def __init__(self, count: int) -> None:
        super().__init__(count, initializer=torch.set_num_threads, initargs=(1,))
        self.count = count

    def run(self, tasks: Sequence[Callable[[], Result]], stop: threading.Event | None = None) -> list[Result]:
        """Run the tasks and return their results, in order.

        If a task raises an exception, or Ctrl-C interrupts this method, the method sets `stop`, waits until all tasks
        have ended, and raises the exception.

        Args:
            stop: an event at which long tasks should end early; None if the tasks check no event.
        """
        futures = [self.submit(task) for task in tasks]
        stop = stop or threading.Event()
        for future in futures:
            # The first task that fails ends the others, also while this thread waits for an earlier one.
            future.add_done_callback(lambda ended: stop.set() if ended.exception() else None)
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            for future in futures:
                future.exception()  # waits for the task
            raise
