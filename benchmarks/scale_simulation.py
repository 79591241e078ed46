"""What a run would do with other workers: games per second, waiting, bytes, by simulation of its tasks.

    python benchmarks/scale_simulation.py --run runs/mine                        # figures of a run, predicted again
    python benchmarks/scale_simulation.py --workers 10,100,1000 --lag 4 --deaths 2

A synchronous iteration gives each group one task, waits for all, then learns.  Asynchronous workers play on meanwhile.
Tasks last as long as their moves take, times a random factor (stragglers); a worker that dies loses its task, which
another plays again, and comes back after a minute.
"""

import argparse
import heapq
import math
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from alphago.training.history import read_history
from alphago.training.runs.config import flat_settings, read_config

BACK_AFTER = 60.0  # seconds until a worker that died is there again


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
    overhead: float = 0.002  # seconds of a task beside its moves
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
    """Draw how long a task takes, with its transfers."""
    moves = scale.plies * scale.width / scale.moves_per_second
    return moves * math.exp(generator.normal(0.0, scale.spread)) + scale.overhead + task_bytes(scale) / scale.bandwidth


def task_bytes(scale: Scale) -> float:
    """Return the bytes of a task, its answer, and its share of a new version, which each worker gets once."""
    finished = scale.width * scale.plies / scale.game_moves
    versions = scale.version_bytes * scale.workers / max(scale.groups, scale.workers)
    return 2 * scale.width * scale.state_bytes + finished * scale.game_bytes + versions


class Simulation:
    """A run's tasks, one event after the other."""

    def __init__(self, scale: Scale, seed: int) -> None:
        self.scale, self.generator = scale, np.random.default_rng(seed)
        self.events: list[tuple[float, str, float]] = []  # time, kind, and a version or a number of tasks
        self.now = self.played = self.learned = 0.0
        self.idle, self.waiting = scale.workers, scale.groups
        self.held = 0  # groups that wait, as they are far enough ahead
        self.arrived = self.done = self.dropped = self.version = 0
        self.learns = False

    def after(self, seconds: float, kind: str, value: float = 0.0) -> None:
        heapq.heappush(self.events, (self.now + seconds, kind, value))

    def begin(self) -> None:
        """Give tasks to idle workers, and let the learner learn what is due."""
        scale = self.scale
        while self.waiting and self.idle:
            self.waiting, self.idle = self.waiting - 1, self.idle - 1
            seconds = task_seconds(scale, self.generator)
            if self.generator.random() < seconds * scale.deaths / 3600:
                self.after(seconds * self.generator.random(), "lost")
            else:
                self.played += seconds
                self.after(seconds, "played", self.version)
        if not self.learns and self.arrived >= scale.groups:
            self.after(scale.learn_seconds, "learned")
            self.learns, self.arrived = True, self.arrived - scale.groups
            self.learned += scale.learn_seconds

    def step(self) -> None:
        """Let the next event happen."""
        self.now, kind, value = heapq.heappop(self.events)
        if kind == "played":
            late = self.scale.lag is not None and self.version - value + self.versions_until() > self.scale.lag
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


def simulate(scale: Scale, seconds: float = 3600.0, seed: int = 0) -> Outcome:
    """Return what a run does in some seconds."""
    run = Simulation(scale, seed)
    run.begin()
    while run.now < seconds:
        run.step()
    games = run.done * scale.width * scale.plies / scale.game_moves
    tasks = max(1, run.done + run.dropped)
    return Outcome(
        games / run.now,
        run.played / run.now / scale.workers,
        run.learned / run.now,
        run.done * task_bytes(scale) / run.now,
        run.dropped / tasks,
    )


def scale_of(folder: Path) -> tuple[Scale, float]:
    """Return the figures of a run with workers, and its games per second."""
    rows = [row for row in read_history(folder).metrics if row.get("workers_cores")]
    if len(rows) < 3:
        raise SystemExit(f"{folder} must have three iterations with workers, got {len(rows)}")
    settings, first, last = flat_settings(read_config(folder)), rows[0], rows[-1]
    seconds, games = last["seconds"] - first["seconds"], last["games"] - first["games"]
    moves = sum(row["moves"] for row in rows[1:])
    playing = [row["selfplay_share"] or 0.0 for row in rows[1:]]
    width, cores, groups = settings["games_in_flight"] // settings["groups"], last["workers_cores"], settings["groups"]
    spent = [(row["seconds"] - before["seconds"]) for before, row in pairwise(rows)]
    play = sum(share * second for share, second in zip(playing, spent, strict=True))
    rounds = -(-groups // cores)
    return (
        Scale(
            workers=cores,
            groups=groups,
            plies=settings["plies_per_iteration"],
            width=width,
            moves_per_second=moves / len(rows[1:]) * rounds / groups / max(play / len(rows[1:]), 1e-9),
            game_moves=moves / max(games, 1),
            learn_seconds=(seconds - play) / len(rows[1:]),
            version_bytes=Path(folder, "weights.safetensors").stat().st_size,
        ),
        games / seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="take the machine's figures from this run with workers")
    parser.add_argument("--workers", default="1,2,4", help="numbers of cores that play")
    parser.add_argument("--groups-per-worker", type=float, default=1.0)
    parser.add_argument("--lag", type=int, help="asynchronous, with this max_lag")
    parser.add_argument("--deaths", type=float, default=0.0, help="per worker and hour")
    parser.add_argument("--spread", type=float, default=0.1, help="of the logarithm of a task's seconds")
    for name in ("moves_per_second", "game_moves", "learn_seconds", "version_bytes", "state_bytes", "bandwidth"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float)
    options = parser.parse_args()
    scale, measured = (Scale(), None) if options.run is None else scale_of(options.run)
    given = {one.name: getattr(options, one.name, None) for one in fields(Scale) if one.name not in ("workers", "lag")}
    scale = replace(scale, lag=options.lag, **{name: value for name, value in given.items() if value is not None})
    if measured is not None:
        print(f"{options.run}: {measured:.2f} games/s measured, {simulate(scale).games:.2f} simulated")
    # Learning an iteration takes as long as it has positions.
    step = scale.learn_seconds / scale.groups
    print("workers   games/s   playing  learning      MB/s   too old")
    for count in map(int, options.workers.split(",")):
        groups = max(1, round(count * options.groups_per_worker))
        made = simulate(replace(scale, workers=count, groups=groups, learn_seconds=step * groups))
        shares = f"{made.busy:10.0%}{made.learning:10.0%}{made.bytes / 1e6:10.2f}{made.too_old:10.1%}"
        print(f"{count:7}{made.games:10.1f}{shares}")


if __name__ == "__main__":
    main()
