"""Measure how well a network predicts the moves and results of game records, without search."""

import threading
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.records.record import GameRecord
from alphago.training.judges.results import WatchResult

AT_ONCE = 64  # games that are predicted together
BINS = 10  # intervals of predicted win rate for the calibration error
SUMS = ("positions", "hits", "cross_entropy", "squared_error", "top5", "value_hits")
TOP = 5  # first choices of the policy for the measure "top5"


class WatchedRecords:
    """Game records on which a run's networks are tested; see `Watched`.

    name: the name of the records in `watch`.
    records: games of `env`.  Positions of weight 0 are skipped, all others count equally.
    """

    def __init__(self, name: str, env: GameEnv, records: list[GameRecord]) -> None:
        self.name = name
        self.env = env
        self.records = records

    def test(self, evaluator: Evaluator, device: str, *, stop: threading.Event, **_: Any) -> WatchResult | None:
        """Let a network predict all games; see `Watched.test`."""
        counts = predict_all(evaluator, self.env, self.records, stop)
        return None if counts is None else WatchResult({"opponent": self.name, **counts.measures()}, counts.sentence())


class Counts:
    """Sums over predicted positions; `+=` adds the sums of another object.

    sums: float64 [len(SUMS)], one sum for each name in SUMS.
    bins: float64 [BINS, 3].  Row i is for the positions whose predicted win rate is in the i-th of BINS equal
        intervals: their number, the sum of their predicted win rates, the sum of their results (1 won, 0.5 drawn,
        0 lost).
    """

    def __init__(self) -> None:
        self.sums = np.zeros(len(SUMS))
        self.bins = np.zeros((BINS, 3))

    def __iadd__(self, other: "Counts") -> "Counts":
        self.sums += other.sums
        self.bins += other.bins
        return self

    @property
    def positions(self) -> int:
        return int(self.sums[0])  # SUMS[0]

    def measures(self) -> dict[str, float]:
        """Return the means over all positions, by name.

        positions_judged: number of positions.
        accuracy: share of positions where the move played is the policy's first choice.
        top5: share of positions where the move played is among the policy's first five choices.
        cross_entropy: mean of -ln(policy's probability of the move played), in nats.
        value_error: mean squared difference of value and result, both -1 .. 1.
        value_accuracy: share of positions where value and result have the same sign.
        calibration_error: expected calibration error of the win rate, 0 .. 1, over BINS intervals (Guo et al. 2017,
            "On Calibration of Modern Neural Networks", section 2).
        """
        count = max(self.positions, 1)
        means = dict(zip(SUMS, (self.sums / count).tolist(), strict=True))
        _, predicted, actual = self.bins.T
        return {
            "positions_judged": self.positions,
            "accuracy": means["hits"],
            "top5": means["top5"],
            "cross_entropy": means["cross_entropy"],
            "value_error": means["squared_error"],
            "value_accuracy": means["value_hits"],
            "calibration_error": float(np.abs(predicted - actual).sum() / count),
        }

    def sentence(self) -> str:
        """Return the measures as a clause for a report."""
        measures = self.measures()
        return (
            f"{measures['accuracy']:.1%} of {self.positions} moves are the policy's first choice, "
            f"{measures['top5']:.1%} among its first {TOP} (cross-entropy {measures['cross_entropy']:.2f} nats, "
            f"value's squared error {measures['value_error']:.2f}, "
            f"calibration error {measures['calibration_error']:.1%})"
        )


def predict_all(evaluator: Evaluator, env: GameEnv, records: list[GameRecord], stop: threading.Event) -> Counts | None:
    """Return the counts over the games `records`, AT_ONCE at a time; None if `stop` was set first."""
    counts = Counts()
    for first in range(0, len(records), AT_ONCE):
        if stop.is_set():
            return None
        counts += predict(evaluator, env, records[first : first + AT_ONCE])
    return counts


def predict(evaluator: Evaluator, env: GameEnv, records: list[GameRecord]) -> Counts:
    """Evaluate all positions of the games `records`, one ply after another; return the counts over weighted positions.

    Positions of weight 0 are not counted.
    """
    counts = Counts()
    if not records:
        return counts
    batch = env.new_batch(len(records))
    batch.gather([env.position(**record.setup).batch for record in records])
    lengths = np.array([len(record) for record in records])
    for ply in range(lengths.max()):
        slots = np.flatnonzero(lengths > ply)
        moves = np.array([records[slot].moves[ply] for slot in slots], np.int32)
        movers = np.array([records[slot].movers[ply] for slot in slots], np.int8)
        results = np.array([records[slot].outcome for slot in slots]) * movers
        counted = np.array([records[slot].weights[ply] > 0 for slot in slots])
        batch.give_turn(slots, movers)  # a colour may have played twice in a row
        priors = np.empty((len(slots), env.action_space), np.float32)
        values = np.empty(len(slots), np.float32)
        evaluator.evaluate(batch, slots, priors, values)
        add_to(
            counts,
            priors=priors[counted],
            values=values[counted],
            moves=moves[counted],
            results=results[counted],
        )
        batch.play(slots, moves)
    return counts


def add_to(counts: Counts, priors: np.ndarray, values: np.ndarray, moves: np.ndarray, results: np.ndarray) -> None:
    """Add n positions to `counts`.

    priors, values: float32 [n, A] and [n], the network's policy and value in the mover's view.
    moves: int32 [n], the moves played.  results: [n], -1 .. 1 in the mover's view.
    """
    probabilities = priors[np.arange(len(moves)), moves]  # of the moves played
    rank = (priors > probabilities[:, None]).sum(axis=1)  # number of actions with a higher prior than the move played
    summands = [  # in the order of SUMS
        np.ones(len(moves)),
        priors.argmax(axis=1) == moves,
        -np.log(np.maximum(probabilities, 1e-12)),  # no logarithm of 0
        (values - results) ** 2,
        rank < TOP,
        np.sign(values) == np.sign(results),
    ]
    counts.sums += np.stack(summands).sum(axis=1)
    rates = np.clip((values.astype(np.float64) + 1) / 2, 0, 1)
    rows = np.minimum((rates * BINS).astype(int), BINS - 1)  # the rows of `Counts.bins`; a rate of 1 is in the last
    for column, amounts in enumerate((np.ones(len(moves)), rates, (results + 1) / 2)):
        np.add.at(counts.bins[:, column], rows, amounts)
