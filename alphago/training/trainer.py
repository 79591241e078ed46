"""`Trainer`: self-play, memory and gradient steps in turn."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.checkpoint import RunFolder
from alphago.training.learner import Learner, mean_metrics
from alphago.training.memory import ReplayMemory, Sample, window
from alphago.training.proof import Examiner
from alphago.training.resignation import calibrated
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import TrainingSettings, stages

JUDGED_GAMES = 1000  # the latest ones, by which the threshold of resignation is set
FRESH_POSITIONS = 256  # of the newest games, on which the network is measured before it learns from them


class Trainer:
    """One run: `iterate` plays some moves in every game, then trains on what was finished."""

    def __init__(
        self,
        env: GameEnv,
        net: NeuralNet,
        settings: TrainingSettings,
        folder: RunFolder,
        workers: Workers,
        stop: threading.Event,
    ) -> None:
        self.stages = stages(env, settings.curriculum)
        for stage, _ in self.stages:
            net.resized(stage)  # whether all boards suit the network
        self.net = net
        self.settings = settings
        self.folder = folder
        self.workers = workers
        self.learner = Learner(
            net, settings.learning_rate, settings.weight_decay, settings.weight_averaging, workers,
            value_weight=settings.value_weight,
        )  # fmt: skip
        self.generator = np.random.default_rng([settings.seed, 1 << 32])
        self.stop = stop
        self.began = time.monotonic()  # moved on by the time that examinations take
        self.games = 0
        self.positions = 0  # of finished stages
        self.iterations = 0
        self.enter(self.stages[0][0])

    def enter(self, env: GameEnv) -> None:
        """Goes on with a board: its own games and memory, the same network."""
        variant = env if self.settings.exact_rules else env.training_variant(self.settings.taught_games)
        self.env = env
        self.memory = ReplayMemory(variant, min(window(0), self.settings.memory_size), self.settings.search_share)
        self.selfplay = SelfPlay(
            variant, self.settings.selfplay(), self.settings.num_games, self.settings.seed, self.games
        )
        self.learner.resize(env)
        self.evaluator = self.learner.average.evaluator()
        self.samples_due = 0.0

    def enter_next_stage(self) -> None:
        """Enters the stage that is due, if it is another one."""
        due = next(env for env, end in self.stages if self.progress < end or end == 1.0)
        if due != self.env:
            self.checkpoint()
            self.positions += self.memory.added
            self.enter(due)

    def checkpoint(self) -> Path:
        """Saves the network, with the threshold at which it may resign where the latest games tell one."""
        found = calibrated([entry.record for entry in self.memory.entries][-JUDGED_GAMES:])
        notes = {"resign_threshold": f"{found.threshold:.3f}"} if found else {}
        return self.folder.checkpoint(self.learner.average, self.games, **notes)

    @property
    def progress(self) -> float:
        """How much of the run is over, 0 .. 1, by games or by time, whichever is further."""
        return min(1.0, max(self.games / self.settings.num_games, self.time_used))

    @property
    def seconds(self) -> float:
        """Training time so far; examinations are not part of it."""
        return time.monotonic() - self.began

    @property
    def time_used(self) -> float:
        """The share of `max_minutes` that is over; 0 without such a limit."""
        limit = self.settings.max_minutes
        return self.seconds / (60 * limit) if limit else 0.0

    @property
    def deadline(self) -> float | None:
        """The time (of time.monotonic()) at which `max_minutes` are over."""
        return self.began + 60 * self.settings.max_minutes if self.settings.max_minutes else None

    def examined(self, examiner: Examiner) -> bool:
        """Whether the network is proved to be stronger, if an examination is due; training's clock stands still."""
        if self.env != examiner.env or not examiner.due(self.seconds):
            return False
        began = time.monotonic()
        proved = examiner.examine(self.learner.average, self.seconds, self.games)
        self.began += time.monotonic() - began
        return proved

    @property
    def readouts(self) -> int:
        """Readouts of a move at this point of the run."""
        last, first = self.settings.readouts, self.settings.first_readouts or self.settings.readouts
        return round(first * (last / first) ** self.progress)

    def iterate(self) -> dict[str, Any]:
        """One round; returns its metrics."""
        start = time.monotonic()
        self.enter_next_stage()
        moves_before, readouts_before = self.selfplay.moves, self.selfplay.readouts_done
        readouts = self.readouts
        records = self.selfplay.run(
            self.workers, self.evaluator, self.settings.plies_per_iteration, self.stop, self.deadline, readouts
        )
        played = time.monotonic()
        added = self.memory.added
        self.memory.capacity = min(window(added), self.settings.memory_size)
        self.memory.add(records)
        self.folder.add_games(records)
        self.games += len(records)
        new = self.memory.added - added
        fresh = {}
        if new and self.learner.steps:
            fresh = self.learner.unseen(self.memory.sample(FRESH_POSITIONS, self.generator, newest=new))
        rows = self.learn(new)
        if rows:
            self.evaluator = self.learner.average.evaluator()
        now = time.monotonic()
        self.iterations += 1
        moves = self.selfplay.moves - moves_before
        return {
            "iteration": self.iterations,
            "seconds": round(self.seconds, 3),
            "games": self.games,
            "board_size": self.env.N,
            "positions": self.positions + self.memory.added,
            "memory": len(self.memory),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            "moves_per_second": moves / max(played - start, 1e-9),
            "readouts": readouts,
            "readouts_per_second": (self.selfplay.readouts_done - readouts_before) / max(played - start, 1e-9),
            "selfplay_share": (played - start) / max(now - start, 1e-9),
            **mean_metrics(rows),
            **fresh,
            **describe_games(records, self.env),
        }

    def learn(self, new_positions: int) -> list[dict[str, float]]:
        """The gradient steps that are due after `new_positions` more positions; their metrics."""
        settings = self.settings
        rows: list[dict[str, float]] = []
        if len(self.memory) < max(settings.start_training_after, 1):
            return rows
        # Positions from before the start count too: they have not been sampled yet.
        before = self.memory.added - new_positions
        fresh = new_positions if before >= settings.start_training_after else self.memory.added
        self.samples_due += fresh * settings.samples_per_position
        with ThreadPoolExecutor(1) as sampler:  # draws the next batch while the present one is learned

            def draw() -> Future[Sample]:
                return sampler.submit(self.memory.sample, settings.batch_size, self.generator)

            batches = int(self.samples_due // settings.batch_size)
            coming = draw() if batches else None
            while coming is not None and not self.stop.is_set() and self.time_used < 1.0:
                sample = coming.result()
                batches -= 1
                self.samples_due -= settings.batch_size
                coming = draw() if batches else None
                for _ in range(settings.epochs):
                    metrics = self.learner.step(sample, self.progress)
                    if metrics is not None:
                        rows.append(metrics)
        return rows


def describe_games(records: Sequence[GameRecord], env: GameEnv) -> dict[str, Any]:
    """Length, passes, result balance and resignations of finished games; None where there are none."""
    if not records:
        names = ("game_length", "pass_rate", "black_wins", "draws", "resignations", "capped")
        return dict.fromkeys(names)
    lengths = [len(record) for record in records]
    moves = np.concatenate([record.moves for record in records])
    return {
        "game_length": float(np.mean(lengths)),
        "pass_rate": float(np.mean(moves == env.pass_action)) if env.pass_action is not None else None,
        "black_wins": float(np.mean([record.outcome > 0 for record in records])),
        "draws": float(np.mean([record.outcome == 0 for record in records])),
        "resignations": float(np.mean([record.resigned for record in records])),
        "capped": float(np.mean([length >= env.max_moves and not env.fixed_length for length in lengths])),
    }
