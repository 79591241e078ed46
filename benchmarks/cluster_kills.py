"""Kill workers, drivers and heads of a run on 5x5, and count what is lost: nothing should be but the tasks in hand.

    python benchmarks/cluster_kills.py --workers 50 --drivers 10 --ray-workers 10 --heads 5     # the last two need Ray

Each kind of kill has the run go on in its folder; at the end this process plays the rest.  Weights must equal those of
an undisturbed run, every game must be there once, and at most one task for each killed worker may be done again.  A
driver loses what it has played since it last saved, as any run.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from alphago import GoEnv, train
from alphago.records.record import GameRecord, load_records
from alphago.training.history import read_history
from alphago.workers.ray_cluster import RAY_COMMAND, RAY_SETTINGS, import_ray
from alphago.workers.shared_folder import TASKS, WORKERS, files_in

ENV = GoEnv(5, komi=0.5)
SETTINGS: dict[str, Any] = {
    "groups": 3,
    "learner_threads": 1,
    "selfplay_dtype": "float32",
    "bfloat16": False,
    "games_in_flight": 9,
    "readouts": 4,
    "tower_height": 1,
    "channels": 8,
    "batch_size": 16,
    "start_training_after": 40,
    "plies_per_iteration": 3,
    "ckp_freq": 5,
}
ALPHAGO = [sys.executable, "-m", "alphago"]
LIMIT = 300.0  # seconds within which what is waited for must happen, or else the run hangs
Process = subprocess.Popen[bytes]


class Unexpected(Exception):
    """The error raised where a run does what it must not."""


class Kills:
    """A run in a folder, and the processes that play it and are killed."""

    def __init__(self, place: Path) -> None:
        self.folder, self.shared = place / "run", place / "shared"
        self.log = place / "log"
        self.killed, self.repeated, self.begin = Counter[str](), Counter[str](), time.monotonic()

    @contextmanager
    def driver(self, workers: str, name: str = "") -> Iterator[Process]:
        """The run goes on, and is ended at last; the tasks done again are those of the kills with a name."""
        words = ["train", "--board-size", "5", "--komi", "0.5", "--folder", str(self.folder), "--workers", workers]
        before = len(self.rows())
        with self.log.open("wb") as log, process(*words, log=log) as made:
            yield made
        if name:
            rows = self.rows()[before:]
            self.repeated[name] += int(rows[-1]["tasks_repeated"]) if rows else 0

    def rows(self) -> list[dict[str, Any]]:
        """Return the run's metrics; none before its first iteration has ended."""
        with suppress(FileNotFoundError):
            return read_history(self.folder).metrics
        return []

    def playing(self) -> set[int]:
        """Return the processes of the folder's workers that have a task."""
        return {
            int(folder.name.split("-")[-2]) for folder in files_in(self.shared / WORKERS) if files_in(folder / TASKS)
        }

    def folder_workers(self, kills: int, name: str = "workers of a folder") -> None:
        """Kill a worker that has a task, again and again; a new one comes, and another stays."""
        worker = ("worker", "--folder", str(self.shared), "--cores", "1")
        with process(*worker), self.driver(f"folder:{self.shared}", name) as driver:
            for number in range(kills):
                with process(*worker) as comes:
                    wait(lambda pid=comes.pid: pid in self.playing(), driver)
                    time.sleep(number % 10 / 5)  # not always in the same task: one that ends six ends the run
                    wait(lambda pid=comes.pid: pid in self.playing(), driver)
                    comes.kill()
                self.count(name)

    def drivers(self, kills: int) -> None:
        """Kill the driver while a worker has a task."""
        with process("worker", "--folder", str(self.shared), "--cores", "1"):
            for _ in range(kills):
                for folder in files_in(self.shared / WORKERS):
                    for path in files_in(folder / TASKS):  # of the one killed before
                        path.unlink(missing_ok=True)
                with self.driver(f"folder:{self.shared}") as driver:
                    wait(self.playing, driver)
                    driver.kill()
                self.count("drivers")

    def ray_workers(self, kills: int, name: str = "workers of Ray") -> None:
        """Kill one of two actors on this machine, some time after there are two."""
        with self.driver("2", name) as driver:
            for number in range(kills):
                wait(lambda: len(actors(driver.pid)) == 2, driver)
                time.sleep(8 + number % 10 / 10)  # longer than a task takes, from the start of its worker on
                os.kill(wait(lambda: actors(driver.pid), driver)[0].pid, signal.SIGKILL)
                self.count(name)

    def heads(self, kills: int) -> None:
        """Kill a cluster with its head under a run, which must end by itself with a sentence."""
        for number in range(kills):
            port = 21000 + os.getpid() % 10000 + number
            words = ["start", "--head", f"--port={port}", "--num-cpus=2", "--block", "--include-dashboard=false"]
            head = subprocess.Popen(
                [sys.executable, "-c", RAY_COMMAND, *words],
                env={**os.environ, **RAY_SETTINGS},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            time.sleep(10)
            with self.driver(f"127.0.0.1:{port}") as driver:
                wait(lambda pid=head.pid: actors(pid), driver)
                time.sleep(2 + number)
                os.killpg(head.pid, signal.SIGKILL)
                head.wait()
                wait(lambda driver=driver: driver.poll() is not None)
                if driver.returncode != 2:
                    raise Unexpected(f"the run must end with 2, got {driver.returncode}")
            self.count("heads")

    def count(self, name: str) -> None:
        self.killed[name] += 1
        print(f"{time.monotonic() - self.begin:6.0f} s: {self.killed[name]} {name} killed", flush=True)


def actors(ancestor: int) -> list[Any]:
    """Return the processes of Ray's players below a process."""
    import_ray()
    import psutil  # which comes with Ray

    found = []
    for below in psutil.Process(ancestor).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            found += [below] if below.name().startswith("ray::NodePlayer") else []
    return found


@contextmanager
def process(*words: str, log: Any = subprocess.DEVNULL) -> Iterator[Process]:
    """A command of the package, which is ended at last; log: for what it prints."""
    made = subprocess.Popen([*ALPHAGO, *words], stdout=log, stderr=log)
    try:
        yield made
    finally:
        made.terminate()
        made.wait(LIMIT)


def wait(is_so: Callable[[], Any], driver: Process | None = None) -> Any:
    """Wait until something is so, and return it; raise Unexpected if it takes too long, or the driver has ended."""
    last = time.monotonic() + LIMIT
    while not (found := is_so()):
        if driver is not None and driver.poll() is not None:
            raise Unexpected(f"the run must go on, it has ended with {driver.returncode}")
        if time.monotonic() > last:
            raise Unexpected(f"nothing has happened for {LIMIT:.0f} s: the run hangs")
        time.sleep(0.005)
    return found


def games_of(folder: Path) -> list[GameRecord]:
    """Return the games of a run's folder."""
    return [record for path in sorted((folder / "games").iterdir()) for record in load_records(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("workers", "drivers", "ray-workers", "heads"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="KILLS")
    parser.add_argument("--games", type=int, default=1000, help="of the run: so many that it lasts (1000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        kills = Kills(Path(place))
        train(ENV, options.games, folder=kills.folder, reports=[], stop_after=0.2, **SETTINGS)
        try:
            for act in (kills.folder_workers, kills.drivers, kills.ray_workers, kills.heads):
                if count := getattr(options, act.__name__.removeprefix("folder_")):
                    act(count)
        except Unexpected as error:
            raise SystemExit(f"cluster_kills: {error}; it said last: {kills.log.read_text()[-2000:]}") from None
        played = max((row["games"] for row in kills.rows()), default=0)
        print(f"{played} games are played; this process plays the rest", flush=True)
        net = train(ENV, options.games, folder=kills.folder, reports=[], **SETTINGS)
        alone = train(ENV, options.games, folder=Path(place, "alone"), reports=[], **SETTINGS)
        numbers = Counter(record.seed[1] for record in games_of(kills.folder) if record.seed)
        same = all(map(torch.equal, net.state_dict().values(), alone.state_dict().values()))
        for name, count in kills.killed.items():
            again = f", {kills.repeated[name]} tasks done again" if name in kills.repeated else ""
            print(f"{count} {name} killed{again}")
        print(f"games: {len(numbers)} of {options.games}, {numbers.total() - len(numbers)} counted twice")
        print(f"weights equal those of the undisturbed run: {same}")
        lost = any(again > kills.killed[name] for name, again in kills.repeated.items())
        if lost or not same or sorted(numbers) != list(range(options.games)) or max(numbers.values()) > 1:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
