"""Measure how well a network, without search, predicts the moves and results of game records; and HeldOut, a judge."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.inference.frozen_net import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.system import stopwatch
from alphago.system.interrupts import Stopped
from alphago.training.history import HELD_OUT
from alphago.training.judge import Judge
from alphago.training.judges.results import WatchResult
from alphago.training.run import Run

AT_ONCE = 64  # games that are predicted together
BINS = 10  # intervals of predicted win rate for the calibration error
TOP = 5  # first choices of the policy for the measure "top5"
NAME = "held-out games"


class WatchedRecords:
    """Game records on which a run's networks are tested; see `Watched`.

    Args:
        name: the name of the records in `watch`.
        records: games of `env`.  Positions of weight 0 are skipped, all others count equally.
    """

    def __init__(self, name: str, env: GameEnv, records: list[GameRecord]) -> None:
        self.name = name
        self.env = env
        self.records = records

    def test(self, evaluator: Evaluator, device: str, *, stop: threading.Event, **_: Any) -> WatchResult:
        """Let a network predict all games, AT_ONCE of them together; raise Stopped if `stop` was set before the end.

        `device` and the other arguments of `Watched.test` are ignored: no games are played, without any limit of time.
        """
        parts = []
        for first in range(0, len(self.records), AT_ONCE):
            if stop.is_set():
                raise Stopped
            parts.append(predict(evaluator, self.env, self.records[first : first + AT_ONCE]))
        measures = Predictions.join(parts).measures()
        # Rows of evaluations.jsonl name under "opponent" whatever the network was tested with.
        return WatchResult({"opponent": self.name, **measures}, measures_text(measures))


class Predictions(NamedTuple):
    """What a network's policy and value predicted in n positions, and what was played."""

    hits: np.ndarray  # bool [n], whether the move played is the policy's first choice
    top: np.ndarray  # bool [n], whether the move played is among the policy's first TOP choices
    cross_entropies: np.ndarray  # float [n], -ln(policy's probability of the move played), in nats
    values: np.ndarray  # float32 [n], in the mover's view
    results: np.ndarray  # float [n], -1 .. 1 in the mover's view

    @classmethod
    def join(cls, parts: Iterable[Self]) -> Self:
        """Return the predictions of all parts, one after the other, as float64; there may be no part."""
        # `concatenate` needs a part, hence an empty one of float64; with it, `hits` and `top` become numbers, 0 or 1.
        empty = [np.zeros(0)] * len(cls._fields)
        fields = zip(empty, *parts, strict=True)  # for each field, its arrays in all parts
        return cls(*map(np.concatenate, fields))

    def measures(self) -> dict[str, float]:
        """Return measures over all positions, by name.

        positions_judged: number of positions.
        accuracy: share of positions where the move played is the policy's first choice.
        top5: share of positions where the move played is among the policy's first five choices.
        cross_entropy: mean of -ln(policy's probability of the move played), in nats.
        value_error: mean squared difference of value and result, both -1 .. 1.
        value_accuracy: share of positions where value and result have the same sign.
        calibration_error: expected calibration error of the win rate, 0 .. 1, over BINS intervals (Guo et al. 2017,
            "On Calibration of Modern Neural Networks", section 2).
        """
        count = max(len(self.hits), 1)  # no division by 0
        rates = np.clip((self.values + 1) / 2, 0, 1)
        bins = np.minimum((rates * BINS).astype(int), BINS - 1)  # a rate of 1 is in the last
        gaps = np.bincount(bins, rates - (self.results + 1) / 2)  # for each bin, sum of win rates minus sum of results
        # Each measure is the sum of its terms divided by the number of positions.
        terms = {
            "accuracy": self.hits,
            "top5": self.top,
            "cross_entropy": self.cross_entropies,
            "value_error": (self.values - self.results) ** 2,
            "value_accuracy": np.sign(self.values) == np.sign(self.results),
            "calibration_error": np.abs(gaps),
        }
        return {"positions_judged": len(self.hits), **{name: float(terms[name].sum() / count) for name in terms}}


def measures_text(measures: Mapping[str, float]) -> str:
    """Return the measures of `Predictions.measures` as a clause for a report."""
    return (
        f"{measures['accuracy']:.1%} of {measures['positions_judged']} moves are the policy's first choice, "
        f"{measures['top5']:.1%} among its first {TOP} (cross-entropy {measures['cross_entropy']:.3f} nats, "
        f"value's squared error {measures['value_error']:.3f}, value's side right {measures['value_accuracy']:.1%}, "
        f"calibration error {measures['calibration_error']:.1%})"
    )


def predict(evaluator: Evaluator, env: GameEnv, records: list[GameRecord]) -> Predictions:
    """Return the predictions in all positions of the games `records`, of which there must be one or more.

    Positions of weight 0 are left out.
    """
    parts = []
    batch = env.new_batch(len(records))
    batch.gather([env.position(**record.setup).batch for record in records])  # slot i: the start of game i
    lengths = np.array([len(record) for record in records])
    for ply in range(lengths.max()):
        slots = np.flatnonzero(lengths > ply)  # the games that are not over
        moves = np.array([records[slot].moves[ply] for slot in slots], np.int32)
        movers = np.array([records[slot].movers[ply] for slot in slots], np.int8)
        results = np.array([records[slot].outcome for slot in slots]) * movers  # Black's view to the mover's
        counted = np.array([records[slot].weights[ply] > 0 for slot in slots])  # which of `slots` to keep
        batch.give_turn(slots, movers)  # a colour may have played twice in a row
        priors = np.empty((len(slots), env.action_space), np.float32)
        values = np.empty(len(slots), np.float32)
        evaluator.evaluate(batch, slots, priors, values)  # fills `priors` and `values`
        parts.append(make_predictions(priors[counted], values[counted], moves[counted], results[counted]))
        batch.play(slots, moves)
    return Predictions.join(parts)


def make_predictions(priors: np.ndarray, values: np.ndarray, moves: np.ndarray, results: np.ndarray) -> Predictions:
    """Return the predictions in n positions.

    Args:
        priors: float32 [n, A], the network's policies.
        values: float32 [n], the network's values in the mover's view.
        moves: int32 [n], the moves played.
        results: [n], -1 .. 1 in the mover's view.
    """
    probabilities = priors[np.arange(len(moves)), moves]  # of the moves played
    rank = (priors > probabilities[:, None]).sum(axis=1)  # number of actions with a higher prior than the move played
    cross_entropies = -np.log(np.maximum(probabilities, 1e-12))  # no logarithm of 0
    return Predictions(priors.argmax(axis=1) == moves, rank < TOP, cross_entropies, values, results)


class HeldOut(Judge[Run]):
    """The judge that measures how well the network predicts held-out games; it logs tests in evaluations.jsonl.

    The object is the setting of a run, see JudgeSettings, and the judge itself.

    Args:
        records: the held-out games.
        checks: number of tests, evenly spaced over the run; one more test, of the untrained network, comes first.
    """

    name = HELD_OUT
    saved = ("accuracy", "best_after", "judged", "judged_steps")
    chooses = True  # self-play's network

    def __init__(self, records: Sequence[GameRecord], checks: int) -> None:
        self.records, self.checks = records, checks

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> Self:
        """Return a judge of its own, which begins anew; it writes no files, so it does not need `folder`."""
        judge = copy(self)
        judge.begin(env, net)
        return judge

    def begin(self, env: GameEnv, net: NeuralNet) -> None:
        """Begin anew, with `net` as the best network; nothing is tested yet."""
        self.games = WatchedRecords(NAME, env, list(self.records))
        self.best = frozen_copy(net)
        self.accuracy = -1.0  # share of moves that the best network predicts; -1 before the first test
        self.best_after = 0  # number of games of the run when the best network was tested
        self.judged_steps = -1  # gradient steps at the last test
        self.judged = -1.0  # the run's progress, 0 .. 1, at the last test

    def due(self, run: Run) -> bool:
        """Return whether the latest network should be tested now."""
        if run.learner.steps == self.judged_steps:  # no new network
            return False
        # The run has `checks` equal parts; a test is due once the run has entered a new part.  `judged` is the run's
        # progress at the last test, which is more than the present one if the run was prolonged since.
        return run.is_over or int(run.progress * self.checks) != int(self.judged * self.checks)

    @stopwatch.EXAMINATION
    def judge(self, run: Run, stop: threading.Event) -> None:
        """Test the latest network, and keep a copy if it predicts more moves than every network tested before.

        Raises:
            Stopped: if `stop` was set before the test was over.
        """
        standing = run.standing  # seconds and counts, from before the test
        net = run.learner.net
        with run.clock.not_counting():
            result = self.games.test(run.match_evaluator(net, self.games.env), run.device, stop=stop)
        accuracy = result.row["accuracy"]
        improved = accuracy > self.accuracy
        run.add_match({**standing, "judge": self.name, **result.row, "best": improved})
        run.note(f"{NAME} after {run.games} games: {result.summary}{'; the best so far' if improved else ''}")
        if improved:
            self.best, self.accuracy, self.best_after = frozen_copy(net), accuracy, run.games
        self.judged, self.judged_steps = run.progress, run.learner.steps

    def conclusion(self, longer: str) -> str:
        """Return a sentence on the best network, which becomes the run's result; `longer` is not used."""
        return f"the network of the run is the one after {self.best_after} games, with {self.accuracy:.1%} of the moves"
