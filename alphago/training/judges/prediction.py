"""How well a network predicts the moves and results of given records, without search."""

import threading
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.records.record import GameRecord

AT_ONCE = 64  # games; a piece of an examination
SUMS = ("positions", "hits", "cross_entropy", "squared_error")


class WatchedRecords:
    """Records on which networks are examined; all count alike, but for moves of weight 0."""

    def __init__(self, name: str, env: GameEnv, records: list[GameRecord]) -> None:
        self.name = name
        self.env = env
        self.records = records

    def examination(self, seed: int, device: str, state: Any = None) -> "Prediction":
        return Prediction(self, state)


class Prediction:
    """A network's examination on records: sums over the positions of the first so many games."""

    def __init__(self, watched: WatchedRecords, state: Any) -> None:
        self.watched = watched
        self.pieces = 0
        self.sums = np.zeros(len(SUMS))
        if state is not None:
            self.pieces, self.sums = state["pieces"], np.array(state["sums"])

    @property
    def is_over(self) -> bool:
        return self.pieces * AT_ONCE >= len(self.watched.records)

    def go_on(self, evaluator: Evaluator, at_once: int, stop: threading.Event) -> None:
        while not self.is_over and not stop.is_set():
            first = self.pieces * AT_ONCE
            self.sums += predict(evaluator, self.watched.env, self.watched.records[first : first + AT_ONCE])
            self.pieces += 1

    def row(self) -> dict[str, Any] | None:
        """Return how often the policy's first choice was played, -ln of its probability of the move, in nats, and the
        mean square of the value's distance from the result, -1 .. 1; None if no position was judged.
        """
        positions = int(self.sums[0])
        if not positions:
            return None
        accuracy, entropy, error = (self.sums[1:] / positions).tolist()
        return {
            "opponent": self.watched.name, "positions_judged": positions,
            "accuracy": accuracy, "cross_entropy": entropy, "value_error": error,
        }  # fmt: skip

    def summary(self) -> str:
        row = self.row() or {}
        return (
            f"{row['accuracy']:.1%} of {row['positions_judged']} moves are the policy's first choice "
            f"(cross-entropy {row['cross_entropy']:.2f} nats, value's squared error {row['value_error']:.2f})"
        )

    def state(self) -> dict[str, Any]:
        return {"pieces": self.pieces, "sums": self.sums.tolist()}

    def close(self) -> None:
        """Do nothing: there is nothing between two calls."""


def predict(evaluator: Evaluator, env: GameEnv, records: list[GameRecord]) -> np.ndarray:
    """Return SUMS over the positions of records that have weight: float64 [4]."""
    batch = env.new_batch(len(records))
    for slot, record in enumerate(records):
        batch.reset(np.array([slot]), **record.setup)
    lengths = np.array([len(record) for record in records])
    sums = np.zeros(len(SUMS))
    for ply in range(lengths.max()):
        slots = np.flatnonzero(lengths > ply)
        moves = np.array([records[slot].moves[ply] for slot in slots], np.int32)
        weights = np.array([records[slot].weights[ply] > 0 for slot in slots])
        results = np.array([records[slot].outcome * records[slot].movers[ply] for slot in slots])
        priors, values = np.empty((len(slots), env.action_space), np.float32), np.empty(len(slots), np.float32)
        evaluator.evaluate(batch, slots, priors, values)
        chosen = np.maximum(priors[np.arange(len(slots)), moves], 1e-12)
        columns = np.stack(
            [np.ones(len(slots)), priors.argmax(axis=1) == moves, -np.log(chosen), (values - results) ** 2]
        )
        sums += columns[:, weights].sum(axis=1)
        batch.play(slots, moves)
    return sums
