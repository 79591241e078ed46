"""The class SelfPlayRun: a run whose games a network plays, stage by stage."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.system.stopwatch import PUBLISHING
from alphago.training.curriculum import lessons
from alphago.training.memory import Sample
from alphago.training.metrics import Pace, game_metrics, time_shares
from alphago.training.run import Run, RunContext
from alphago.training.runs.state import State
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import MakeSource
from alphago.training.stage import Stage


class Entered(NamedTuple):
    """How a stage was entered."""

    lesson: int = 0  # index of the stage's lesson in the run's lessons
    games: int = 0  # finished games of the run before the stage
    first: int = 0  # number of the stage's first game


class SelfPlayRun(Run):
    """The state of a run of self-play; the loop itself is `alphago.training.loop.train_loop`.

    The state may also be saved between any two moves.

    make_source: creates each stage's source of games.
    """

    settings: RunSettings

    def __init__(self, settings: RunSettings, context: RunContext, make_source: MakeSource) -> None:
        self.make_source = make_source
        self.lessons = lessons(context.env, settings.curriculum)
        self.inference_dtype = settings.selfplay_dtype
        self._closing = ExitStack()  # closes the current stage's source
        super().__init__(settings, context)

    def _begin(self) -> None:
        self._enter(Entered())
        self.publish()

    def close(self) -> None:
        """Close source, judges and learner; no more games can be played."""
        self._closing.close()
        super().close()

    def _enter(self, entered: Entered, before: Stage | None = None) -> None:
        """Begin the stage that `entered` describes.

        before: the previous stage, whose memory goes on if the board is the same; None for the run's first stage.
        """
        self._closing.close()
        self.entered = entered
        env = self.lessons[entered.lesson].env
        games_left = self.settings.game_limit - entered.games
        has_same_board = before is not None and before.env == env
        self.stage = Stage(
            env,
            self.settings,
            numbers=range(entered.first, entered.first + games_left),
            workers=self.workers,
            make_source=self.make_source,
            kept=before.memory if before is not None and has_same_board else None,
            device=self.device,
        )
        self._closing.callback(self.stage.source.close)
        # The published network and its number of gradient steps; None before the first is published.
        self._published: tuple[NeuralNet, int] | None = None
        self.learner.resize(env)
        self.set_counts(samples_due=0.0, batches_taken=0, readouts=0)
        self.game_metrics = {}
        self.pace = Pace(self.stage.source, self.workers.count)

    @property
    def env(self) -> GameEnv:
        return self.stage.env

    @property
    def positions(self) -> int:
        return self.counts.positions + self.stage.memory.added

    @property
    def can_learn(self) -> bool:
        return self.stage.memory.can_learn

    @property
    def pause_at(self) -> float:
        """The value of time.monotonic() at which self-play pauses, because a checkpoint is due or the time is over."""
        # A state has no search trees.  So a run whose search keeps its trees between moves is saved between iterations.
        if self.settings.selfplay.search.keeps_trees:
            return self.clock.deadline
        return min(self.saving.next, self.clock.deadline)

    def begin_iteration(self) -> None:
        """Begin an iteration unless one is in progress; enter the next stage and raise the readouts if due."""
        if not self.counts.in_iteration:
            self._enter_next_stage()
            self.set_counts(in_iteration=True, readouts=self.settings.readouts_at(self.progress))
            self.stage.begin(self.counts.readouts, self.settings.side_by_side(self.games))
            self.game_metrics = game_metrics([], self.stage.env)  # all None until games finish
        self.pace = Pace(self.stage.source, self.workers.count)

    def _enter_next_stage(self) -> None:
        """Enter the next stage if the run's progress has reached it; a prolonged run never goes back to a stage."""
        lessons_over = sum(self.progress >= lesson.end for lesson in self.lessons[:-1])  # the last is never over
        if lessons_over > self.entered.lesson:
            self.checkpoint(keep=True)
            before = self.stage
            positions = self.positions
            self._enter(Entered(lessons_over, self.games, first=before.source.begun), before)
            self.set_counts(positions=positions - self.stage.memory.added)  # `added` is above 0 if the memory goes on
            self.publish()

    def add_games(self, records: list[GameRecord]) -> None:
        """Put finished games into memory, count them, queue them to be saved in the run's folder, and report them."""
        if samples := self.stage.remember(records):
            self.set_counts(samples_due=self.counts.samples_due + samples, batches_taken=0)
        self.folder.shards.add(records, self.stage.env.N)
        self.set_counts(games=self.games + len(records))
        self.reporter.games(self.stage.env, records)

    def draw(self, number: int, generator: np.random.Generator) -> Sample[np.ndarray]:
        return self.stage.memory.batch(number, self.settings.learning.batch_size, generator)

    def _own_metrics(self) -> dict[str, Any]:
        return {
            "memory": len(self.stage.memory),
            "readouts": self.counts.readouts,
            "resign_threshold": self.stage.resign_threshold,
            **self.pace.metrics(),
            **time_shares(self.stopwatch.take(), self.stage.source.time_spent(), self.workers.count),
            **self.stage.memory.metrics(),
            **self.stage.source.metrics(),
        }

    @PUBLISHING
    def publish(self) -> None:
        """Let self-play continue with a snapshot of the present `player`, if it has changed."""
        for judge in self.judges:
            judge.hand_over(self.stage)
        # The latest network changes with its steps; the best network is a new object whenever it changes.
        latest = self.learner.net, self.learner.steps
        present = latest if self.best is None else (self.best, 0)
        if present != self._published:
            self.stage.publish(self.player)
            self._published = present

    # --- saved state ---

    def _own_notes(self) -> Mapping[str, str]:
        """Return the calibrated resignation threshold, if there is one."""
        resignation = self.stage.resignation()
        return resignation.notes() if resignation else {}

    def _own_state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        tensors, stage = self.stage.state()
        return tensors, {"entered": list(self.entered), "stage": stage}

    def _restore(self, state: State) -> None:
        """Continue from a state: first the stage, then networks and judges, then the games, which need a network."""
        data = state.data
        self._enter(Entered(*data["entered"]))
        super()._restore(state)
        self.publish()
        records, lost = self.folder.shards.latest(data["stage"]["memory"]["games"], self.stage.env.N)
        self.stage.restore(records, state.tensors, data["stage"])
        state.notes += lost
