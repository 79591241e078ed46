"""Kill workers, drivers and heads of a run on 5x5, and count what is lost: nothing should be but the tasks in hand.

    python benchmarks/cluster_kills.py --folder-workers 50 --drivers 10         # needs no Ray
    python benchmarks/cluster_kills.py --ray-workers 50 --heads 5

The run is driven on by calls of `alphago train` in its folder until all kills are done; then it plays its last games in
this process.  Weights must equal those of an undisturbed run, and every game must be there once.  Each kill of
a folder's worker or driver is made while a worker has a task.
"""

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from typing import Any

import torch

from alphago import GoEnv, train
from alphago.records.record import GameRecord, load_records
from alphago.training.history import read_history
from alphago.workers.ray_cluster import RAY_SETTINGS
from alphago.workers.shared_folder import FolderWorker

ENV = GoEnv(5, komi=0.5)
SETTINGS: dict[str, Any] = {
    "groups": 3,
    "learner_threads": 1,
    "selfplay_dtype": "float32",
    "bfloat16": False,
    "games_in_flight": 9,
    "readouts": 16,
    "tower_height": 1,
    "channels": 8,
    "batch_size": 16,
    "start_training_after": 40,
    "plies_per_iteration": 6,
    "ckp_freq": 5,
}
PATIENCE = 300.0  # seconds within which there must be a task to kill, or else the run hangs

RAY = [sys.executable, "-c", "from ray.scripts.scripts import main; main()"]


class Kills:
    """A run in a folder, and the processes that play it and are killed: forks of this one, which begin at once."""

    def __init__(self, place: Path, games: int) -> None:
        self.folder, self.shared, self.games = place / "run", place / "shared", games
        self.killed, self.begin = Counter[str](), time.monotonic()

    def until(self, is_so: Callable[[], object], driver: Process) -> bool:
        """Wait until something is so; return False if the driver ends before. Exit if it takes too long."""
        last = time.monotonic() + PATIENCE
        while not is_so():
            if driver.exitcode is not None:
                return False
            if time.monotonic() > last:
                raise SystemExit(f"cluster_kills: nothing happened for {PATIENCE:.0f} s: the run hangs")
            time.sleep(0.005)
        return True

    def train(self, who: str) -> Process:
        return forked(partial(train, ENV, self.games, folder=self.folder, reports=[], workers=who, **SETTINGS))

    def worker(self) -> Process:
        return forked(partial(FolderWorker(self.shared, 1, tell=str).work, threading.Event()))

    def playing(self) -> set[int]:
        """The processes of the folder's workers that have a task."""
        return {int(path.parent.parent.name.split("-")[-2]) for path in self.shared.glob("workers/*/tasks/[!.]*")}

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.begin:6.0f} s: {what}", flush=True)

    def folder_workers(self, kills: int) -> None:
        """Kill a worker that has a task, again and again; a new one comes, and another stays."""
        stays, driver = self.worker(), self.train(f"folder:{self.shared}")
        while self.killed["workers of a folder"] < kills:
            comes = self.worker()
            if not self.until(lambda comes=comes: comes.pid in self.playing(), driver):
                break
            self.kill(comes, "workers of a folder")
        end(driver)
        end(stays)

    def drivers(self, kills: int) -> None:
        """Kill the driver while a worker has a task."""
        stays = self.worker()
        for _ in range(kills):
            for path in self.shared.glob("workers/*/tasks/[!.]*"):
                path.unlink(missing_ok=True)
            driver = self.train(f"folder:{self.shared}")
            if not self.until(self.playing, driver):
                break
            self.kill(driver, "drivers")
        end(stays)

    def ray_workers(self, kills: int) -> None:
        """Kill actors on this machine, each some time after it has begun."""
        driver, seen = self.train("2"), set[int]()
        while self.killed["workers of Ray"] < kills and self.until(lambda: actors(driver.pid) - seen, driver):
            one = max(actors(driver.pid) - seen)
            seen.add(one)
            time.sleep(2.0 + 0.1 * (len(seen) % 20))
            os.kill(one, signal.SIGKILL)
            self.count("workers of Ray")
        end(driver)

    def heads(self, kills: int) -> None:
        """Kill a cluster with its head under a run, which must end by itself."""
        for number in range(kills):
            port = 21000 + os.getpid() % 10000 + number
            head = subprocess.Popen(
                [*RAY, "start", "--head", f"--port={port}", "--num-cpus=2", "--block", "--include-dashboard=false"],
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **RAY_SETTINGS},
            )
            time.sleep(15)
            driver = self.train(f"127.0.0.1:{port}")
            went_on = self.until(lambda pid=head.pid: actors(pid), driver)
            time.sleep(3)
            os.killpg(head.pid, signal.SIGKILL)
            head.wait()
            driver.join(PATIENCE)
            if not went_on or driver.exitcode is None:
                raise SystemExit("cluster_kills: the run did not end with its cluster")
            self.count("heads")

    def kill(self, process: Process, name: str) -> None:
        process.kill()
        process.join()
        self.count(name)

    def count(self, name: str) -> None:
        self.killed[name] += 1
        if self.killed[name] % 5 == 0:
            print(f"{time.monotonic() - self.begin:6.0f} s: {self.killed[name]} {name} killed", flush=True)


def actors(ancestor: int | None) -> set[int]:
    """The processes of the package's actors below a process."""
    parents, found = dict[int, int](), set[int]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if (process / "cmdline").read_bytes().startswith(b"ray::NodePlayer"):
                found.add(int(process.name))
        except OSError:  # it has ended
            continue

    def is_below(number: int) -> bool:
        while number in parents and number != ancestor:
            number = parents[number]
        return number == ancestor

    return {number for number in found if is_below(number)}


def forked(act: Callable[[], object]) -> Process:
    process = multiprocessing.get_context("fork").Process(target=act, daemon=True)
    process.start()
    return process


def end(process: Process) -> None:
    process.terminate()
    process.join(PATIENCE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("folder-workers", "drivers", "ray-workers", "heads"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="KILLS")
    parser.add_argument("--games", type=int, default=4000, help="of the run: so many that it lasts (4000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        kills = Kills(Path(place), options.games)
        train(ENV, options.games, folder=kills.folder, reports=[], stop_after=0.02, **SETTINGS)
        kills.folder_workers(options.folder_workers)
        kills.drivers(options.drivers)
        if options.ray_workers:
            kills.ray_workers(options.ray_workers)
        kills.heads(options.heads)
        played = read_history(kills.folder).metrics[-1]["games"]
        print(f"{played} games are played; this process plays the rest", flush=True)
        net = train(ENV, options.games, folder=kills.folder, reports=[], **SETTINGS)
        alone = train(ENV, options.games, folder=Path(place, "alone"), reports=[], **SETTINGS)
        numbers = Counter(record.seed[1] for record in games_of(kills.folder) if record.seed)
        same = all(map(torch.equal, net.state_dict().values(), alone.state_dict().values()))
        print(", ".join(f"{count} {name}" for name, count in kills.killed.items() if count), "killed")
        print(f"games: {len(numbers)} of {options.games}, {sum(numbers.values()) - len(numbers)} counted twice")
        print(f"weights equal those of the undisturbed run: {same}")
        if not same or sorted(numbers) != list(range(options.games)) or max(numbers.values()) > 1:
            raise SystemExit(1)


def games_of(folder: Path) -> list[GameRecord]:
    """The games of a run's folder."""
    return [record for path in sorted((folder / "games").iterdir()) for record in load_records(path)]


if __name__ == "__main__":
    main()
