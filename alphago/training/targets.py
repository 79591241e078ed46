"""Targets: the values and policies to learn at the plies of a recorded game."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.system.validation import check_choice, check_float, checks_keywords

ValueTargets = Literal["lambda", "plies", "legal-moves"]
ROUNDING = 1e-6  # by which a sum of shares may exceed 1


@checks_keywords()
@dataclass(frozen=True)
class Targets:
    """The rule that makes value and policy targets from a game's record; the defaults are AlphaGo Zero's.

    value: the kind of value target.  "lambda": the game's result mixed with later search values (`lambda_returns`).
        "plies" and "legal-moves": the game's result mixed with the position's own search value (`mixed_values`).  With
        "plies" the result's share grows by the same amount at each ply, with "legal-moves" in proportion to the
        number of legal moves at the ply.
    search_share: for "lambda", the share of each later search value, see `lambda_returns`.
    result_share, result_growth: for "plies" and "legal-moves", the result's share at the game's beginning, and its
        growth until the game's end.
    visits_until, played_from: places in a game, 0 .. 1.  Before `visits_until` the policy target is the search's
        policy, after `played_from` it is 1 for the move played, and between them it is a mixture.  With 1 and 1 it is
        the search's policy in the whole game.
    """

    value: ValueTargets = "lambda"
    search_share: float = 0.0
    result_share: float = 0.7
    result_growth: float = 0.3
    visits_until: float = 1.0
    played_from: float = 1.0

    def __post_init__(self) -> None:
        check_choice("value_targets", self.value, get_args(ValueTargets))
        for name in ("search_share", "result_share", "result_growth", "visits_until", "played_from"):
            check_float(name, getattr(self, name), 0, 1)
        if self.result_share + self.result_growth > 1 + ROUNDING:
            raise ValueError(
                f"result_share and result_growth must sum to at most 1, got {self.result_share!r} and "
                f"{self.result_growth!r}"
            )
        if self.visits_until > self.played_from:
            raise ValueError(
                f"visits_until must be at most played_from, got {self.visits_until!r} and {self.played_from!r}"
            )

    def values(self, record: GameRecord) -> np.ndarray:
        """Return the value target of each of a record's T plies, float32 [T], from the view of the player to move."""
        if self.value == "lambda":
            return lambda_returns(record, self.search_share)
        seen = record.legal_counts if self.value == "legal-moves" else np.ones(len(record))
        progress = np.cumsum(seen, dtype=np.float64) / max(seen.sum(dtype=np.float64), 1.0)
        return mixed_values(record, self.result_share + self.result_growth * progress)

    def policies(self, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
        """Return the policy target at ply `plies[i]` of `records[i]` for each i, float32 [n, A]; each row sums to 1."""
        pairs = list(zip(records, plies, strict=True))
        policy = np.stack([record.policies[ply] for record, ply in pairs]).astype(np.float32) / POLICY_SCALE
        policy /= policy.sum(axis=1, keepdims=True)
        if self.visits_until < 1:
            shares = np.array([self.played_share(ply / len(record)) for record, ply in pairs], np.float32)
            policy *= 1 - shares[:, None]
            policy[np.arange(len(pairs)), [record.moves[ply] for record, ply in pairs]] += shares
        return policy

    def played_share(self, place: float) -> float:
        """Return the share of the move played in a policy target.

        place: the ply divided by the game's number of plies, 0 .. 1.
        """
        if place >= self.played_from:
            return 1.0
        if place <= self.visits_until:
            return 0.0
        return (place - self.visits_until) / (self.played_from - self.visits_until)


def lambda_returns(record: GameRecord, search_share: float) -> np.ndarray:
    """Return the lambda-return of each of a record's T plies, float32 [T], from the view of the player to move.

    The last ply's lambda-return is the game's result.  At an earlier ply it is `search_share` times the next ply's
    search value, plus 1 - `search_share` times the next ply's lambda-return, both in the view of the same player.  So
    lambda is 1 - search_share (Sutton & Barto 2018, section 12.1).
    """
    targets = np.empty(len(record), np.float32)
    value = record.outcome  # Black's view
    for ply in range(len(record) - 1, -1, -1):
        targets[ply] = value * record.movers[ply]
        value += search_share * (float(record.values[ply]) * record.movers[ply] - value)
    return targets


def mixed_values(record: GameRecord, shares: np.ndarray) -> np.ndarray:
    """Return k Z + (1 - k) Q for each of a record's T plies, float32 [T], from the view of the player to move.

    Z is the game's result, and Q is the ply's search value.  CGZero (github.com/marchete/CGZero) computes k as a base
    plus an increment times a fraction: the number of legal moves at all plies so far, divided by the number at all
    plies of the game.

    shares: k at each ply, float [T], 0 .. 1.
    """
    results = record.outcome * record.movers
    return (shares * results + (1 - shares) * record.values).astype(np.float32)
