"""Targets: the values and policies to learn at the plies of a recorded game."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.system.validation import setting, settings, shown
from alphago.training.kernels import samples

# Returns the value target of each of a record's T plies, float32 [T], from the view of the player to move.
Values = Callable[[GameRecord], np.ndarray]


class Targets(Protocol):
    """The rule that makes value and policy targets from a game's record."""

    def values(self, record: GameRecord) -> np.ndarray:
        """Return the value target of each of a record's T plies, float32 [T], from the view of the player to move."""

    def policies(self, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
        """Return the policy target at ply `plies[i]` of `records[i]` for each i, float32 [n, A]; each row sums to 1.

        A derived class that does not define this method has the search's policies as targets.
        """
        return search_policies(records, plies)


@settings
class LambdaReturns(Targets):
    """Targets as in AlphaGo Zero: the game's result, mixed with later search values, and the search's policies."""

    search_share: float = setting(
        "share of a value target that comes from the search, per ply (AlphaGo Zero: 0)",
        default=0.03,
        most=1,
        python="See `lambda_returns`",
    )

    def values(self, record: GameRecord) -> np.ndarray:
        return lambda_returns(record, self.search_share)


class FunctionTargets(Targets):
    """Targets with the values that a function of the record returns, and with the search's policies."""

    def __init__(self, function: Values) -> None:
        self.function = function

    def values(self, record: GameRecord) -> np.ndarray:
        return self.function(record)


def as_targets(given: Targets | Values) -> Targets:
    """Return an object with the methods of Targets unchanged, and a function of a record as FunctionTargets.

    Raises:
        TypeError: for anything else.
    """
    if hasattr(given, "values") and hasattr(given, "policies"):
        return given
    if callable(given):
        return FunctionTargets(given)
    raise TypeError(f"targets must have the methods values and policies, or be a function of a record, got {given!r}")


def value_targets(targets: Targets, record: GameRecord) -> np.ndarray:
    """Return the value targets of a record, float32 [T]; raise ValueError unless there is a finite one for each ply."""
    values = np.asarray(targets.values(record), np.float32)
    plies = len(record)
    if values.shape != (plies,) or not np.isfinite(values).all():
        raise ValueError(f"targets must give a finite value for each of a game's {plies} plies, got {shown(values)}")
    return values


def policy_targets(targets: Targets, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
    """Return the result of `targets.policies`; raise ValueError unless it has the right shape and is finite."""
    policies = targets.policies(records, plies)
    shape = (len(records), records[0].policies.shape[1])
    if np.shape(policies) != shape or not np.isfinite(policies).all():
        raise ValueError(f"targets must give finite policies of shape {shape}, got {shown(policies)}")
    return policies


def search_policies(records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
    """Return the search's policy at ply `plies[i]` of `records[i]` for each i, float32 [n, A]; each row sums to 1."""
    policy = np.stack([record.policies[ply] for record, ply in zip(records, plies, strict=True)])
    policy = policy.astype(np.float32) / POLICY_SCALE  # records hold integers
    return policy / policy.sum(axis=1, keepdims=True)


def lambda_returns(record: GameRecord, search_share: float) -> np.ndarray:
    """Return the lambda-return of each of a record's T plies, float32 [T], from the view of the player to move.

    The last ply's lambda-return is the game's result.  At an earlier ply it is `search_share` times the next ply's
    search value, plus 1 - `search_share` times the next ply's lambda-return, both in the view of the same player.  So
    lambda is 1 - search_share (Sutton & Barto 2018, section 12.1).

    Args:
        search_share: 0 .. 1; with 0 every target is the game's result.
    """
    targets = np.empty(len(record), np.float32)
    samples.lambda_returns(float(record.outcome), record.values, record.movers, float(search_share), targets)
    return targets
