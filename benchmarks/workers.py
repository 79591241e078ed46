"""What workers cost: the same games by one process and by two workers, the overhead of tasks, and how soon one plays.

    python benchmarks/workers.py rates --preset 7x7       # --ray: on Ray instead of over a folder
    python benchmarks/workers.py rates --preset 9x9 --iterations 4
    python benchmarks/workers.py overhead
    python benchmarks/workers.py first --ray

Each takes less than three minutes on a quiet machine.  `rates` plays the same iterations twice, game for game, after
some that warm up; its processor seconds are those of this process and of all that it has started.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from alphago import GoEnv, load_model, train
from alphago.system.cores import available_cores
from alphago.training.group import Group
from alphago.training.recipes import RECIPES
from alphago.training.watch.report import Report
from alphago.training.workers.group_player import GroupPlayer
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers.ray_cluster import RAY_COMMAND, RAY_SETTINGS
from alphago.workers.transport import JobAnswer
from alphago.workers.work import WorkBench

CORES = 2
WARM_UP = 2  # iterations
GAMES = 64  # of the worker whose first move is waited for
ALPHAGO = [sys.executable, "-m", "alphago"]


class Stopper(Report):
    """Notes time, processor seconds, games and bytes of tasks at each iteration, and ends the run after so many."""

    def __init__(self, iterations: int) -> None:
        self.iterations, self.rows = iterations, list[tuple[float, float, int, int]]()

    def iteration(self, metrics: dict[str, Any]) -> None:
        sent = metrics.get("tasks_bytes", 0)
        self.rows.append((time.monotonic(), processor_seconds(), int(metrics["games"]), sent))
        if len(self.rows) == self.iterations:
            os.kill(os.getpid(), signal.SIGINT)

    def difference(self) -> list[float]:
        """Return the seconds, processor seconds, games and bytes since the warm-up."""
        return [late - early for early, late in zip(self.rows[WARM_UP - 1], self.rows[-1], strict=True)]


def processor_seconds(of: int | None = None) -> float:
    """Return the processor time of a process, this one if None, and all that it has started."""
    parents, spent = dict[int, int](), dict[int, int]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(process.name)] = int(fields[1])
        spent[int(process.name)] = sum(map(int, fields[11:15]))  # its own, and that of its children that have ended
    ours, new = set[int](), {of or os.getpid()}
    while new:
        ours |= new
        new = {number for number, parent in parents.items() if parent in new}
    return sum(spent[number] for number in ours) / os.sysconf("SC_CLK_TCK")


@contextmanager
def folder_workers(path: Path, count: int) -> Iterator[str]:
    """Workers of one core over a folder; yields their name."""
    command = [*ALPHAGO, "worker", "--folder", str(path), "--cores", "1"]
    made = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield f"folder:{path}"
    finally:
        for process in made:
            process.terminate()
            process.wait()


def measured(preset: str, iterations: int, folder: Path, workers: str | int | None) -> list[float]:
    """Train by a recipe, without smaller boards, and return the difference of its Stopper."""
    stopper = Stopper(iterations)
    options: dict[str, Any] = {"max_minutes": None, "curriculum": (), "groups": CORES, "learner_threads": CORES}
    env = RECIPES[preset].make_env()
    train(env, 100_000, preset=preset, folder=folder, workers=workers, reports=[stopper], **options)
    return stopper.difference()


def rates(options: argparse.Namespace) -> None:
    """Print games a second and a processor second of one process and of two workers of one core."""
    if available_cores() != CORES:
        print(f"on {available_cores()} cores: taskset -c 0,1 gives the {CORES} that are compared", flush=True)
    with tempfile.TemporaryDirectory() as place:
        alone = measured(options.preset, options.iterations, Path(place, "alone"), None)
        if options.ray:
            shared = measured(options.preset, options.iterations, Path(place, "shared"), CORES)
        else:
            with folder_workers(Path(place, "folder"), CORES) as workers:
                shared = measured(options.preset, options.iterations, Path(place, "shared"), workers)
    for name, (seconds, processor, games, _) in (("one process", alone), ("two workers", shared)):
        print(f"{name}: {games:.0f} games, {seconds:.1f} s, {processor:.1f} processor seconds")
    print(f"tasks and their answers have {shared[3] / shared[2] / 1000:.1f} kB a game")
    print(f"games a processor second: {alone[1] / shared[1]:.3f} of one process's (0.95 is wanted)")
    print(f"games a second by the clock: {alone[0] / shared[0]:.3f} of one process's (0.9 is wanted)")


class Inline:
    """A transport to a worker in this process, which does its tasks when answers are asked for."""

    def __init__(self) -> None:
        self.works, self.given = dict[str, bytes](), deque[tuple[str, str, str, bytes]]()
        self.bench = WorkBench(lambda name: self.works[name])

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        self.works = {name: data} | {old: self.works[old] for old in keep - {name}}

    def workers(self) -> dict[str, int]:
        return {"inline": 1}

    def give(self, *job: Any) -> None:
        self.given.append(job)

    def answers(self) -> list[JobAnswer]:
        if not self.given:
            time.sleep(0.005)
            return []
        worker, key, work, job = self.given.popleft()
        return [JobAnswer(worker, key, self.bench.do(work, job, threading.Event()))]

    def why_gone(self, worker: str) -> str:
        return ""

    def how_to_join(self) -> str:
        return ""

    def close(self) -> None:
        pass


def overhead(options: argparse.Namespace) -> None:
    """Print what a recipe's tasks cost beside their moves, in processor time."""
    spent = Counter[str]()

    def timed(name: str, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            begin = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                spent[name] += time.process_time() - begin

        return call

    class Timed(RemoteSelfPlay):
        go_on = timed("all", RemoteSelfPlay.go_on)

    Group.play = timed("moves", Group.play)  # type: ignore[method-assign]
    GroupPlayer.from_bytes = timed("versions", GroupPlayer.from_bytes)  # type: ignore[method-assign]
    stopper = Stopper(options.iterations)
    with tempfile.TemporaryDirectory() as place:
        source = partial(Timed, connect=Inline)
        more: dict[str, Any] = {"max_minutes": None, "curriculum": (), "first_games_in_flight": None, "groups": CORES}
        net = load_model(options.preset)
        env = RECIPES[options.preset].make_env()
        train(env, 100_000, preset=options.preset, model=net, folder=place, source=source, reports=[stopper], **more)
    tasks = options.iterations * CORES
    beside = spent["all"] - spent["moves"] - spent["versions"]
    print(f"{tasks} tasks of {spent['moves'] / tasks:.2f} processor seconds, {options.preset}")
    print(f"beside their moves: {1000 * beside / tasks:.1f} ms each, {beside / spent['moves']:.2%} (2 % are allowed)")
    print(f"a version of the network on a worker: {1000 * spent['versions'] / options.iterations:.0f} ms")


class Leaver(Stopper):
    """Lets the worker that is last in a list leave while it plays the third move, then ends the run.

    left: seconds that it took.  spent: the worker's processor seconds until its first move.
    """

    def __init__(self, processes: "list[subprocess.Popen[bytes]]") -> None:
        super().__init__(10**9)
        self.processes, self.left, self.spent = processes, 0.0, 0.0

    def iteration(self, metrics: dict[str, Any]) -> None:
        super().iteration(metrics)
        self.spent = self.spent or processor_seconds(self.processes[-1].pid)
        if len(self.rows) == WARM_UP:
            threading.Thread(target=self.leave).start()

    def leave(self) -> None:
        begin, worker = time.monotonic(), self.processes[-1]
        worker.terminate()
        worker.wait()
        self.left = time.monotonic() - begin
        os.kill(os.getpid(), signal.SIGINT)


def first(options: argparse.Namespace) -> None:
    """Print how long a worker takes from its start to a move of each of its games, and from SIGTERM to its end."""
    with tempfile.TemporaryDirectory() as place:
        stack = list[subprocess.Popen[bytes]]()
        workers, words = f"folder:{place}/folder", ["--folder", f"{place}/folder"]
        if options.ray:
            port = 20000 + os.getpid() % 20000
            start = ["start", "--head", f"--port={port}", "--num-cpus=0", "--block", "--include-dashboard=false"]
            command = [sys.executable, "-c", RAY_COMMAND, *start]
            stack.append(subprocess.Popen(command, env={**os.environ, **RAY_SETTINGS}, stdout=subprocess.DEVNULL))
            time.sleep(10)
            workers, words = f"127.0.0.1:{port}", [f"127.0.0.1:{port}"]
        begun = list[float]()

        def begin() -> None:
            begun.append(time.monotonic())
            stack.append(subprocess.Popen([*ALPHAGO, "worker", *words, "--cores", "1"], stdout=subprocess.DEVNULL))

        timer, leaver = threading.Timer(20, begin), Leaver(stack)
        timer.start()
        sizes = {"tower_height": 4, "channels": 64, "games_in_flight": GAMES, "plies_per_iteration": 1, "readouts": 24}
        train(GoEnv(9), 1000, folder=Path(place, "run"), workers=workers, reports=[leaver], groups=1, **sizes)
        (one, two), start = (row[0] for row in leaver.rows[:2]), begun[0]
        spent = f"{leaver.spent:.1f} processor seconds"
        print(
            f"{one - start:.1f} s ({spent}) from the worker's start to the first move of its games (10 s are allowed)"
        )
        print(f"{leaver.left:.1f} s from SIGTERM to its end; a move of its {GAMES} games takes {two - one:.1f} s")
        for process in reversed(stack):
            process.terminate()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("rates", "overhead", "first"))
    parser.add_argument("--preset", choices=("7x7", "9x9"), default="7x7", help="the recipe (7x7)")
    parser.add_argument("--iterations", type=int, default=8, help=f"of which {WARM_UP} warm up (8)")
    parser.add_argument("--ray", action="store_true", help="workers on Ray, which must be installed")
    options = parser.parse_args()
    {"rates": rates, "overhead": overhead, "first": first}[options.what](options)


if __name__ == "__main__":
    main()
