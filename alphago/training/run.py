"""The class Run: everything in a training run that lasts from one iteration to the next, and its saved state."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator, fitting_network
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, quick_switches
from alphago.system.stopwatch import SAVING, Stopwatch
from alphago.training.batches import Batch, Prefetcher, to_device
from alphago.training.history import Row
from alphago.training.judge import Judge
from alphago.training.learner import Learner
from alphago.training.measures import mean_metrics
from alphago.training.memory import Sample
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.state import State
from alphago.training.settings.run_settings import AnyRunSettings
from alphago.training.watch.report import Reporter
from alphago.training.watch.run_clock import RunClock, SavingTimes

# The generator of samples is seeded with (seed, SAMPLING_STREAM), those of games with (seed, smaller number).
SAMPLING_STREAM = 1 << 32


class Stopped(Exception):
    """The exception raised if training is stopped within an iteration or a match."""


@dataclass(frozen=True)
class RunCounts:
    """The counts of a run, all of which its state contains."""

    games: int = 0
    positions: int = 0  # positions of the games; in self-play, of the games on the boards of earlier stages
    iterations: int = 0
    in_iteration: bool = False
    readouts: int = 0  # readouts per move in the current iteration of self-play
    samples_due: float = 0.0  # samples to train on before the next iteration
    batches_taken: int = 0  # batches learned since samples last became due
    saved_games: int = 0  # value of `games` when a network was last kept under its number of games


@dataclass(frozen=True)
class RunContext:
    """What a run is begun or continued with, besides its settings."""

    env: GameEnv  # the game that the network is to play in the end
    folder: RunFolder
    learner: Learner
    workers: Workers  # the threads of gradient steps, and of self-play
    judges: "Sequence[Judge[Any]]" = ()  # in the order in which they judge
    reporter: Reporter = field(default_factory=lambda: Reporter([]))
    device: str = "cpu"  # of training and self-play: "cpu", "cuda", or "host" (the GPU's code on the CPU, for tests)
    state: State | None = None  # saved in the folder; gets notes about damaged games; None to begin


class Run:
    """The state of a training run, without the origin of its games, which a derived class adds.

    The constructor begins the run, or continues it from a saved state; `close` ends it.  Between any two gradient steps
    `state` returns what another Run needs to continue.
    """

    settings: AnyRunSettings
    inference_dtype: str | None = None  # dtype in which judges evaluate the networks; None for the fastest
    game_metrics: Mapping[str, Any]  # metrics of the games that finished in the current iteration

    def __init__(self, settings: AnyRunSettings, context: RunContext) -> None:
        self.settings = settings
        self.goal = context.env
        self.folder = context.folder
        self.learner = context.learner
        self.workers = context.workers
        self.judges = context.judges
        self.reporter = context.reporter
        self.device = context.device
        self.prefetcher = Prefetcher(np.random.default_rng([settings.seed, SAMPLING_STREAM]))
        self.clock = RunClock(settings.max_minutes)
        self.saving = SavingTimes()
        self.stopwatch = Stopwatch()  # measures the work of the main thread
        self.counts = RunCounts()
        self.game_metrics = {}
        self.step_metrics: list[dict[str, float]] = []  # of the gradient steps of the current iteration
        try:
            if context.state is None:
                self._begin()
            else:
                self._restore(context.state)
                self.clock.restore(context.state.data["clock"])
        except BaseException:
            self.close()
            raise

    # --- what a derived class adds ---

    @property
    def env(self) -> GameEnv:
        """The game on the board that is learned now."""
        return self.goal

    @property
    def positions(self) -> int:
        """The number of positions of the games so far."""
        return self.counts.positions

    @property
    def can_learn(self) -> bool:
        """Whether gradient steps may be taken."""
        return True

    def publish(self) -> None:
        """Let self-play continue with the present `player`; do nothing in a run without self-play."""

    def draw(self, number: int, generator: np.random.Generator) -> Sample[np.ndarray]:
        """Return the next batch of positions to learn; number: the batch's number since samples last became due."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Begin the run."""

    def _own_metrics(self) -> Mapping[str, Any]:
        """Return the iteration's metrics of where the games come from, and the shares of its time."""
        raise NotImplementedError

    def _own_notes(self) -> Mapping[str, str]:
        """Return texts to save in the network's file."""
        return {}

    def _own_state(self) -> tuple[Mapping[str, torch.Tensor], Mapping[str, Any]]:
        """Return the derived class's part of the state: tensors by name, and plain data."""
        raise NotImplementedError

    def close(self) -> None:
        """Close judges and learner."""
        for judge in self.judges:
            judge.close()
        self.learner.close()

    def set_counts(self, **changes: Any) -> None:
        """Give some of the run's counts new values, by name."""
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
        """Whether a judge's verdict has ended the run: the proof that the network is stronger than its opponent."""
        return any(judge.ends_run for judge in self.judges)

    @property
    def is_over(self) -> bool:
        """Whether all games are played, the time is over, or a judge has ended the run.

        The run is never over within an iteration, since gradient steps of the iteration are left to take.
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
        return int(self.counts.samples_due // self.settings.learning.batch_size) if self.can_learn else 0

    @property
    def standing(self) -> dict[str, float]:
        """Times in seconds, games and positions so far: the first entries of every row of the logs."""
        return {
            "seconds": round(self.clock.seconds, 3),
            "processor_seconds": round(self.clock.processor, 3),
            "games": self.games,
            "positions": self.positions,
        }

    # --- the parts of an iteration ---

    def batches(self, may_go_on: Callable[[], bool]) -> Iterator[Batch]:
        """Yield the batches that are due; a batch is drawn while the network learns from the previous one.

        may_go_on: function that returns False to end the iteration before all batches are taken.
        """
        numbers = itertools.count(self.counts.batches_taken)

        def draw(generator: np.random.Generator) -> Batch:
            return to_device(self.draw(next(numbers), generator), self.learner.device)

        # Beside a GPU, the thread that draws must not keep the learner from Python for long.
        with quick_switches(self.learner.device.type != "cpu"):
            for batch in self.prefetcher.batches(self.batches_due, draw, may_go_on):
                counts = self.counts
                samples_due = counts.samples_due - self.settings.learning.batch_size
                self.set_counts(samples_due=samples_due, batches_taken=counts.batches_taken + 1)
                yield batch

    def end_iteration(self) -> None:
        """End the iteration: log and report its metrics, and save if due."""
        self.set_counts(in_iteration=False, iterations=self.counts.iterations + 1)
        self.clock.mark_ready()
        metrics = {
            "iteration": self.counts.iterations,
            **self.standing,
            "board_size": self.env.N,
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            **self._own_metrics(),
            **mean_metrics(self.step_metrics),
            **self.game_metrics,
            "gpu_busy": self.reporter.gpu_busy(),
        }
        self.step_metrics = []
        self.folder.add_metrics(metrics)
        self.reporter.iteration(metrics)
        ckp_freq = self.settings.ckp_freq
        has_passed_multiple = self.games // ckp_freq > self.counts.saved_games // ckp_freq
        if has_passed_multiple:
            self.checkpoint(keep=True)
        else:
            self.autosave()

    def match_evaluator(self, net: NeuralNet, env: GameEnv) -> Evaluator:
        """Return the evaluator of a network for a judge's matches of `env`, in the run's dtype and on its device."""
        net_for_board = fitting_network(net, env)
        assert isinstance(net_for_board, NeuralNet)
        return net_for_board.evaluator(self.inference_dtype, self.device)

    def judge(self, stop: threading.Event) -> None:
        """Run each judge that is due, unless an iteration is in progress; raise Stopped if `stop` is set first."""
        for judge in self.judges:
            if self.counts.in_iteration or not judge.due(self):
                continue
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
        """Save the run; return the path of the weights.

        keep: whether to save the network also under its number of games, where later networks do not replace it.
        """
        began = time.monotonic()
        notes = {"seconds": f"{self.clock.seconds:.3f}", **self._own_notes()}
        if keep:
            self.set_counts(saved_games=self.games)
        path = self.folder.checkpoint(self.player, self.games, self.state(), keep=keep, notes=notes)
        self.saving.schedule_next(began)
        return path

    def autosave(self) -> None:
        """Save the run if a checkpoint is due."""
        if self.saving.due:
            self.checkpoint()

    def state(self) -> State:
        """Return the run's state; the threads of self-play must not be playing."""
        own_tensors, own_data = self._own_state()
        data = {
            **own_data,
            "counts": asdict(self.counts),
            "game_metrics": self.game_metrics,
            "step_metrics": list(self.step_metrics),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.prefetcher.state,
            "clock": self.clock.state(),
            "judges": {judge.name: judge.state() for judge in self.judges},
        }
        tensors = {**self.learner.tensors(), **own_tensors}
        for judge in self.judges:
            tensors.update(judge.tensors())
        return State(tensors, data)

    def _restore(self, state: State) -> None:
        """Continue from a state saved in this run's folder."""
        data = state.data
        self.counts = RunCounts(**data["counts"])
        self.game_metrics = data["game_metrics"]
        self.step_metrics = data.get("step_metrics", [])  # older states have none
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.prefetcher.state = data["generator"]
        for judge in self.judges:
            judge.restore(self, state.tensors, data["judges"].get(judge.name))
