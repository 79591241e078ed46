"""Labels: a teacher's evaluations of positions, which replace the moves played and the results of games.

A labelled dataset has one position in each of its games: the one before the game's last ply.  Beside `games` and
`moves` a part has

    labels-000000.npy    a row of `label_dtype(size)` for each game, in the view of the player about to move

and the index has an entry `teacher`: the teacher's name, how it labelled, and which games the positions are from.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from alphago.env.go import GoEnv
from alphago.records.record import GameRecord, quantise

OWNED = 127  # the ownership of a point that surely belongs to the player about to move
MARGIN_SCALE = 10.0  # points by which a lead is divided before tanh, as in the outcomes of GoEnv


@cache
def label_dtype(size: int) -> np.dtype[np.void]:
    """Return the dtype of a label on a board of `size` x `size` points.

    win: the win rate, 0 .. 1.  lead: the lead in points.  policy: probabilities of the actions, 0 for illegal ones.
    ownership: of each point, OWNED for the player about to move, -OWNED for the opponent.
    """
    points = size * size
    return np.dtype([("win", "<f4"), ("lead", "<f4"), ("policy", "<f2", points + 1), ("ownership", "i1", points)])


def label_values(labels: np.ndarray | np.void, margin_weight: float) -> np.ndarray:
    """Return the value targets of labels, float32, -1 .. 1, in the view of the player about to move.

    Args:
        labels: one label, or an array of them, whose shape is then that of the targets.
        margin_weight: the weight of the lead in the outcomes of the game that is learned (`GoEnv`).
    """
    result, lead = 2 * labels["win"] - 1, labels["lead"]
    return np.asarray((1 - margin_weight) * result + margin_weight * np.tanh(lead / MARGIN_SCALE), np.float32)


def label_policies(labels: np.ndarray | np.void) -> np.ndarray:
    """Return the policy targets of labels, float32 [..., A]; each row sums to 1."""
    policies = np.asarray(labels["policy"], np.float32)
    return policies / policies.sum(axis=-1, keepdims=True)


def labelled_record(record: GameRecord, label: np.void, env: GoEnv) -> GameRecord:
    """Return the record of a game with a label's targets in the last position; the arrays of `record` are overwritten.

    Only the last position has a weight, and its move is the most probable one of the label's policy.

    Args:
        label: of `label_dtype`, in the view of the player about to move in the last position.
        env: the game, with the weight of the lead in its outcomes (`margin_weight`).
    """
    policy = label_policies(label)
    record.moves[-1] = policy.argmax()
    record.policies[-1] = quantise(policy)
    record.weights[:-1] = 0
    outcome = float(label_values(label, env.margin_weight)) * float(record.movers[-1])  # in Black's view
    # As in a resigned game: the score is the outcome, not points, and training ignores the last board.
    return replace(record, outcome=outcome, score=outcome, resigned=True)
