"""Whether memory stays flat in a run on eight simulated nodes of a Ray cluster: driver, players, daemons, object store.

    python benchmarks/cluster_memory.py --minutes 60 --file memory.jsonl    # or 20: the intervals tell

Trains a small network on 5x5, and prints for each part its first and last size, and its slope with a 95 % interval: of
a line through the means of BLOCKS spans of time, since neighbouring samples are alike.  The minutes are those after a
warm-up, which ends WARM_UP iterations after the replay memory is full.  Sizes are of anonymous memory: pages of
libraries count for a process only while no other program uses them, so they would grow where other programs end.  The
samples are written to the file as they are taken; `--read` prints the table of a file that is there, also while it
grows.
"""

import argparse
import json
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from alphago import GoEnv, train
from alphago.training.watch.report import Report
from alphago.workers.ray_cluster import import_ray

SETTINGS = {
    "tower_height": 1,
    "channels": 64,  # so that a version is too large to travel beside the object store
    "readouts": 4,
    "batch_size": 64,
    "games_in_flight": 64,
    "start_training_after": 200,
    "plies_per_iteration": 8,
    "memory_size": 1000,  # is full after some 40 games
    "learner_threads": 1,
}
BLOCKS = 8
COUNTS = ("games", "steps", "tasks")
STUDENT = 2.45  # Student's t for 95 % and two degrees of freedom less
WARM_UP = 30  # iterations with a full memory that the slopes leave out
PART_OF = {
    "alphago.workers.ray_process": "driver of Ray",
    "ray::Node": "players",
    "raylet/raylet": "raylets",
    "gcs_server": "Ray's head",
    "/ray/_private/": "Ray's scripts",
    "/ray/dashboard/": "Ray's agents",
    "ray::DashboardAgent": "Ray's agents",
    "ray::RuntimeEnvAgent": "Ray's agents",
}


def own_memory(process: Path) -> float:
    """Return the MB of a process that are no file's, as those of libraries and of an object store are."""
    lines = (process / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024


def descendants() -> list[Path]:
    """Return the processes that this one has begun, directly or not."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue

    def is_ours(number: int) -> bool:
        while number in parents:
            number = parents[number]
            if number == os.getpid():
                return True
        return False

    return [Path("/proc", str(number)) for number in parents if is_ours(number)]


def sample() -> dict[str, float]:
    """Return the MB of each part; of players the mean, since one may die."""
    found = Counter({"driver": own_memory(Path("/proc/self"))})
    number = 0
    for process in descendants():
        try:
            words = (process / "cmdline").read_text().replace("\0", " ")
            part = next((part for text, part in PART_OF.items() if text in words), "others")
            found[part] += own_memory(process)
            number += part == "players"
        except (OSError, ValueError):
            continue
    return {**found, "players": found["players"] / max(1, number), "object store": stored()}


def stored() -> float:
    """Return the MB in the object stores of all nodes."""
    import ray

    there, free = (f().get("object_store_memory", 0.0) for f in (ray.cluster_resources, ray.available_resources))
    return (there - free) / 2**20


class Sampler(Report):
    """Writes a sample every few seconds until it is closed, and ends the run so many minutes after the warm-up."""

    def __init__(self, file: Path, seconds: float, minutes: float) -> None:
        self.file, self.seconds, self.over = file, seconds, threading.Event()
        self.left, self.minutes, self.end = WARM_UP, minutes, float("inf")
        self.standing = {**dict.fromkeys(COUNTS, 0), "warm": False}
        self.thread = threading.Thread(target=self.run)

    def iteration(self, metrics: dict[str, float]) -> None:
        self.left -= metrics["steps"] > 0 and metrics["memory"] >= SETTINGS["memory_size"]
        if self.left <= 0 and not self.standing["warm"]:
            self.end = time.monotonic() + 60 * self.minutes
        counts = {"games": metrics["games"], "steps": metrics["steps"], "tasks": metrics["tasks_done"]}
        self.standing = {**counts, "warm": self.left <= 0}
        if time.monotonic() >= self.end:
            os.kill(os.getpid(), signal.SIGINT)

    def note(self, text: str) -> None:
        print(text, flush=True)

    def run(self) -> None:
        begin = time.monotonic()
        with self.file.open("w") as out:
            while not self.over.wait(self.seconds):
                row = {"seconds": time.monotonic() - begin, **self.standing, **sample()}
                out.write(json.dumps(row) + "\n")
                out.flush()


def table(file: Path) -> str:
    """Return what the samples of a file say."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    late = [row for row in rows if row["warm"]]
    if not late:
        return f"{rows[-1]['seconds'] / 60:.0f} minutes, {rows[-1]['games']} games: still warming up"
    hours = np.array([row["seconds"] / 3600 for row in late])
    counts = ", ".join(f"{late[-1][name] - late[0][name]} {name}" for name in COUNTS)
    lines = [f"{hours[-1] - hours[0]:.2f} hours after {hours[0]:.2f} that warmed up: {counts}, {len(late)} samples"]
    for part in sorted({name for row in late for name in row} - {"seconds", "warm", *COUNTS}):
        sizes = np.array([row.get(part, 0.0) for row in late])
        slope, around = slope_of(hours, sizes)
        sizes_there = f"{sizes[0]:8.1f} MB, then {sizes[-1]:8.1f} MB"
        lines.append(f"{part:<14} {sizes_there}: {slope:+7.1f} ± {around:.1f} MB an hour")
    return "\n".join(lines)


def slope_of(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the slope of a line through the means of BLOCKS parts, and half of its 95 % interval."""
    parts = [np.array_split(values, BLOCKS) for values in (x, y)]
    at, sizes = (np.array([part.mean() for part in split if len(part)]) for split in parts)
    if len(at) < 3:
        return float("nan"), float("nan")
    line = np.polyfit(at, sizes, 1)
    rest = ((sizes - np.polyval(line, at)) ** 2).sum() / (len(at) - 2)
    return float(line[0]), float(STUDENT * np.sqrt(rest / ((at - at.mean()) ** 2).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="after the warm-up (60)")
    parser.add_argument("--nodes", type=int, default=8, help="of one core each (8)")
    parser.add_argument("--every", type=float, default=15.0, metavar="SECONDS")
    parser.add_argument("--file", type=Path, default=Path("memory.jsonl"))
    parser.add_argument("--read", action="store_true", help="only print the table of the file")
    options = parser.parse_args()
    if not options.read:
        measure(options)
    print(table(options.file))


def measure(options: argparse.Namespace) -> None:
    ray = import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(options.nodes):
        cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")  # for `stored`
    sampler = Sampler(options.file, options.every, options.minutes)
    with tempfile.TemporaryDirectory() as folder:
        sampler.thread.start()
        try:
            train(
                GoEnv(5, komi=0.5),
                10**6,
                folder=Path(folder, "run"),
                workers=cluster.address,
                groups=options.nodes,
                max_minutes=None,
                reports=[sampler],
                **SETTINGS,
            )
        finally:
            sampler.over.set()
            sampler.thread.join()
            ray.shutdown()
            cluster.shutdown()


if __name__ == "__main__":
    main()
