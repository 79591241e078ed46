"""`Trainer`: self-play, memory and gradient steps in turn."""

import math
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.checkpoint import RunFolder
from alphago.training.game_metrics import describe_games
from alphago.training.learner import Learner, mean_metrics
from alphago.training.memory import ReplayMemory, Sample, window
from alphago.training.proof import Examiner
from alphago.training.resignation import calibrated
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import TrainingSettings, stages
from alphago.training.state import State
from alphago.training.unfinished import go_on_with, unfinished

JUDGED_GAMES = 1000  # the latest ones, by which the threshold of resignation is set
FRESH_POSITIONS = 256  # of the newest games, on which the network is measured before it learns from them
SAVE_EVERY = 60.0  # seconds between checkpoints, at most,
SAVING_SHARE = 0.02  # unless writing them takes a greater share of the time than this
# What of a Trainer is a plain value that goes into its state as it is.
COUNTS = ("stage", "phase", "kept", "games", "positions", "iterations", "samples_due", "readouts_now", "fresh")


class Phase(StrEnum):
    """What comes next."""

    BEGIN = "begin"  # a new iteration
    PLAY = "play"  # the rest of its moves
    LEARN = "learn"  # the rest of its gradient steps


class Trainer:
    """One run: `iterate` plays some moves in every game, then trains on what was finished.

    It can be stopped at any move and before any gradient step; `state` is all that it needs to go on from there.
    """

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
        self.learner = Learner(net, settings, workers)
        self.generator = np.random.default_rng([settings.seed, 1 << 32])
        self.drawn_from: Mapping[str, Any] | None = None  # its state before the batch that waits to be learned
        self.stop = stop
        self.examiner: Examiner | None = None
        self.began = time.monotonic()  # moved on by the time that examinations take
        self.save_at = time.monotonic() + SAVE_EVERY
        self.kept = 0  # games at the latest checkpoint whose network is kept
        self.games = 0
        self.positions = 0  # of finished stages
        self.iterations = 0
        self.enter(0)

    def enter(self, stage: int) -> None:
        """Goes on with a board: its own games and memory, the same network."""
        env = self.stages[stage][0]
        variant = env if self.settings.exact_rules else env.training_variant(self.settings.taught_games)
        self.stage = stage
        self.env = env
        self.memory = ReplayMemory(variant, min(window(0), self.settings.memory_size), self.settings.search_share)
        self.selfplay = SelfPlay(
            variant, self.settings.selfplay(), self.settings.num_games, self.settings.seed, self.games
        )
        self.learner.resize(env)
        self.evaluator = self.learner.average.evaluator()
        self.phase = Phase.BEGIN
        self.samples_due = 0.0
        self.readouts_now = 0  # of the iteration in progress
        self.records: list[GameRecord] = []  # its games, once it has come to learning
        self.fresh: dict[str, float] = {}  # and what the network said to their positions

    def enter_next_stage(self) -> None:
        """Enters the stage that is due, if it is another one; never an earlier one, also where a run was prolonged."""
        due = next(stage for stage, (_, end) in enumerate(self.stages) if self.progress < end or end == 1.0)
        if due > self.stage:
            self.checkpoint(keep=True)
            self.positions += self.memory.added
            self.enter(due)

    def checkpoint(self, keep: bool = False) -> Path:
        """Saves all, and the threshold at which the network may resign where the latest games tell one.

        keep: whether this network is kept when later ones come.
        """
        began = time.monotonic()
        found = calibrated([entry.record for entry in islice(reversed(self.memory.entries), JUDGED_GAMES)])
        notes = {"resign_threshold": f"{found.threshold:.3f}"} if found else {}
        if keep:
            self.kept = self.games
        latest = self.folder.checkpoint(self.learner.average, self.games, self.state(), keep, **notes)
        now = time.monotonic()
        self.save_at = now + max(SAVE_EVERY, (now - began) / SAVING_SHARE)
        return latest

    def checkpoint_if_due(self) -> None:
        """Saves after so many games as the settings say, and otherwise once a minute."""
        if self.games // self.settings.ckp_freq > self.kept // self.settings.ckp_freq:
            self.checkpoint(keep=True)
        elif time.monotonic() >= self.save_at:
            self.checkpoint()

    def state(self) -> State:
        """Where the run stands; self-play's threads must stand still."""
        tensors, selfplay = unfinished(self.selfplay)
        data = {
            **{name: getattr(self, name) for name in COUNTS},
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.drawn_from or self.generator.bit_generator.state,
            "new_games": len(self.records),
            "memory": {
                "games": len(self.memory.entries),
                "capacity": self.memory.capacity,
                "added": self.memory.added,
            },
            "selfplay": selfplay,
            "seconds": self.seconds,
            "examiner": self.examiner.state() if self.examiner else None,
        }
        return State({**self.learner.tensors(), **tensors}, data)

    def restore(self, state: State) -> list[str]:
        """Goes on from a state of this run's folder; returns what had to be set aside."""
        data = state.data
        self.enter(data["stage"])
        for name in COUNTS:
            setattr(self, name, data[name])
        self.phase = Phase(data["phase"])
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.generator.bit_generator.state = data["generator"]
        records, notes = self.folder.shards.latest(data["memory"]["games"])
        self.memory.restore(records, data["memory"]["capacity"], data["memory"]["added"])
        self.records = records[max(0, len(records) - data["new_games"]) :]
        self.evaluator = self.learner.average.evaluator()
        go_on_with(self.selfplay, self.evaluator, state.tensors, data["selfplay"])
        self.began = time.monotonic() - data["seconds"]
        if self.examiner is not None and data["examiner"] is not None:
            self.examiner.restore(data["examiner"])
        return notes

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
    def deadline(self) -> float:
        """The time (of time.monotonic()) at which `max_minutes` are over."""
        return self.began + 60 * (self.settings.max_minutes or math.inf)

    @property
    def is_proved(self) -> bool:
        """Whether an examination was passed."""
        return self.examiner is not None and self.examiner.proved

    @property
    def is_over(self) -> bool:
        """Whether all games are played, the time is over, or the network is proved to be stronger."""
        return self.is_proved or self.games >= self.settings.num_games or self.time_used >= 1.0

    def examine_if_due(self) -> None:
        """Lets the examiner look at the network, if it is time to; training's clock stands still."""
        if self.examiner is None or self.env != self.examiner.env or not self.examiner.due(self.seconds):
            return
        began = time.monotonic()
        self.examiner.examine(self.learner.average, self.seconds, self.games)
        self.began += time.monotonic() - began
        self.checkpoint()  # examinations take long: they are not made twice

    @property
    def readouts(self) -> int:
        """Readouts of a move at this point of the run."""
        last, first = self.settings.readouts, self.settings.first_readouts or self.settings.readouts
        return round(first * (last / first) ** self.progress)

    def iterate(self) -> dict[str, Any] | None:
        """One iteration, or the rest of an interrupted one; its metrics, or None if `stop` came before its end."""
        start = time.monotonic()
        if self.phase is Phase.BEGIN:
            self.enter_next_stage()
            self.readouts_now = self.readouts
            self.selfplay.begin(self.evaluator, self.settings.plies_per_iteration, self.readouts_now)
            self.phase = Phase.PLAY
        moves_before, readouts_before = self.selfplay.moves, self.selfplay.readouts_done
        if self.phase is Phase.PLAY:
            if not self.play():
                return None
            self.collect()
            self.phase = Phase.LEARN
        played = time.monotonic()
        rows: list[dict[str, float]] = []
        finished = self.learn(rows)
        if rows:
            self.evaluator = self.learner.average.evaluator()
        if not finished:
            return None
        self.phase = Phase.BEGIN
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
            "readouts": self.readouts_now,
            "readouts_per_second": (self.selfplay.readouts_done - readouts_before) / max(played - start, 1e-9),
            "selfplay_share": (played - start) / max(now - start, 1e-9),
            **mean_metrics(rows),
            **self.fresh,
            **describe_games(self.records, self.env),
        }

    def play(self) -> bool:
        """The moves that are left of an iteration, or as many as the time allows; False if `stop` came before."""
        # PUCT's trees last from move to move, and are not saved: between iterations there are none.
        between_moves = self.settings.selfplay().search.gumbel
        while not self.stop.is_set():
            until = min(self.save_at if between_moves else math.inf, self.deadline)
            if self.selfplay.go_on(self.workers, self.stop, until) or self.time_used >= 1.0:
                return True
            if between_moves and time.monotonic() >= self.save_at:
                self.checkpoint()
        return False

    def collect(self) -> None:
        """Puts the games that are over into memory, and says how many samples they are worth."""
        records = self.selfplay.take()
        before = self.memory.added
        self.memory.capacity = min(window(before), self.settings.memory_size)
        self.memory.add(records)
        self.folder.add_games(records)
        self.games += len(records)
        self.records = records
        new = self.memory.added - before
        self.fresh = {}
        if new and self.learner.steps:
            self.fresh = self.learner.unseen(self.memory.sample(FRESH_POSITIONS, self.generator, newest=new))
        if self.may_learn:
            # Positions from before the start count too: they have not been sampled yet.
            counted = new if before >= self.settings.start_training_after else self.memory.added
            self.samples_due += counted * self.settings.samples_per_position

    @property
    def may_learn(self) -> bool:
        """Whether there are positions enough to learn from."""
        return len(self.memory) >= max(self.settings.start_training_after, 1)

    def learn(self, rows: list[dict[str, float]]) -> bool:
        """The gradient steps that are due, or as many as the time allows; appends their metrics to `rows`.

        False if `stop` came before.
        """
        batches = int(self.samples_due // self.settings.batch_size) if self.may_learn else 0
        with ThreadPoolExecutor(1) as sampler:  # draws the next batch while the present one is learned

            def draw() -> Future[Sample] | None:
                """The next batch to come, if there is one; a checkpoint before it is learned draws it again."""
                self.drawn_from = self.generator.bit_generator.state if batches else None
                return sampler.submit(self.memory.sample, self.settings.batch_size, self.generator) if batches else None

            coming = draw()
            while coming is not None and not self.stop.is_set() and self.time_used < 1.0:
                sample = coming.result()
                batches -= 1
                self.samples_due -= self.settings.batch_size
                coming = draw()
                for _ in range(self.settings.epochs):
                    metrics = self.learner.step(sample, self.progress)
                    if metrics is not None:
                        rows.append(metrics)
                if time.monotonic() >= self.save_at:
                    self.checkpoint()
        if self.drawn_from is not None:  # a batch that nobody will learn
            self.generator.bit_generator.state, self.drawn_from = self.drawn_from, None
            return not self.stop.is_set()
        return True
