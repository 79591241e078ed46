"""Targets: what a recorded game teaches, the value and the policy to learn at each of its plies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.system.validation import check_float, checks_keywords

ValueTargets = Literal["lambda", "plies", "legal-moves"]
ROUNDING = 1e-6  # of a sum of shares


@checks_keywords()
@dataclass(frozen=True)
class Targets:
    """How the targets of a game's positions are made from its record; the defaults are AlphaGo Zero's.

    value: "lambda", a lambda-return: the result mixed with later search values, see `lambda_returns`; or a mixture of
        the result with the position's own search value, whose share of the result grows along the game: "plies", or
        with the legal moves seen, "legal-moves" (see `mixed_values`).
    search_share: of "lambda".
    result_share, result_growth: of the mixtures, the result's share at the game's beginning and how much it grows.
    visits_until, played_from: where in a game, 0 .. 1, policies cease to be the search's, and from where on they are
        the move played alone; in between they are blended.  1 and 1 for the search's in all of the game.
    """

    value: ValueTargets = "lambda"
    search_share: float = 0.0
    result_share: float = 0.7
    result_growth: float = 0.3
    visits_until: float = 1.0
    played_from: float = 1.0

    def __post_init__(self) -> None:
        if self.value not in get_args(ValueTargets):
            names = ", ".join(map(repr, get_args(ValueTargets)))
            raise ValueError(f"value_targets must be one of {names}, got {self.value!r}")
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
        """Return the value target of each ply, float32 [T], from its mover's view."""
        if self.value == "lambda":
            return lambda_returns(record, self.search_share)
        seen = record.legal_counts if self.value == "legal-moves" else np.ones(len(record))
        progress = np.cumsum(seen, dtype=np.float64) / max(seen.sum(dtype=np.float64), 1.0)
        return mixed_values(record, self.result_share + self.result_growth * progress)

    def policies(self, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
        """Return the policy targets at ply i of record i, float32 [n, A], rows of sum 1."""
        pairs = list(zip(records, plies, strict=True))
        policy = np.stack([record.policies[ply] for record, ply in pairs]).astype(np.float32) / POLICY_SCALE
        policy /= policy.sum(axis=1, keepdims=True)
        if self.visits_until < 1:
            shares = np.array([self.played_share(ply / len(record)) for record, ply in pairs], np.float32)
            policy *= 1 - shares[:, None]
            policy[np.arange(len(pairs)), [record.moves[ply] for record, ply in pairs]] += shares
        return policy

    def played_share(self, place: float) -> float:
        """Return the share of the move played in a policy target, at a place in its game: ply / plies, 0 .. 1."""
        if place >= self.played_from:
            return 1.0
        if place <= self.visits_until:
            return 0.0
        return (place - self.visits_until) / (self.played_from - self.visits_until)


def lambda_returns(record: GameRecord, search_share: float) -> np.ndarray:
    """Return the lambda-return of each ply, float32 [T], from its mover's view.

    It is the result, into which every later ply mixes `search_share` of its search value: lambda = 1 - search_share
    (Sutton & Barto 2018, section 12.1).
    """
    targets = np.empty(len(record), np.float32)
    value = record.outcome  # Black's view
    for ply in range(len(record) - 1, -1, -1):
        targets[ply] = value * record.movers[ply]
        value += search_share * (float(record.values[ply]) * record.movers[ply] - value)
    return targets


def mixed_values(record: GameRecord, shares: np.ndarray) -> np.ndarray:
    """Return k Z + (1 - k) Q of each ply, float32 [T], from its mover's view.

    Z is the game's result, Q the ply's search value, k its share of the result (float [T], 0 .. 1).  In
    marchete/CGZero k is a base and an increment times the share of the game's legal moves that were seen so far: where
    there is much to choose from, the game goes on for longer.
    """
    results = record.outcome * record.movers
    return (shares * results + (1 - shares) * record.values).astype(np.float32)
