"""What a run would do with other workers: games per second, waiting, bytes, by simulation of its tasks.

    python benchmarks/scale_simulation.py --run runs/mine                        # figures of a run, predicted again
    python benchmarks/scale_simulation.py --workers 10,100,1000 --lag 4 --deaths 2
    python benchmarks/scale_simulation.py --real --workers 1,2,4         # beside runs with so many on this machine

A synchronous iteration gives each group one task, waits for all, then learns.  Asynchronous workers play on meanwhile.
Tasks last as long as their moves take, times a random factor (stragglers); a worker that dies loses its task, which
another plays again, and comes back after a minute.  All tasks pass through the one machine that learns: its network
carries their bytes one after the other, and its driver takes a little time for each.
"""

import argparse
import heapq
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from workers import CORES, WARM_UP, Stopper, folder_workers

from alphago import GoEnv, train
from alphago.training.history import read_history
from alphago.training.runs.config import flat_settings, read_config

BACK_AFTER = 60.0  # seconds until a worker that died is there again
GROUPS = 4  # of the real runs


@dataclass(frozen=True)
class Scale:
    """The figures of a run, of which those of the machine are measured."""

    workers: int = 2  # cores that play
    groups: int = 2
    plies: int = 16  # of a task, in each of its games
    width: int = 32  # games of a group
    moves_per_second: float = 700.0  # of one core
    game_moves: float = 60.0
    learn_seconds: float = 1.0  # of an iteration of `groups` tasks
    game_bytes: float = 1_700.0  # of a finished game, compressed
    state_bytes: float = 3_000.0  # of a game in progress, compressed
    version_bytes: float = 1e6
    overhead: float = 0.002  # seconds of the driver for a task
    bandwidth: float = 1e8  # bytes a second of the machine that learns
    spread: float = 0.1  # of the logarithm of a task's duration
    deaths: float = 0.0  # per worker and hour
    lag: int | None = None  # versions; None: synchronous


@dataclass
class Outcome:
    """What came of it, per second."""

    games: float  # that are learned from
    busy: float  # share of the workers' time in which they play what counts
    learning: float  # share of the learner's time in which it learns
    bytes: float
    too_old: float  # share of the tasks that were dropped


def task_seconds(scale: Scale, generator: np.random.Generator) -> float:
    """Draw how long a worker plays a task; the mean does not depend on the spread."""
    moves = scale.plies * scale.width / scale.moves_per_second
    return moves * math.exp(generator.normal(-(scale.spread**2) / 2, scale.spread))


def task_bytes(scale: Scale) -> float:
    """Return the bytes of a task, its answer, and its share of a new version, which each worker gets once."""
    finished = scale.width * scale.plies / scale.game_moves
    versions = scale.version_bytes * scale.workers / max(scale.groups, scale.workers)
    return 2 * scale.width * scale.state_bytes + finished * scale.game_bytes + versions


class Simulation:
    """A run's tasks, one event after the other."""

    def __init__(self, scale: Scale, seed: int) -> None:
        self.scale, self.generator = scale, np.random.default_rng(seed)
        self.events: list[tuple[float, str, int, float]] = []  # time, kind, version, and seconds of play
        self.now = self.played = 0.0
        self.passed = 0.0  # when the machine that learns will have sent and received all that is under way
        self.idle, self.waiting = scale.workers, scale.groups
        self.held = 0  # groups that wait, as they are far enough ahead
        self.arrived = self.done = self.dropped = self.version = 0
        self.learns = False

    def after(self, seconds: float, kind: str, play: float = 0.0) -> None:
        heapq.heappush(self.events, (self.now + seconds, kind, self.version, play))

    def begin(self) -> None:
        """Give tasks to idle workers, and let the learner learn what is due."""
        scale = self.scale
        while self.waiting and self.idle:
            self.waiting, self.idle = self.waiting - 1, self.idle - 1
            self.passed = max(self.passed, self.now) + scale.overhead + task_bytes(scale) / scale.bandwidth
            way, seconds = self.passed - self.now, task_seconds(scale, self.generator)
            if self.generator.random() < seconds * scale.deaths / 3600:
                self.after(way + seconds * self.generator.random(), "lost")
            else:
                self.after(way + seconds, "played", seconds)
        if not self.learns and self.arrived >= scale.groups:
            self.after(scale.learn_seconds, "learned")
            self.learns, self.arrived = True, self.arrived - scale.groups

    def step(self) -> None:
        """Let the next event happen."""
        self.now, kind, version, play = heapq.heappop(self.events)
        if kind == "played":
            late = self.scale.lag is not None and self.version - version + self.versions_until() > self.scale.lag
            self.played += play
            self.idle, self.dropped = self.idle + 1, self.dropped + late
            self.arrived += not late
            self.held += 1
        elif kind == "lost":
            self.waiting += 1
            self.after(BACK_AFTER, "back")
        elif kind == "back":
            self.idle += 1
        else:
            self.learns, self.version, self.done = False, self.version + 1, self.done + self.scale.groups
            if self.scale.lag is None:
                self.waiting, self.held = self.held, 0
        while self.scale.lag is not None and self.held:
            if self.versions_until(self.scale.groups - self.held) > self.scale.lag:
                break
            self.waiting, self.held = self.waiting + 1, self.held - 1
        self.begin()

    def versions_until(self, before: int = 0) -> int:
        """Return how many versions later the next answer is learned from, if so many others come first."""
        return (self.arrived + before) // self.scale.groups + self.learns


def simulate(scale: Scale, seconds: float = 3600.0, versions: int = 30, seed: int = 0) -> Outcome:
    """Return what a run does in so many seconds and versions of the network, at least."""
    run = Simulation(scale, seed)
    run.begin()
    while run.now < seconds or run.version < versions:
        run.step()
    games = run.done * scale.width * scale.plies / scale.game_moves
    tasks = max(1, run.done + run.dropped)
    return Outcome(
        games / run.now,
        run.played / run.now / scale.workers,
        run.version * scale.learn_seconds / run.now,
        run.done * task_bytes(scale) / run.now,
        run.dropped / tasks,
    )


def scale_of(folder: Path, warm_up: int = 1) -> tuple[Scale, float]:
    """Return the figures of a run with workers, and its games per second, without its first iterations."""
    rows = [row for row in read_history(folder).metrics if row.get("workers_cores")][warm_up - 1 :]
    if len(rows) < 3:
        raise SystemExit(f"{folder} must have {warm_up + 2} iterations with workers, got {len(rows) + warm_up - 1}")
    settings, first, last = flat_settings(read_config(folder)), rows[0], rows[-1]
    seconds, games = last["seconds"] - first["seconds"], last["games"] - first["games"]
    spent = [row["seconds"] - before["seconds"] for before, row in pairwise(rows)]
    learning = [(1 - (row["selfplay_share"] or 0.0)) * time for row, time in zip(rows[1:], spent, strict=True)]
    width = settings["games_in_flight"] // settings["groups"]
    measured = Scale(
        workers=last["workers_cores"],
        groups=settings["groups"],
        plies=settings["plies_per_iteration"],
        width=width,
        moves_per_second=settings["plies_per_iteration"] * width / mean(row["task_seconds"] for row in rows[1:]),
        game_moves=sum(row["moves"] for row in rows[1:]) / max(games, 1),
        learn_seconds=mean(learning),
        version_bytes=Path(folder, "weights.safetensors").stat().st_size,
        spread=math.sqrt(mean((row["task_spread"] or 0.0) ** 2 for row in rows[1:])),
        overhead=0.0,  # it is in the seconds of the tasks
    )
    return measured, games / seconds


def real(count: int, iterations: int, folder: Path) -> tuple[Scale, float, float]:
    """Train by the recipe of 7x7 with so many workers of one core; return its figures, games and processor seconds."""
    stopper = Stopper(iterations)
    more: dict[str, Any] = {"max_minutes": None, "curriculum": (), "first_games_in_flight": None, "groups": GROUPS}
    with folder_workers(folder / "shared", count) as workers:
        train(GoEnv(7), 100_000, preset="7x7", folder=folder / "run", workers=workers, reports=[stopper], **more)
    scale, games = scale_of(folder / "run", WARM_UP)
    return scale, games, stopper.difference()[1]


def compare(counts: Sequence[int], iterations: int) -> None:
    """Print games a second of real runs and of simulations: with the run's own figures, and with those of the first."""
    print(f"{GROUPS} groups, {iterations} iterations, {CORES} cores or more wanted for more than one worker")
    print("workers   games/s   simulated     ratio   from the first's   processor seconds")
    first = None
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            scale, games, processor = real(count, iterations, Path(place))
        first = first or scale
        own, ahead = simulate(scale).games, simulate(replace(first, workers=count)).games
        print(f"{count:7}{games:10.2f}{own:12.2f}{own / games:10.2f}{ahead:19.2f}{processor:20.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="take the machine's figures from this run with workers")
    parser.add_argument("--real", action="store_true", help="train with so many workers here, and simulate the same")
    parser.add_argument("--iterations", type=int, default=10, help=f"of each real run, of which {WARM_UP} warm up (10)")
    parser.add_argument("--workers", default="1,2,4", help="numbers of cores that play")
    parser.add_argument("--groups-per-worker", type=float, default=1.0)
    parser.add_argument("--lag", type=int, help="asynchronous, with this max_lag")
    parser.add_argument("--deaths", type=float, default=0.0, help="per worker and hour")
    parser.add_argument("--spread", type=float, default=0.1, help="of the logarithm of a task's seconds")
    for name in (
        "moves_per_second",
        "game_moves",
        "learn_seconds",
        "plies",
        "version_bytes",
        "game_bytes",
        "bandwidth",
    ):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float)
    options = parser.parse_args()
    counts = [int(count) for count in options.workers.split(",")]
    if options.real:
        compare(counts, options.iterations)
        return
    scale, measured = (Scale(), None) if options.run is None else scale_of(options.run)
    given = {one.name: getattr(options, one.name, None) for one in fields(Scale) if one.name not in ("workers", "lag")}
    scale = replace(scale, lag=options.lag, **{name: value for name, value in given.items() if value is not None})
    if measured is not None:
        print(f"{options.run}: {measured:.2f} games/s measured, {simulate(scale).games:.2f} simulated")
    # Learning an iteration takes as long as it has positions.
    step = scale.learn_seconds / scale.groups
    print("workers   games/s   playing  learning      MB/s   too old")
    for count in counts:
        groups = max(1, round(count * options.groups_per_worker))
        made = simulate(replace(scale, workers=count, groups=groups, learn_seconds=step * groups))
        shares = f"{made.busy:10.0%}{made.learning:10.0%}{made.bytes / 1e6:10.2f}{made.too_old:10.1%}"
        print(f"{count:7}{made.games:10.1f}{shares}")


if __name__ == "__main__":
    main()
