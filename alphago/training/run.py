"""The class Run: everything in a training run that lasts from one iteration to the next, and its saved state."""

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.stopwatch import PUBLISHING, SAVING, Stopwatch
from alphago.training.batches import Batch, Prefetcher, to_device
from alphago.training.curriculum import lessons
from alphago.training.history import Row
from alphago.training.judge import Judge
from alphago.training.learner import Learner
from alphago.training.measures import mean_metrics
from alphago.training.memory import MemorySettings
from alphago.training.metrics import Pace, game_metrics, time_shares
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.state import State
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import Company, MakeSource
from alphago.training.stage import Stage
from alphago.training.watch.report import Reporter
from alphago.training.watch.run_clock import RunClock, SavingTimes


class Stopped(Exception):
    """The exception raised if training is stopped within an iteration or a match."""


@dataclass(frozen=True)
class RunCounts:
    """The counts of a run, which its state contains whole."""

    games: int = 0
    positions: int = 0  # positions of self-play on the boards of earlier stages
    iterations: int = 0
    in_iteration: bool = False
    readouts: int = 0  # readouts per move in the current iteration
    samples_due: float = 0.0  # samples to train on before the next iteration
    batches_taken: int = 0  # batches learned since samples last became due
    saved_games: int = 0  # games when a network was last saved under its number of games
    compacted: int = 0  # number of times that the run's folder was made compact


class Entered(NamedTuple):
    """How a stage was entered: its lesson, the games of the run before it, and the number of its first game."""

    lesson: int = 0
    games: int = 0
    first: int = 0


class Run:
    """The state of a training run; the loop itself is `alphago.training.loop.train_loop`.

    A run begins, or continues from a saved state, when it is made, and ends with `close`.  Between any two moves or
    gradient steps `state` returns what another Run needs to continue.

    env: the game that the network is to play in the end.
    folder: the run's folder.
    learner: trains the network.
    workers: the threads of self-play and gradient steps.
    make_source: creates each stage's source of games.
    memory: the settings of each stage's memory.
    judges: the judges, in the order in which they judge.
    reporter: takes the run's reports.
    device: the device of self-play: "cpu", "cuda", or "host" (the GPU's code on the CPU, for tests).
    state: a state saved in the run's folder; sentences about damaged games are added to its notes.  None to begin.
    """

    def __init__(
        self,
        env: GameEnv,
        settings: RunSettings,
        folder: RunFolder,
        learner: Learner,
        workers: Workers,
        *,
        make_source: MakeSource,
        memory: MemorySettings,
        judges: "Sequence[Judge[Run]]" = (),
        reporter: Reporter | None = None,
        device: str = "cpu",
        state: State | None = None,
    ) -> None:
        self.goal = env
        self.settings = settings
        self.folder = folder
        self.learner = learner
        self.workers = workers
        self.make_source = make_source
        self.memory = memory
        self.judges = judges
        self.reporter = reporter or Reporter([])
        self.device = device
        self.lessons = lessons(env, settings.curriculum)
        self.prefetcher = Prefetcher(np.random.default_rng([settings.seed, 1 << 32]))
        self.clock = RunClock(settings.max_minutes)
        self.saving = SavingTimes()
        self.stopwatch = Stopwatch()  # measures the work of the main thread
        self.counts = RunCounts()
        self._closing = ExitStack()  # closes the current stage's source
        try:
            if state is None:
                self._enter(Entered())
                self.publish()
            else:
                self._restore(state)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close source, judges and learner; no more games can be played."""
        self._closing.close()
        for judge in self.judges:
            judge.close()
        self.learner.close()

    def _enter(self, entered: Entered, before: Stage | None = None) -> None:
        """Begin a stage; before: the previous one, whose memory goes on if the board is the same."""
        self._closing.close()
        self.entered = entered
        env = self.lessons[entered.lesson].env
        self.stage = Stage(
            env,
            self.settings,
            range(entered.first, entered.first + self.settings.game_limit - entered.games),
            self.workers,
            make_source=self.make_source,
            memory=self.memory,
            kept=before.memory if before is not None and before.env == env else None,
            device=self.device,
        )
        self._closing.callback(self.stage.source.close)
        # The network that self-play uses, its number of gradient steps, and the company that plays beside it.
        self._published: tuple[NeuralNet, int, Company | None] | None = None
        self.learner.resize(env)
        self.count(samples_due=0.0, batches_taken=0, readouts=0)
        self.game_metrics: dict[str, Any] = {}  # metrics of the games that finished in the current iteration
        self.pace = Pace(self.stage.source, self.workers.count)

    def count(self, **changes: Any) -> None:
        """Change some of the run's counts, by name."""
        self.counts = replace(self.counts, **changes)

    # --- progress ---

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.counts.games

    @property
    def progress(self) -> float:
        """The share of the run that is over, 0 .. 1, by games or by time, whichever is larger."""
        return min(1.0, max(self.games / self.settings.game_limit, self.clock.progress))

    @property
    def is_proved(self) -> bool:
        """Whether a judge's verdict has ended the run."""
        return any(judge.ends_run for judge in self.judges)

    @property
    def is_over(self) -> bool:
        """Whether all games are played, the time is over, or a judge has ended the run.

        It is False within an iteration, since the iteration's gradient steps are still to be taken.
        """
        ended = self.is_proved or self.games >= self.settings.game_limit or self.clock.is_over
        return ended and not self.counts.in_iteration

    @property
    def best(self) -> NeuralNet | None:
        """The network that a judge has chosen for self-play; None if self-play uses the latest network."""
        return next((judge.best for judge in self.judges if judge.best is not None), None)

    @property
    def player(self) -> NeuralNet:
        """The network that self-play uses, on the stage's board."""
        return self.learner.net if self.best is None else self.best.resized(self.stage.env)

    @property
    def pause_at(self) -> float:
        """The value of time.monotonic() at which self-play pauses, because a checkpoint is due or the time is over."""
        # A state has no search trees.  A search that keeps its trees between moves is saved only between iterations.
        between_moves = not self.settings.selfplay.search.keeps_trees
        return min(self.saving.next if between_moves else math.inf, self.clock.deadline)

    @property
    def batches_due(self) -> int:
        """The number of batches to train on before the next iteration."""
        return int(self.counts.samples_due // self.settings.learning.batch_size) if self.stage.memory.can_learn else 0

    @property
    def standing(self) -> dict[str, float]:
        """Times in seconds, games and positions so far: the first entries of every row of the logs."""
        return {
            "seconds": round(self.clock.seconds, 3),
            "processor_seconds": round(self.clock.processor, 3),
            "games": self.games,
            "positions": self.counts.positions + self.stage.memory.added,
        }

    # --- the parts of an iteration that loop.py calls ---

    def begin_iteration(self) -> None:
        """Begin an iteration unless one is in progress; enter the next stage and raise the readouts if due."""
        if not self.counts.in_iteration:
            self._enter_next_stage()
            self.count(in_iteration=True, readouts=self.settings.readouts_at(self.progress))
            self.stage.begin(self.counts.readouts, self.settings.side_by_side(self.games))
            self.game_metrics = game_metrics([], self.stage.env)
        self.pace = Pace(self.stage.source, self.workers.count)

    def _enter_next_stage(self) -> None:
        """Enter the next stage if the run's progress has reached it; a prolonged run never goes back to a stage."""
        due = next(number for number, one in enumerate(self.lessons) if self.progress < one.end or one.end == 1.0)
        if due > self.entered.lesson:
            self.checkpoint(keep=True)
            before, positions = self.stage, self.counts.positions + self.stage.memory.added
            self._enter(Entered(due, self.games, before.source.begun), before)
            self.count(positions=positions - self.stage.memory.added)
            self.publish()

    def add_games(self, records: list[GameRecord]) -> None:
        """Put finished games into memory, count them, queue them to be saved in the run's folder, and report them."""
        if due := self.stage.remember(records):
            self.count(samples_due=self.counts.samples_due + due, batches_taken=0)
        if self.stage.memory.keeps_games:
            self.folder.shards.add(records, self.stage.env.N)
        self.count(games=self.games + len(records))
        self.reporter.games(self.stage.env, records)

    def batches(self, may_go_on: Callable[[], bool]) -> Iterator[Batch]:
        """Yield the batches that are due; a batch is drawn while the network learns from the previous one.

        may_go_on: function that returns False to end the iteration before all batches are taken.
        """
        memory, numbers = self.stage.memory, itertools.count(self.counts.batches_taken)
        self.learner.factor = memory.rate

        def draw(generator: np.random.Generator) -> Batch:
            return to_device(
                memory.batch(next(numbers), self.settings.learning.batch_size, generator), self.learner.device
            )

        for batch in self.prefetcher.batches(self.batches_due, draw, may_go_on):
            due, taken = self.counts.samples_due, self.counts.batches_taken
            self.count(samples_due=due - self.settings.learning.batch_size, batches_taken=taken + 1)
            yield batch

    def end_iteration(self, steps: list[dict[str, float]]) -> None:
        """End the iteration: log and report its metrics, and save if due.

        steps: the metrics of each of its gradient steps.
        """
        self.count(in_iteration=False, iterations=self.counts.iterations + 1)
        self.clock.mark_ready()
        metrics = self._metrics(steps)
        self.folder.add_metrics(metrics)
        self.reporter.iteration(metrics)
        if self.games // self.settings.ckp_freq > self.counts.saved_games // self.settings.ckp_freq:
            self.checkpoint(keep=True)
        else:
            self.autosave()

    def _metrics(self, steps: list[dict[str, float]]) -> dict[str, Any]:
        return {
            "iteration": self.counts.iterations,
            **self.standing,
            "board_size": self.stage.env.N,
            "memory": len(self.stage.memory),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            "readouts": self.counts.readouts,
            "resign_threshold": self.stage.resign_threshold,
            **self.pace.metrics(),
            **time_shares(self.stopwatch.take(), self.stage.source.time_spent(), self.workers.count),
            "compacted": self.counts.compacted,
            **self.stage.memory.metrics(),
            **mean_metrics(steps),
            **self.game_metrics,
            "gpu_busy": self.reporter.gpu_busy(),
        }

    @PUBLISHING
    def publish(self) -> None:
        """Let self-play continue with snapshots of the present `player` and its company, if either has changed."""
        company = next((judge.company for judge in self.judges if judge.company is not None), None)
        net, steps = (self.learner.net, self.learner.steps) if self.best is None else (self.best, 0)
        if (net, steps, company) != self._published:
            self.stage.publish(self.player, company)
            self._published = net, steps, company

    def judge(self, stop: threading.Event) -> None:
        """Run each judge that is due, unless an iteration is in progress; raise Stopped if `stop` is set first."""
        for judge in self.judges:
            if not self.counts.in_iteration and judge.due(self):
                if stop.is_set() or not judge.judge(self, stop):
                    raise Stopped
                if judge.decides:
                    self.publish()
                    self.checkpoint()  # matches take long, so a resumed run should not repeat them

    def note(self, *sentences: str) -> None:
        """Report sentences, one after the other."""
        self.reporter.note(*sentences)

    def add_match(self, row: Row) -> None:
        """Append a judge's measurement to evaluations.jsonl and report it.

        row: the entries of `self.standing`, "judge" and "opponent" with their names, and the measurements by name.
        """
        self.folder.add_match(row)
        self.reporter.match(row)

    # --- saved state ---

    @SAVING
    def checkpoint(self, keep: bool = False) -> Path:
        """Save the run, with the calibrated resignation threshold if there is one; return the path of the weights.

        keep: whether to save the network also under its number of games, where later networks do not replace it.
        """
        began = time.monotonic()
        resignation = self.stage.resignation()
        notes = {"seconds": f"{self.clock.seconds:.3f}", **(resignation.notes() if resignation else {})}
        if keep:
            self.count(saved_games=self.games)
        path = self.folder.checkpoint(self.player, self.games, self.state(), keep, **notes)
        self.saving.saved(began)
        return path

    def autosave(self) -> None:
        """Save the run if a checkpoint is due."""
        if self.saving.due:
            self.checkpoint()

    def state(self) -> State:
        """Return the run's state; the threads of self-play must not be playing."""
        tensors, stage = self.stage.state()
        data = {
            "entered": list(self.entered),
            "counts": asdict(self.counts),
            "game_metrics": self.game_metrics,
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.prefetcher.state,
            "stage": stage,
            "clock": self.clock.state(),
            "judges": {judge.name: judge.state() for judge in self.judges},
        }
        judged = {name: tensor for judge in self.judges for name, tensor in judge.tensors().items()}
        return State({**self.learner.tensors(), **tensors, **judged}, data)

    def _restore(self, state: State) -> None:
        """Continue from a state saved in this run's folder."""
        data = state.data
        self._enter(Entered(*data["entered"]))
        self.counts, self.game_metrics = RunCounts(**data["counts"]), data["game_metrics"]
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.prefetcher.state = data["generator"]
        for judge in self.judges:
            judge.restore(self, state.tensors, data["judges"].get(judge.name))
        self.publish()
        records, lost = self.folder.shards.latest(data["stage"]["memory"]["games"], self.stage.env.N)
        self.stage.restore(records, state.tensors, data["stage"])
        self.clock.restore(data["clock"])
        state.notes += lost
