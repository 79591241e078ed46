"""The class Run: everything in a training run that lasts from one iteration to the next, and its saved state."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator, fitting_network
from alphago.nn.inference.hardware import torch_device
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, quick_switches
from alphago.records.record import GameRecord
from alphago.system import stopwatch
from alphago.system.interrupts import Stopped
from alphago.training.batches import Batch, draw_ahead, to_device
from alphago.training.history import EVALUATIONS, METRICS, Row
from alphago.training.judge import Judge
from alphago.training.learner import Learner, MakeLearner
from alphago.training.metrics import Pace, game_metrics, mean_metrics, time_shares
from alphago.training.run_clock import RunClock, SavingTimes
from alphago.training.runs.folder import RunFolder, State
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import MakeSource
from alphago.training.stage import Stage
from alphago.training.watch.report import Reporter

# The generator of samples is seeded with (seed, SAMPLING_STREAM), those of games with (seed, smaller number).
SAMPLING_STREAM = 1 << 32


@dataclass(frozen=True)
class RunCounts:
    """The counts of a run, all of which its state contains."""

    games: int = 0
    positions: int = 0  # positions of the games on the boards of earlier stages
    iterations: int = 0
    in_iteration: bool = False  # whether an iteration has begun and not ended
    readouts: int = 0  # readouts per move in the current iteration of self-play
    samples_due: float = 0.0  # samples to train on before the next iteration
    batches_taken: int = 0  # batches learned since samples last became due
    saved_games: int = 0  # value of `games` at the last checkpoint that is kept


class Run:
    """The state of a training run; the loop itself is `alphago.training.loop.train_loop`.

    The constructor begins the run, or continues it from a saved state; `close` ends it.  Between any two moves and any
    two gradient steps `state` returns what another Run needs to continue.

    Args:
        model: the network, which is trained in place.
        env: the game that the network is to play in the end.
        workers: the threads of gradient steps, and of self-play.
        make_source: makes each stage's source of games.
        make_learner: makes the learner of the model.
        judges: in the order in which they judge.
        reporter: passes the run's events to its reports.
        device: of training and self-play: "cpu", "cuda", or "host" (the GPU's code on the CPU, for tests).
        state: the saved state from which the run continues; None to begin a new run.

    Attributes:
        goal: the game that the network is to play in the end.
        env: the game on the board that is learned now.
        damage: sentences about damaged files that were found when the saved state was read.
    """

    def __init__(
        self,
        settings: RunSettings,
        model: NeuralNet,
        *,
        env: GameEnv,
        folder: RunFolder,
        workers: Workers,
        make_source: MakeSource,
        make_learner: MakeLearner = Learner,
        judges: Sequence[Judge[Any]],
        reporter: Reporter,
        device: str,
        state: State | None,
    ) -> None:
        self.settings = settings
        self.lessons = settings.lessons(env)  # one for each board of the curriculum, in order
        self.goal = env  # the game of the last lesson; `_enter` sets `env` to that of the present lesson
        self.folder = folder
        self.workers = workers
        self.make_source = make_source
        self.learner = make_learner(model, settings.learning, workers, torch_device(device))
        self.judges = judges
        self.reporter = reporter
        self.device = device
        self.damage: list[str] = [] if state is None else list(state.notes)  # `_restore` adds to this list
        self.generator = np.random.default_rng([settings.seed, SAMPLING_STREAM])  # draws samples
        by_processor = settings.max_processor_minutes is not None
        self.clock = RunClock(settings.max_processor_minutes or settings.max_minutes, by_processor=by_processor)
        self.saving = SavingTimes()
        self.stopwatch = stopwatch.Stopwatch()  # measures the work of the main thread
        self.counts = RunCounts()
        self.step_metrics: list[dict[str, float]] = []  # of the gradient steps of the current iteration
        self.interrupted = ""  # the name of the judge whose work a stop has cut off
        self._closing = ExitStack()  # closes the current stage's source
        try:
            if state is None:
                self._enter(lesson=0, games=0, first=0)  # no games before, and the first has number 0
                self.publish()
            else:
                self._restore(state)
                self.clock.restore(state.data["clock"])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close source, judges and learner; no more games can be played."""
        self._closing.close()
        for judge in self.judges:
            judge.close()
        self.learner.close()

    def set_counts(self, **changes: Any) -> None:
        """Replace some of the run's counts; changes: the new values, by name."""
        self.counts = replace(self.counts, **changes)

    def _enter(self, *, lesson: int, games: int, first: int) -> None:
        """Begin a stage.

        lesson: index of the stage's lesson in the run's lessons.
        games: number of finished games of the run before the stage.
        first: number of the stage's first game; more than `games` if games of the stage before are dropped unfinished.
        """
        self._closing.close()
        self.entered = {"lesson": lesson, "games": games, "first": first}  # the arguments, for `state`
        self.env = env = self.lessons[lesson].env
        numbers = range(first, first + self.settings.game_limit - games)  # as many as games are left to finish
        self.stage = Stage(env, self.settings, numbers, self.workers, make_source=self.make_source, device=self.device)
        self._closing.callback(self.stage.source.close)
        # The published network and its number of gradient steps; None before the first is published.
        self._published: tuple[NeuralNet, int] | None = None
        self.learner.resize(env)
        self.set_counts(samples_due=0.0, batches_taken=0, readouts=0)
        self.game_metrics: Mapping[str, Any] = {}  # of the games that finished in the current iteration

    # --- progress ---

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.counts.games

    @property
    def positions(self) -> int:
        """The number of positions of the games so far."""
        return self.counts.positions + self.stage.memory.added

    @property
    def progress(self) -> float:
        """The share of the run's games or of its time that is over, 0 .. 1: the larger of the two."""
        return min(1.0, max(self.games / self.settings.game_limit, self.clock.progress))

    @property
    def is_proved(self) -> bool:
        """Whether a judge has ended the run, since the network is proved to be stronger than the opponent."""
        return any(judge.ends_run for judge in self.judges)

    @property
    def is_over(self) -> bool:
        """Whether all games are played, the time is over, or a judge has proved the network stronger than the opponent.

        Within an iteration the run is not over, since the iteration's gradient steps are left to take.
        """
        if self.counts.in_iteration:
            return False
        return self.is_proved or self.games >= self.settings.game_limit or self.clock.is_over

    @property
    def best(self) -> NeuralNet | None:
        """The network that a judge has chosen for self-play; None if self-play uses the latest network."""
        return next((judge.best for judge in self.judges if judge.best is not None), None)

    @property
    def player(self) -> NeuralNet:
        """The network that self-play and tests use, on the present board."""
        return self.learner.net if self.best is None else self.best.resized(self.env)

    @property
    def batches_due(self) -> int:
        """The number of batches to train on before the next iteration."""
        return int(self.counts.samples_due // self.settings.learning.batch_size) if self.stage.memory.can_learn else 0

    @property
    def standing(self) -> dict[str, float]:
        """How far the run has come, by name: the first entries of every row of the logs."""
        return {
            "seconds": round(self.clock.seconds, 3),
            "processor_seconds": round(self.clock.processor, 3),
            "games": self.games,
            "positions": self.positions,
        }

    # --- the parts of an iteration ---

    @property
    def pause_at(self) -> float:
        """The value of time.monotonic() at which self-play pauses, because a checkpoint is due or the time is over."""
        # A state has no search trees.  So a run whose search keeps its trees between moves is saved between iterations.
        if self.settings.selfplay.search.keeps_trees:
            return self.clock.deadline
        return min(self.saving.next, self.clock.deadline)

    def begin_iteration(self) -> None:
        """Begin an iteration, unless a resumed run is within one.

        If due, enter the next stage and raise the readouts.
        """
        if not self.counts.in_iteration:
            self._enter_next_stage()
            self.set_counts(in_iteration=True, readouts=self.settings.readouts_at(self.progress))
            self.stage.source.begin(
                self.settings.plies_per_iteration,
                readouts=self.counts.readouts,
                side_by_side=self.settings.side_by_side(self.games),
                resign_threshold=self.stage.resign_threshold,
            )
            self.game_metrics = game_metrics([], self.env)  # all None until games finish
        self.pace = Pace(self.stage.source, self.clock, self.workers.count)

    def _enter_next_stage(self) -> None:
        """Enter the next stage if the run's progress has reached it; a prolonged run never goes back to a stage."""
        lessons_over = sum(self.progress >= lesson.end for lesson in self.lessons[:-1])  # the last is never over
        if lessons_over > self.entered["lesson"]:
            self.checkpoint(keep=True)  # keeps the network of the board that ends
            # `counts.positions` is the number of positions of earlier stages.  The property `positions` adds the number
            # of this stage, which its memory counts.  `_enter` replaces the memory.
            self.set_counts(positions=self.positions)
            self._enter(lesson=lessons_over, games=self.games, first=self.stage.source.begun)
            self.publish()

    def add_games(self, records: list[GameRecord]) -> None:
        """Put finished games into memory, count them, queue them to be saved in the run's folder, and report them."""
        if new_samples_due := self.stage.remember(records):
            # `Memory.batch` takes the number of batches since samples last became due.
            self.set_counts(samples_due=self.counts.samples_due + new_samples_due, batches_taken=0)
        if self.stage.source.plays:  # given games are not saved again
            self.folder.shards.add(records, self.env.N)
        self.set_counts(games=self.games + len(records))
        self.reporter.games(self.env, records)

    def batches(self, may_go_on: Callable[[], bool]) -> Iterator[Batch]:
        """Yield the batches that are due; a batch is drawn while the network learns from the previous one.

        Args:
            may_go_on: function that is called before each batch; if it returns False, no more batches follow.
        """
        numbers = itertools.count(self.counts.batches_taken)
        size = self.settings.learning.batch_size

        def draw(generator: np.random.Generator) -> Batch:
            """Draw the next batch from memory, and put it on the learner's device."""
            return to_device(self.stage.memory.batch(next(numbers), size, generator), self.learner.device)

        # With a GPU, the thread that draws must not hold Python's lock for long, which the learner needs.
        with quick_switches(self.learner.device.type != "cpu"):
            for batch in draw_ahead(self.batches_due, self.generator, draw, may_go_on):
                counts = self.counts
                self.set_counts(samples_due=counts.samples_due - size, batches_taken=counts.batches_taken + 1)
                yield batch

    def end_iteration(self) -> None:
        """End the iteration: log and report its metrics, and save if due."""
        self.set_counts(in_iteration=False, iterations=self.counts.iterations + 1)
        self.clock.end_iteration()
        metrics = {
            "iteration": self.counts.iterations,
            **self.standing,  # seconds and counts
            "board_size": self.env.N,
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            "memory": len(self.stage.memory),
            "readouts": self.counts.readouts,
            "resign_threshold": self.stage.resign_threshold,
            **self.pace.metrics(),
            **time_shares(self.stopwatch.take(), self.stage.source.time_spent(), self.workers.count),
            **self.stage.memory.metrics(),
            **self.stage.source.metrics(),
            **mean_metrics(self.step_metrics),
            **self.game_metrics,
            "gpu_busy": self.reporter.meter.busy(),
        }
        self.step_metrics = []
        self.folder.add_row(METRICS, metrics)
        self.reporter.iteration(metrics)
        ckp_freq = self.settings.ckp_freq
        has_passed_multiple = self.games // ckp_freq > self.counts.saved_games // ckp_freq
        if has_passed_multiple:
            self.checkpoint(keep=True)
        else:
            self.autosave()

    @stopwatch.PUBLISHING
    def publish(self) -> None:
        """Let self-play continue with a snapshot of the present `player`, if it has changed.

        Before that, each judge gives the source of games what the source needs beside `player`.
        """
        for judge in self.judges:
            judge.hand_over(self.stage)
        # The latest network stays one object, so its steps tell whether it changed; each best network is a new object.
        present = (self.learner.net, self.learner.steps) if self.best is None else (self.best, 0)
        if present != self._published:
            self.stage.source.publish(self.player, self.settings.selfplay_dtype)
            self._published = present

    def match_evaluator(self, net: NeuralNet, env: GameEnv) -> Evaluator:
        """Return the evaluator of a network for a judge's matches of `env`, in the run's dtype and on its device."""
        net_for_board = fitting_network(net, env)
        assert isinstance(net_for_board, NeuralNet)
        return net_for_board.evaluator(self.settings.selfplay_dtype, self.device)

    def judge(self, stop: threading.Event) -> None:
        """Run each judge that is due, unless an iteration is in progress; raise Stopped if `stop` is set first."""
        for judge in self.judges:
            if self.counts.in_iteration or not judge.due(self):
                continue
            self.interrupted = judge.name  # unless it comes to its end
            if stop.is_set():
                raise Stopped
            judge.judge(self, stop)
            self.interrupted = ""
            if judge.decides:  # the judge may have changed the network that plays
                self.publish()
                self.checkpoint()  # matches take long, so a resumed run should not repeat them

    def note(self, *sentences: str) -> None:
        """Report sentences, one after the other."""
        self.reporter.note(*sentences)

    def add_match(self, row: Row) -> None:
        """Append a judge's measurement to evaluations.jsonl and report it.

        Args:
            row: the entries of `self.standing`, "judge" and "opponent" with their names, and the measurements by name.
        """
        self.folder.add_row(EVALUATIONS, row)
        self.reporter.match(row)

    # --- saved state ---

    @stopwatch.SAVING
    def checkpoint(self, keep: bool = False) -> Path:
        """Save the run; return the path of the weights.

        Args:
            keep: whether to save the network also in a file that is named after the number of games and then kept.
        """
        began = time.monotonic()
        notes = {"seconds": f"{self.clock.seconds:.3f}", **self.stage.notes()}
        if self.is_over and self.interrupted:
            notes["due"] = self.interrupted
        if keep:
            self.set_counts(saved_games=self.games)
        path = self.folder.checkpoint(self.player, self.games, self.state(), keep=keep, notes=notes)
        self.saving.schedule_next(began)
        return path

    def autosave(self) -> None:
        """Save the run if a checkpoint is due."""
        if time.monotonic() >= self.saving.next:
            self.checkpoint()

    def state(self) -> State:
        """Return the run's state; the threads of self-play must not be playing."""
        stage_tensors, stage = self.stage.state()
        data = {
            "entered": self.entered,  # the arguments of `_enter` for the present stage
            "stage": stage,
            "counts": asdict(self.counts),
            "game_metrics": self.game_metrics,
            "step_metrics": list(self.step_metrics),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.generator.bit_generator.state,
            "clock": self.clock.state(),
            "judges": {judge.name: judge.state() for judge in self.judges},
        }
        tensors = {**self.learner.tensors(), **stage_tensors}
        for judge in self.judges:
            tensors.update(judge.tensors())
        return State(tensors, data)

    def _restore(self, state: State) -> None:
        """Continue from a state: first the stage, then networks and judges, then the games, which need a network."""
        data = state.data
        self._enter(**data["entered"])
        self.counts = RunCounts(**data["counts"])
        self.game_metrics = data["game_metrics"]
        self.step_metrics = data["step_metrics"]
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.generator.bit_generator.state = data["generator"]
        for judge in self.judges:
            judge.restore(self, state.tensors, data["judges"].get(judge.name))
        self.publish()
        # `notes`: sentences about damaged files of games.
        records, notes = self.folder.shards.latest(data["stage"]["memory"]["games"], self.env.N)
        self.stage.restore(records, state.tensors, data["stage"])
        self.damage += notes
