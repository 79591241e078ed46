"""A shared folder as Transport: the driver puts tasks into the folders of workers, which put answers beside them.

    works/NAME                     a work: what jobs have in common, such as a version of the network
    workers/NAME/beat              a worker's number of tasks at a time, and a number that grows as long as it lives
    workers/NAME/tasks/KEY WORK    a task for the worker
    workers/NAME/answers/KEY KIND  an answer of the worker, of a kind of JobAnswer
    workers/NAME/left              made when the worker has left, and its answers are complete

Every file is written whole or not at all, by one side only, so either side may be killed at any moment.
"""

import json
import os
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from alphago.system.files import LOCK, lock, parse_json, read_file, typed_path, user_path, write_atomic
from alphago.workers.work import HAS_LEFT, JobAnswer, WorkBench, WorkerRefused

BEAT = 0.5  # seconds between two beats
SILENCE_LIMIT = 15.0  # seconds without a beat after which a worker counts as gone
POLL = 0.02  # seconds between two looks into the folder
WORKS, WORKERS, TASKS, ANSWERS, LEFT = "works", "workers", "tasks", "answers", "left"


def list_folder(folder: Path) -> list[Path]:
    """Return the folders and the complete files in a folder, sorted by name; [] if the folder is gone."""
    # `write_atomic` begins a file under a name with a dot in front, and renames the file when it is complete.
    with suppress(OSError):
        return [folder / name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    return []


class Heartbeat(NamedTuple):
    """The last beat of a worker."""

    beat: bytes
    since: float  # when this beat was first read, by this machine's clock
    lives: bool  # whether the beat has changed since the worker's folder was first read


class SharedFolder:
    """The driver's side of a shared folder.

    Args:
        path: the folder, which the constructor makes.
        silence_limit: seconds without a beat after which a worker counts as gone.

    Raises:
        BlockingIOError: if another run uses the folder.
        FileExistsError: if there are other files in it, which are not deleted.
        OSError: if it cannot be written.
    """

    is_own = False

    def __init__(self, path: str | Path, *, silence_limit: float = SILENCE_LIMIT) -> None:
        self.path, self.silence_limit = user_path(path), silence_limit
        if others := [item.name for item in list_folder(self.path) if item.name not in (LOCK, WORKS, WORKERS)]:
            raise FileExistsError(f"{path} must be a folder of the workers' own, got one with {others[0]} in it")
        for name in (WORKS, WORKERS):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        self.pulses: dict[str, Heartbeat] = {}  # by worker
        self.live: dict[str, int] = {}  # by live worker: how many tasks it does at a time
        self.gone: dict[str, str] = {}  # by worker that is gone: the reason
        self.looked_at = 0.0  # when `workers` last looked into the folder
        self.lock = lock(self.path)
        # What an earlier run has left: workers/NAME/tasks/FILE, workers/NAME/answers/FILE, and works.
        for stale in (*self.path.glob(f"{WORKERS}/*/*/*"), *list_folder(self.path / WORKS)):
            stale.unlink(missing_ok=True)

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Write a work's file, and remove those of all other works but the ones named in `keep`."""
        write_atomic(self.path / WORKS / name, data)
        for old in list_folder(self.path / WORKS):
            if old.name not in (name, *keep):
                old.unlink(missing_ok=True)

    def workers(self) -> dict[str, int]:
        """Return the cores of each live worker, by name; look into the folder at most every BEAT / 2 seconds.

        The folders of workers that have left, or count as gone, are removed.
        """
        now = time.monotonic()
        if now - self.looked_at < BEAT / 2:
            return self.live
        self.live, self.looked_at = {}, now
        for folder in list_folder(self.path / WORKERS):
            pulse = self._read_pulse(folder, now)
            # A worker that has left stays in the list until its last answers are taken.
            has_left = (folder / LEFT).exists() and not list_folder(folder / ANSWERS)
            if has_left or now - pulse.since > self.silence_limit:
                del self.pulses[folder.name]
                silence = f"nothing was heard of it for {self.silence_limit:g} s"
                self.gone.setdefault(folder.name, HAS_LEFT if has_left else silence)  # OwnWorkers may have set a reason
                shutil.rmtree(folder, ignore_errors=True)
            elif pulse.lives:  # else the worker may have died before this run, and goes after the `silence_limit`
                with suppress(ValueError, KeyError, TypeError):  # the file is damaged, or no worker's
                    self.live[folder.name] = parse_json(pulse.beat)["cores"]
        return self.live

    def _read_pulse(self, folder: Path, now: float) -> Heartbeat:
        """Return a worker's latest beat.

        What the first reading finds may be an old file, or no file (b"").  A beat that differs from it shows that the
        worker lives.

        Args:
            folder: the worker's folder.
            now: time.monotonic().
        """
        beat = b""
        with suppress(OSError, ValueError):
            beat = read_file(folder / "beat")
        pulse = self.pulses.get(folder.name)
        if pulse is None or (beat and beat != pulse.beat):
            pulse = self.pulses[folder.name] = Heartbeat(beat, now, lives=pulse is not None)
        return pulse

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        """Write the file of a task into a worker's folder; see `Transport.give`."""
        with suppress(FileNotFoundError):  # raised if the worker has gone
            write_atomic(self.path / WORKERS / worker / TASKS / f"{key} {work}", job)

    def answers(self) -> list[JobAnswer]:
        """Return the answers in the workers' folders, and remove their files; if there are none, wait POLL seconds."""
        answers = []
        for worker in self.pulses:
            for path in list_folder(self.path / WORKERS / worker / ANSWERS):
                with suppress(FileNotFoundError):
                    key, _, kind = path.name.partition(" ")
                    answers.append(JobAnswer(worker, key, kind, read_file(path)))
                    path.unlink()
        if not answers:
            time.sleep(POLL)
        return answers

    def how_to_join(self) -> str:
        folder = typed_path(self.path.absolute())
        return f"on each machine that sees the folder, start: alphago worker --folder {folder}"

    def close(self) -> None:
        self.lock.close()


class FolderWorker:
    """A worker's side of a shared folder; one thread calls `work`.

    Args:
        path: the folder.
        cores: number of tasks that the worker does at the same time.
        tell: called with sentences about what happens.
        device: the device of networks, "cpu" or "cuda".
    """

    def __init__(
        self, path: str | Path, cores: int, tell: Callable[[str], object] = print, *, device: str = "cpu"
    ) -> None:
        self.path, self.cores, self.tell = user_path(path), cores, tell
        self.bench = WorkBench(lambda name: read_file(self.path / WORKS / name), device)
        self.refused = ""  # why this worker cannot do the run's work
        # Until `join` makes the worker's real folder, this path is that of no folder.  If the worker is stopped before,
        # `work` cannot write LEFT, and ignores the error.
        self.own_folder = self.path / WORKERS / "none"

    def join(self, stop: threading.Event) -> None:
        """Wait for the run's folder, and make this worker's folder in it, with a name that no other worker has.

        If `stop` is set first, no folder is made.
        """
        if not (self.path / WORKERS).is_dir():
            place = typed_path(f"folder:{self.path}")
            self.tell(f"no run has begun in {self.path} yet: waits for `alphago train --workers {place}`")
        while not (self.path / WORKERS).is_dir():  # this makes no folder, since PATH may be mistyped
            if stop.wait(POLL):
                return
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self.own_folder = self.path / WORKERS / name
        self.beats, self.beat_at = 0, 0.0  # the number of beats so far, and the time of the latest one
        for inner in (TASKS, ANSWERS):
            (self.own_folder / inner).mkdir(parents=True)
        self.beat()
        self.tell(f"worker {name} works for the run in {self.path}")

    def beat(self) -> None:
        """Show the run that this worker lives, if the latest beat is BEAT seconds ago."""
        if time.monotonic() - self.beat_at >= BEAT:
            self.beats, self.beat_at = self.beats + 1, time.monotonic()
            write_atomic(self.own_folder / "beat", json.dumps({"cores": self.cores, "beat": self.beats}).encode())

    def work(self, stop: threading.Event) -> None:
        """Do tasks until `stop` is set, then leave.

        Tasks that are not done then are answered with what was played so far, after at most one move.

        Raises:
            WorkerRefused: if this machine cannot do the run's tasks as the run would.
        """
        self.join(stop)
        running: dict[str, Future[None]] = {}  # the tasks that threads are doing, by the names of their files
        with ThreadPoolExecutor(self.cores) as threads:
            while not (stop.is_set() or self.refused):
                try:
                    self.beat()
                except FileNotFoundError:  # the run counts this worker as gone, or was begun anew in an empty folder
                    self.join(stop)
                # Done tasks are dropped first, then the files are listed: a dropped task has removed its file before.
                # In the other order, a task that ends meanwhile would be begun again, from its listed file.
                running = {name: task for name, task in running.items() if not task.done()}
                for path in list_folder(self.own_folder / TASKS):
                    if path.name not in running:
                        running[path.name] = threads.submit(self.do, path, stop)
                if len(running) < self.cores:  # a new task may come at any time
                    stop.wait(POLL)
                else:  # until a core is free, or the next beat is due
                    wait(running.values(), BEAT / 2, FIRST_COMPLETED)
            if not self.refused:
                self.tell(f"worker {self.own_folder.name} leaves, after the move in hand")
        with suppress(FileNotFoundError):
            write_atomic(self.own_folder / LEFT, b"")
        if self.refused:
            raise WorkerRefused(self.refused)

    def do(self, path: Path, stop: threading.Event) -> None:
        """Do the task in a file KEY WORK, and write its answer to the folder of answers."""
        key, _, work = path.name.partition(" ")
        kind, data = self.bench.do(work, partial(read_file, path), stop)
        if kind == "error" and not (path.exists() and (self.path / WORKS / work).exists()):
            kind, data = "gone", b""  # the task or its work is no longer needed, and was removed
        if kind == "refused":
            self.refused = data.decode()
        # The folder is that of the task: `own_folder` may be another one by now, after a second `join`.
        with suppress(FileNotFoundError):
            write_atomic(path.parent.parent / ANSWERS / f"{key} {kind}", data)
            path.unlink()
