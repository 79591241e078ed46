"""The class SupervisedRun: a run that learns from given games."""

from typing import Any

import numpy as np
import torch

from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.system.stopwatch import NET, SAMPLING
from alphago.training.loop import FRESH_POSITIONS
from alphago.training.memory import Sample
from alphago.training.metrics import ProcessorMeter, game_metrics, time_shares
from alphago.training.run import Run
from alphago.training.runs.state import State
from alphago.training.supervised.given_games import GivenGames
from alphago.training.supervised.supervised_settings import SupervisedSettings

STEPS_AT_ONCE = 32  # approximate number of gradient steps in an iteration


class SupervisedRun(Run):
    """The state of a run on given games; the loop itself is `alphago.training.supervised.call.learn_games`.

    In each epoch the run takes each game once, in a new random order.  The games taken determine the number of gradient
    steps and the metrics.  The samples come from all games.

    given: the given games; the constructor sets the targets of their samples.  parts: as in Run.
    """

    settings: SupervisedSettings

    def __init__(
        self, settings: SupervisedSettings, model: NeuralNet, *, given: GivenGames, workers: Workers, **parts: Any
    ) -> None:
        self.given = given
        given.prepare(settings.learning.weights.masked, settings.search_share)
        moves_at_once = STEPS_AT_ONCE * settings.learning.batch_size
        games = round(moves_at_once / max(1.0, float(given.lengths.mean())))
        self.at_once = max(1, min(settings.games_per_check, len(given.lengths), games))  # games in an iteration
        self.moves = 0  # moves of the iteration's games
        self.meter = ProcessorMeter(workers.count)
        super().__init__(settings, model, workers=workers, **parts)

    def numbers(self, begin: int, end: int) -> list[int]:
        """Return the numbers of the given games that are the run's games `begin` to `end` - 1."""
        total = len(self.given.lengths)
        numbers: list[int] = []
        while begin < end:
            epoch, place = divmod(begin, total)
            order = np.random.default_rng([self.settings.seed, epoch]).permutation(total)
            of_epoch = order[place : place + end - begin].tolist()
            numbers += of_epoch
            begin += len(of_epoch)
        return numbers

    @SAMPLING
    def begin_iteration(self) -> None:
        """Take the next games and test the network on held-out positions, unless an iteration is in progress."""
        self.meter = ProcessorMeter(self.workers.count)
        self.moves = 0
        if self.counts.in_iteration:
            return
        end = min(self.games + self.at_once, self.settings.game_limit)
        records = [self.given.record(number) for number in self.numbers(self.games, end)]
        self.moves = sum(map(len, records))
        positions = sum(int((record.weights > 0).sum()) for record in records)
        self.set_counts(
            in_iteration=True,
            games=end,
            positions=self.positions + positions,
            samples_due=self.counts.samples_due + positions,
        )
        self.reporter.games(self.env, records)
        losses: dict[str, float] = {}
        if self.learner.steps and positions:
            fresh = self.given.sample(FRESH_POSITIONS, self.prefetcher.generator, held_out=True)
            with NET:
                losses = self.learner.losses_on(fresh)
        self.game_metrics = losses | game_metrics(records, self.env)

    def draw(self, number: int, generator: np.random.Generator) -> Sample[np.ndarray]:
        return self.given.sample(self.settings.learning.batch_size, generator)

    def _own_metrics(self) -> dict[str, Any]:
        return {
            "memory": int(self.given.lengths.sum()),
            "moves": self.moves,
            **self.meter.metrics(),
            **time_shares(self.stopwatch.take(), {}, self.workers.count),
        }

    def _own_state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        return {}, {"digest": self.given.digest}

    def _restore(self, state: State) -> None:
        """Continue from a state; raise ValueError if it was saved by a run on other games."""
        if state.data["digest"] != self.given.digest:
            raise ValueError(
                f"dataset must be the run's own, of digest {state.data['digest']}, got one of digest "
                f"{self.given.digest}: another folder begins a new run, and model=… gives it this one's network"
            )
        super()._restore(state)
