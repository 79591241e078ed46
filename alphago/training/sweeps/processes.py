"""Make the calls of a sweep, each in a process of its own on a core of its own."""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from alphago.system.interrupts import NEEDS_GUARD, end_with_parent, leave_if_imported_again, only_parent_is_interrupted
from alphago.training.sweeps.sweep_run import SweepRun

Ended = Callable[[SweepRun, str], object]  # called with a run that has ended, and why it failed; "" for no failure


class RunningCall(NamedTuple):
    """A call in progress, in a process of its own."""

    run: SweepRun
    process: BaseProcess
    receiver: Connection  # receives why the call failed
    place: int  # 0 .. number of processes - 1, which determines the process's core


def run_all(runs: Sequence[SweepRun], processes: int, ended: Ended) -> None:
    """Make the calls of `runs`, `processes` of them at a time; `ended` is called after each call.

    On Ctrl-C and any other exception this function asks the processes to stop, and waits for them.  If `processes` is
    1, this process makes the calls, and a run that stops before its end, as on Ctrl-C, is the last.
    """
    if processes == 1:
        for run in runs:
            fault = fault_of(run)
            ended(run, fault)
            if not fault and run.numbers() is None:
                break
        return
    leave_if_imported_again()
    runs_left = list(runs)
    running: list[RunningCall] = []
    try:
        while runs_left or running:
            while runs_left and len(running) < processes:
                taken = [other.place for other in running]
                place = next(place for place in range(processes) if place not in taken)
                running.append(start(runs_left.pop(0), place))
            wait([other.process.sentinel for other in running])
            for over in [other for other in running if not other.process.is_alive()]:
                running.remove(over)
                ended(over.run, reply_of(over))
    finally:
        for other in running:
            other.process.terminate()
        for other in running:
            other.process.join()


def start(run: SweepRun, place: int) -> RunningCall:
    """Start a call in another process; place: the index of the process's core."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []  # [] if no system tells
    core = cores[place % len(cores)] if cores else None
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=work, args=(run, core, sender))
    with only_parent_is_interrupted():
        process.start()
    sender.close()  # only the other process has it now, so `recv` raises EOFError once that process has ended
    return RunningCall(run, process, receiver, place)


def reply_of(over: RunningCall) -> str:
    """Return why a call failed, or "" if it did not; its process has ended."""
    try:
        return str(over.receiver.recv())
    except EOFError:
        code = over.process.exitcode  # 1 if `leave_if_imported_again` has ended the process
        return f"its process ended with code {code}" + (f": {NEEDS_GUARD}" if code == 1 else "")
    finally:
        over.receiver.close()
        over.process.join()


def work(run: SweepRun, core: int | None, sender: Connection) -> None:
    """Make a call in this process, on one core, and send why it failed; stop as by SIGTERM if the parent ends."""
    if core is not None:
        os.sched_setaffinity(0, [core])
    end_with_parent()
    sender.send(fault_of(run))


def fault_of(run: SweepRun) -> str:
    """Make a call; return why it failed, as a sentence with the place in the code, or "" if it did not fail."""
    try:
        run.make()
    except BlockingIOError:
        return "another process is at it"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
    return ""
