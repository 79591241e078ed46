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
from alphago.nn.devices import torch_device
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.stopwatch import NET, OPTIMIZER, PUBLISHING, SAMPLING, SAVING, Stopwatch
from alphago.training.batches import Part, sent
from alphago.training.boards import Boards
from alphago.training.checkpoint import RunFolder
from alphago.training.game_metrics import Told, describe_boards, weighted_means
from alphago.training.gate import Gatekeeper
from alphago.training.learner import Learner
from alphago.training.measures import mean_metrics
from alphago.training.memory import ReplayMemory
from alphago.training.proof import Examiner
from alphago.training.resignation import calibrated
from alphago.training.settings import TrainingSettings, stages
from alphago.training.state import State
from alphago.training.time_shares import EXAMINATION, MATCHES, PLAYING, time_shares

JUDGED_GAMES = 1000  # the latest ones, by which the threshold of resignation is set
FRESH_POSITIONS = 256  # of the newest games, on which the network is measured before it learns from them
SAVE_EVERY = 60.0  # seconds between checkpoints, at most,
SAVING_SHARE = 0.02  # unless writing them takes a greater share of the time than this
# What of a Trainer is a plain value that goes into its state as it is.
COUNTS = ("phase", "kept", "games", "positions", "iterations", "samples_due", "readouts_now", "fresh", "compacted")


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
        device: str = "cpu",
    ) -> None:
        """device: where games are played and the network learns, "cpu", "cuda" or "host"."""
        self.device = device
        self.stages = stages(env, settings)
        for board in {board for stage in self.stages for board, _ in stage.boards}:
            net.resized(board)  # whether all boards suit the network
        self.net = net
        self.goal = env
        self.settings = settings
        self.folder = folder
        self.workers = workers
        self.learner = Learner(net, settings, workers, torch_device(device))
        self.generator = np.random.default_rng([settings.seed, 1 << 32])
        self.drawn_from: Mapping[str, Any] | None = None  # its state before the batch that waits to be learned
        self.stop = stop
        self.examiner: Examiner | None = None
        self.gatekeeper: Gatekeeper | None = None
        self.began = time.monotonic()  # moved on by the time that examinations take
        self.save_at = time.monotonic() + SAVE_EVERY
        self.kept = 0  # games at the latest checkpoint whose network is kept
        self.games = 0
        self.positions = 0  # of boards that are not played any more
        self.iterations = 0
        self.compacted = 0  # how often the run's folder was made compact
        self.watch = Stopwatch()  # of the thread that runs all this
        self.enter(0, 0, 0, {})

    def enter(self, stage: int, games: int, first: int, memories: Mapping[GameEnv, ReplayMemory]) -> None:
        """Goes on with a stage: the same network, games that begin anew, and memories of boards that were there before.

        games: how many were over then.  first: the number of the first new one.
        """
        self.stage, self.entered, self.first = stage, games, first
        numbers = range(first, first + self.settings.game_limit - games)
        self.boards = Boards(self.stages[stage], self.settings, numbers, memories, self.device)
        self.main = self.boards.main(self.goal)
        self.learner.resize(self.main.env)
        self.phase = Phase.BEGIN
        self.samples_due = 0.0
        self.readouts_now = 0  # of the iteration in progress
        self.fresh: dict[str, float] = {}  # what the network said to its new positions, before it learned from them

    def enter_next_stage(self) -> None:
        """Enters the stage that is due, if it is another one; never an earlier one, also where a run was prolonged."""
        due = next(number for number, stage in enumerate(self.stages) if self.progress < stage.end or stage.end == 1.0)
        if due > self.stage:
            self.checkpoint(keep=True)
            before, added = self.boards, self.positions + self.boards.added
            self.enter(due, self.games, before.begun, before.memories)
            self.positions = added - self.boards.added
            self.publish()

    @property
    def player(self) -> NeuralNet:
        """The network that plays, on the main board: the best one so far, or the latest where there is no gate."""
        return self.gatekeeper.best.resized(self.main.env) if self.gatekeeper else self.learner.average

    @PUBLISHING
    def publish(self) -> None:
        """Lets self-play go on with a snapshot of the network that plays now."""
        self.boards.publish(self.player)

    @SAVING
    def checkpoint(self, keep: bool = False) -> Path:
        """Saves all, and the threshold at which the network may resign where the latest games tell one.

        keep: whether this network is kept when later ones come.
        """
        began = time.monotonic()
        found = calibrated([entry.record for entry in islice(reversed(self.main.memory.entries), JUDGED_GAMES)])
        notes = {"resign_threshold": f"{found.threshold:.3f}"} if found else {}
        if keep:
            self.kept = self.games
        latest = self.folder.checkpoint(self.player, self.games, self.state(), keep, **notes)
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
        tensors, boards = self.boards.state()
        data = {
            "stage": [self.stage, self.entered, self.first],
            **{name: getattr(self, name) for name in COUNTS},
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.drawn_from or self.generator.bit_generator.state,
            "boards": boards,
            "seconds": self.seconds,
            "examiner": self.examiner.state() if self.examiner else None,
            "gate": self.gatekeeper.state() if self.gatekeeper else None,
        }
        best = self.gatekeeper.tensors() if self.gatekeeper else {}
        return State({**self.learner.tensors(), **tensors, **best}, data)

    def restore(self, state: State) -> list[str]:
        """Goes on from a state of this run's folder; returns what had to be set aside."""
        data = state.data
        stage, games, first = data["stage"]
        self.enter(stage, games, first, {})
        for name in COUNTS:
            setattr(self, name, data[name])
        self.phase = Phase(data["phase"])
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.generator.bit_generator.state = data["generator"]
        if self.gatekeeper is not None and data["gate"] is not None:
            self.gatekeeper.restore(state.tensors, data["gate"])
        elif self.gatekeeper is not None:
            self.gatekeeper.begin(self.learner.average, self.games, self.learner.steps)
        self.publish()
        notes = self.boards.restore(self.folder.shards, state.tensors, data["boards"])
        self.began = time.monotonic() - data["seconds"]
        if self.examiner is not None and data["examiner"] is not None:
            self.examiner.restore(data["examiner"])
        return notes

    @property
    def progress(self) -> float:
        """How much of the run is over, 0 .. 1, by games or by time, whichever is further."""
        return min(1.0, max(self.games / self.settings.game_limit, self.time_used))

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
        """Whether all games are played, the time is over, or the network is proved to be stronger.

        Not within an iteration: what the last games teach is still to be learned.
        """
        ended = self.is_proved or self.games >= self.settings.game_limit or self.time_used >= 1.0
        return ended and self.phase is Phase.BEGIN

    def examine_if_due(self) -> None:
        """Lets the examiner look at the network, if it is time to; training's clock stands still."""
        if self.examiner is None or self.main.env != self.goal or not self.examiner.due(self.seconds):
            return
        began = time.monotonic()
        with EXAMINATION:
            self.examiner.examine(self.player, self.seconds, self.games)
        self.began += time.monotonic() - began
        self.checkpoint()  # examinations take long: they are not made twice

    @property
    def candidate_is_due(self) -> bool:
        """Whether the network that learns is to be played against the best one now."""
        gate, over = self.gatekeeper, self.is_over and not self.is_proved
        return gate is not None and gate.due(self.games, self.learner.steps, self.settings.ckp_freq, over)

    def judge_if_due(self) -> None:
        """Plays a candidate against the best network, if it is time to, unless `stop` comes before the end."""
        if self.gatekeeper is None or not self.candidate_is_due:
            return
        boards = [(board.env, board.share) for board in self.boards.boards]
        when = {"seconds": self.seconds, "games": self.games, "steps": self.learner.steps}
        with MATCHES:
            accepted = self.gatekeeper.judge(self.learner.average, boards, self.settings.readouts, self.stop, **when)
        if accepted:
            self.publish()
        if accepted is not None:
            self.checkpoint()  # matches take long: they are not played twice

    @property
    def readouts(self) -> int:
        """Readouts of a move at this point of the run."""
        last, first = self.settings.readouts, self.settings.first_readouts or self.settings.readouts
        return round(first * (last / first) ** self.progress)

    def iterate(self) -> dict[str, Any] | None:
        """One iteration, or the rest of an interrupted one; its metrics, or None if `stop` came before its end."""
        if self.phase is Phase.BEGIN:
            self.judge_if_due()
            if self.stop.is_set():
                return None
            self.enter_next_stage()
            self.readouts_now = self.readouts
            self.boards.begin(self.readouts_now)
            self.phase = Phase.PLAY
        start = time.monotonic()
        moves_before, readouts_before = self.boards.moves, self.boards.readouts_done
        if self.phase is Phase.PLAY:
            if not self.play():
                return None
            self.collect()
            self.phase = Phase.LEARN
        played = time.monotonic()
        rows: list[dict[str, float]] = []
        finished = self.learn(rows)
        if rows and self.gatekeeper is None:
            self.publish()
        if not finished:
            return None
        self.phase = Phase.BEGIN
        now = time.monotonic()
        self.iterations += 1
        moves, readouts = self.boards.moves - moves_before, self.boards.readouts_done - readouts_before
        sizes = [board.env.N for board in self.boards.boards]
        return {
            "iteration": self.iterations,
            "seconds": round(self.seconds, 3),
            "games": self.games,
            "board_size": sizes[0] if len(sizes) == 1 else None,
            "positions": self.positions + self.boards.added,
            "memory": sum(len(board.memory) for board in self.boards.boards),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            "moves_per_second": moves / max(played - start, 1e-9),
            "readouts": self.readouts_now,
            "readouts_per_second": readouts / max(played - start, 1e-9),
            "selfplay_share": (played - start) / max(now - start, 1e-9),
            **time_shares(self.watch.take(), self.boards.spent(), self.workers.count),
            "compacted": self.compacted,
            **mean_metrics(rows),
            **self.fresh,
            **describe_boards(self.boards.boards),
        }

    def play(self) -> bool:
        """The moves that are left of an iteration, or as many as the time allows; False if `stop` came before."""
        # PUCT's trees last from move to move, and are not saved: between iterations there are none.
        between_moves = self.settings.selfplay().search.gumbel
        while not self.stop.is_set():
            until = min(self.save_at if between_moves else math.inf, self.deadline)
            with PLAYING:
                finished = self.boards.go_on(self.workers, self.stop, until)
            if finished or self.time_used >= 1.0:
                return True
            if between_moves and time.monotonic() >= self.save_at:
                self.checkpoint()
        return False

    @SAMPLING
    def collect(self) -> None:
        """Puts the games that are over into memory, and says how many samples they are worth."""
        capacity = self.boards.capacity
        said: list[Told] = []
        for board in self.boards.boards:
            new, due = board.collect(round(board.share * capacity))
            self.folder.shards.add(board.records, board.env.N)
            self.games += len(board.records)
            self.samples_due += due * self.settings.samples_per_position
            if new and self.learner.steps:
                sample = board.memory.sample(FRESH_POSITIONS, self.generator, newest=new)
                with NET:
                    said.append((board.size, new, self.learner.unseen(sample)))
        self.fresh = weighted_means(said, apart=len(self.boards.boards) > 1)

    def learn(self, rows: list[dict[str, float]]) -> bool:
        """The gradient steps that are due, or as many as the time allows; appends their metrics to `rows`.

        False if `stop` came before.
        """
        batches = int(self.samples_due // self.settings.batch_size) if self.boards.learning() else 0
        with ThreadPoolExecutor(1) as sampler:  # draws the next batch while the present one is learned

            def prepare() -> list[Part]:
                return [sent(part, self.learner.place) for part in self.boards.draw(self.generator)]

            def draw() -> Future[list[Part]] | None:
                """The next batch to come, if there is one; a checkpoint before it is learned draws it again."""
                self.drawn_from = self.generator.bit_generator.state if batches else None
                return sampler.submit(prepare) if batches else None

            coming = draw()
            while coming is not None and not self.stop.is_set() and self.time_used < 1.0:
                with SAMPLING:
                    parts = coming.result()
                batches -= 1
                self.samples_due -= self.settings.batch_size
                coming = draw()
                for _ in range(self.settings.epochs):
                    with OPTIMIZER:
                        metrics = self.learner.step(*parts, progress=self.progress)
                    if metrics is not None:
                        rows.append(metrics)
                if time.monotonic() >= self.save_at:
                    self.checkpoint()
        if self.drawn_from is not None:  # a batch that nobody will learn
            self.generator.bit_generator.state, self.drawn_from = self.drawn_from, None
            return not self.stop.is_set()
        return True
