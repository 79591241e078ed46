"""Make the calls of a sweep, each in a process of its own on a core of its own."""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from alphago.system.interrupts import NEEDS_GUARD, end_with_parent, leave_if_imported_again
from alphago.training.sweeps.sweep_run import SweepRun

Ended = Callable[[SweepRun, str], object]  # called with a run that ended, and why it failed, "" if it did not


class Working(NamedTuple):
    """A call in progress, in a process of its own."""

    run: SweepRun
    process: BaseProcess
    receiver: Connection  # where the process sends its fault
    place: int  # 0 .. number of processes - 1, which decides its core


def run_all(call: Callable[..., Any], runs: Sequence[SweepRun], processes: int, ended: Ended) -> None:
    """Make the calls of `runs`, `processes` of them at a time; `ended` is called after each.

    On Ctrl-C and any other exception the processes are asked to stop, and waited for.  With one process, which is this
    one, a run that stops before its end, as on Ctrl-C, is the last.
    """
    if processes == 1:
        for run in runs:
            fault = fault_of(call, run)
            ended(run, fault)
            if not fault and run.numbers() is None:
                break
        return
    leave_if_imported_again()
    left = list(runs)
    working: list[Working] = []
    try:
        while left or working:
            while left and len(working) < processes:
                taken = [one.place for one in working]
                place = next(place for place in range(processes) if place not in taken)
                working.append(start(call, left.pop(0), place))
            wait([one.process.sentinel for one in working])
            for one in [one for one in working if not one.process.is_alive()]:
                working.remove(one)
                ended(one.run, reply_of(one))
    finally:
        for one in working:
            one.process.terminate()
        for one in working:
            one.process.join()


def start(call: Callable[..., Any], run: SweepRun, place: int) -> Working:
    """Make a call in another process; place: which of the cores it gets."""
    cores = cores_of_this_process()
    core = None if cores is None else cores[place % len(cores)]
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=work, args=(call, run, core, sender))
    process.start()
    sender.close()  # the other process has its own; once that is closed, too, `recv` ends with an EOFError
    return Working(run, process, receiver, place)


def cores_of_this_process() -> list[int] | None:
    """Return the numbers of the cores that this process may use; None where a system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def reply_of(one: Working) -> str:
    """Return why the call of a process that has ended failed; "" if it did not."""
    try:
        return str(one.receiver.recv())
    except EOFError:
        code = one.process.exitcode
        return f"its process ended with code {code}" + (f": {NEEDS_GUARD}" if code == 1 else "")
    finally:
        one.receiver.close()
        one.process.join()


def work(call: Callable[..., Any], run: SweepRun, core: int | None, sender: Connection) -> None:
    """Make one call in this process, on one core, and send why it failed; stop as by SIGTERM if the parent ends."""
    if core is not None:
        os.sched_setaffinity(0, [core])
    end_with_parent()
    sender.send(fault_of(call, run))


def fault_of(call: Callable[..., Any], run: SweepRun) -> str:
    """Make a call; return why it failed, in a sentence and with its place in the code, or "" if it did not."""
    try:
        run.make(call)
    except BlockingIOError:
        return "another process is at it"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
    return ""
