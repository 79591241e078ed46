"""The calls of a sweep: folder, seed, settings and saved numbers of each, and the processes that make them."""

import json
import math
import multiprocessing
import os
import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from alphago.system.files import LOCK, parse_json, read_file, write_atomic
from alphago.system.validation import shown
from alphago.training.call.summary import run_summary
from alphago.training.code_digest import as_text, code_digests
from alphago.training.history import number, opponent_name, read_history
from alphago.training.runs.config import holds_run
from alphago.training.sweeps.processes import (
    NEEDS_GUARD,
    check_importable,
    end_with_parent,
    leave_if_imported_again,
    only_parent_is_interrupted,
)

MOST_BYTES = 2**20  # largest file of a call that is read
LOSSES = ("policy_loss", "value_loss")
MEASURES = {"win_rate": "win rate against", "exam_points": "points lost in", "accuracy": "accuracy on"}


class SweepRun(NamedTuple):
    """A call of a sweep for one variant and one seed.

    Attributes:
        call: the function that is called.
        folder: the call's folder SWEEP/VARIANT/SEED.
        seed: the seed.
        settings: the variant's keywords.
    """

    call: Callable[..., Any]
    folder: Path
    seed: int
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the variant."""
        return self.folder.parent.name

    @property
    def identity(self) -> dict[str, Any]:
        """What the call's numbers depend on beside the code, as plain data: seed, settings and function."""
        return {
            "seed": self.seed,
            "settings": {name: as_text(value) for name, value in self.settings.items()},
            "call": as_text(self.call),
        }

    @property
    def file(self) -> Path:
        """The file beside the call's folder: identity and code of the call that began, and its numbers at its end."""
        return self.folder.with_suffix(".json")

    def numbers(self) -> dict[str, float] | None:
        """Return the saved numbers of the call; None if it has not ended.

        Raises:
            ValueError: if the file is damaged, or is of another seed, function or setting, or of other code; or if
                there is none, but the folder holds something else than a run.
        """
        # The call may begin if its folder has at most a lock, and may go on if the folder holds a run.  The folder is
        # read before the file.  So if another machine begins the call in between, which writes the file first, the file
        # is found.
        names = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        may_begin = names <= {LOCK} or holds_run(self.folder)
        try:
            identity, code, numbers = self._read()
        except FileNotFoundError:
            if not may_begin:
                raise ValueError(f"{self.folder} must be new, or the folder of a run of this sweep") from None
            return None
        # A call without numbers may differ from the saved identity if it begins anew, or if its folder holds a run:
        # `train` then compares the settings itself, and refuses those that a run cannot change.
        may_differ = numbers is None and may_begin
        if identity != self.identity and not may_differ:
            raise ValueError(f"{self.file} must be of {self.identity}, got {identity}: choose another name or folder")
        code_now = code_digests(self.call, self.settings)
        if changed := [name for name in code_now if code.get(name) != code_now[name]]:
            raise ValueError(
                f"{self.folder} must be of the same code, but {' and '.join(changed)} changed since: choose another "
                f"name or folder, or remove it and {self.file.name}"
            )
        return numbers

    def _read(self) -> tuple[dict[str, Any], dict[str, str], dict[str, float] | None]:
        """Return the identity, the code's digests and the numbers (None before the call's end) in the call's file.

        Raises:
            FileNotFoundError: if there is no file.
            ValueError: if the file is damaged.
        """
        try:
            saved = parse_json(read_file(self.file, MOST_BYTES))
            numbers, code = saved.pop("numbers"), dict(saved.pop("code"))
            numbers = None if numbers is None else {str(name): float(value) for name, value in numbers.items()}
            return saved, code, numbers  # what is left in `saved` is the identity
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{self.file} is damaged ({error}): remove it, and the call is made again") from error

    def make(self) -> None:
        """Make the call and save its numbers, unless its run was stopped before the end.

        If another machine has already ended the call, do nothing.
        """
        if self.numbers() is not None:
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self._write(None)  # from now on, `numbers` refuses a call with other settings or code in this folder
        numbers = result_numbers(self.call(folder=self.folder, seed=self.seed, **self.settings), self.folder)
        # A run of `train` that Ctrl-C has stopped also returns, but is not over: it has no numbers yet.
        if not holds_run(self.folder) or run_summary(self.folder)["over"] != "no":
            self._write(numbers)

    def _write(self, numbers: Mapping[str, float] | None) -> None:
        """Write the call's file; numbers: None at the beginning of the call.

        "code" has digests of the code of the function, and of functions and classes in the settings, by their names.
        """
        saved = {**self.identity, "code": code_digests(self.call, self.settings), "numbers": numbers}
        write_atomic(self.file, json.dumps(saved, indent=2).encode())


def result_numbers(result: object, folder: Path) -> dict[str, float]:
    """Return the numbers in a call's result by name; if it has none, the latest measurements of the run in `folder`."""
    if isinstance(result, Mapping):
        numbers = {str(name): float(value) for name, value in result.items()}
    elif isinstance(result, (int, float)) or getattr(result, "shape", None) == ():  # or a scalar of NumPy or torch
        numbers = {"result": float(result)}  # type: ignore[arg-type]
    else:
        numbers = latest_measurements(folder)
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise ValueError(f"a call must return finite numbers, got {value} for {name}")
    return numbers


def latest_measurements(folder: Path) -> dict[str, float]:
    """Return the latest measurements of a run: its losses, and win rates and grades by what it watched."""
    history = read_history(folder)
    # Later rows replace the numbers of earlier rows.  A last row without losses leaves None, which is removed below.
    numbers = {name.replace("_", " "): number(row, name) for name in LOSSES for row in history.metrics}
    for row in history.evaluations:
        numbers |= {f"{words} {opponent_name(row)}": number(row, key) for key, words in MEASURES.items() if key in row}
    return {name: value for name, value in numbers.items() if value is not None}


def check_call(call: Callable[..., Any], runs: Sequence[SweepRun], *, alone: bool) -> None:
    """Raise TypeError unless the calls can be made; alone: whether this process makes all of them itself."""
    if not callable(call):
        raise TypeError(f"call must be a function of folder, seed and settings, got {shown(call)}")
    if alone:
        return
    try:
        check_importable((call, [run.settings for run in runs]))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"call and settings must be such as other processes can import, functions of a module ({error}): "
            "processes=1 makes the calls in this process, one after the other"
        ) from error


OnEnd = Callable[[SweepRun, str], object]  # called with a call that has ended, and why it failed; "" if it did not fail


class RunningCall(NamedTuple):
    """A call in progress, in a process of its own."""

    run: SweepRun
    process: BaseProcess
    receiver: Connection  # receives why the call failed
    core_index: int  # 0 .. number of processes - 1, different for all calls in progress; see `start_call`


def run_all(runs: Sequence[SweepRun], processes: int, on_end: OnEnd) -> None:
    """Make the calls of `runs`, `processes` of them at a time.

    On Ctrl-C and any other exception this function asks the processes to stop, and waits for them.  If `processes` is
    1, this process makes the calls.  Then no call follows one whose run was stopped before its end, as by Ctrl-C.

    Args:
        on_end: called after each call.
    """
    if processes == 1:
        for run in runs:
            fault = run_call(run)
            on_end(run, fault)
            if not fault and run.numbers() is None:  # its run was stopped
                break
        return
    leave_if_imported_again()
    runs_left = list(runs)
    running: list[RunningCall] = []
    try:
        while runs_left or running:
            while runs_left and len(running) < processes:
                free_cores = set(range(processes)) - {started.core_index for started in running}
                running.append(start_call(runs_left.pop(0), core_index=min(free_cores)))
            wait([started.process.sentinel for started in running])  # until a process has ended
            for ended in [started for started in running if not started.process.is_alive()]:
                running.remove(ended)
                on_end(ended.run, failure_reason(ended))
    finally:
        for started in running:
            started.process.terminate()
        for started in running:
            started.process.join()


def start_call(run: SweepRun, core_index: int) -> RunningCall:
    """Start a call in another process.

    Args:
        core_index: the index of the process's core among this process's cores, modulo their number.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []  # [] if the system tells none
    core = cores[core_index % len(cores)] if cores else None
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=make_call_here, args=(run, core, sender))
    with only_parent_is_interrupted():
        process.start()
    sender.close()  # only the other process has it now, so `recv` raises EOFError once that process has ended
    return RunningCall(run, process, receiver, core_index)


def failure_reason(ended: RunningCall) -> str:
    """Return why a call failed whose process has ended; "" if it did not fail."""
    try:
        return str(ended.receiver.recv())
    except EOFError:
        code = ended.process.exitcode  # 1 if `leave_if_imported_again` has ended the process
        return f"its process ended with code {code}" + (f": {NEEDS_GUARD}" if code == 1 else "")
    finally:
        ended.receiver.close()
        ended.process.join()


def make_call_here(run: SweepRun, core: int | None, sender: Connection) -> None:
    """Make a call; this is the work of a process that `start_call` has started.

    The process stops, as by SIGTERM, if its parent ends.

    Args:
        core: the only core that the process uses; None for any.
        sender: sends why the call failed, "" if it did not.
    """
    if core is not None:
        os.sched_setaffinity(0, [core])
    end_with_parent()
    sender.send(run_call(run))


def run_call(run: SweepRun) -> str:
    """Make a call; return why it failed, with the place in the code, or "" if it did not fail."""
    try:
        run.make()
    except BlockingIOError:  # raised by `train`, if another process holds the lock of the run's folder
        return "another process is at it"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
    return ""
