"""CGZero's targets: values mixed from results and search values, policies mixed from searches and moves played."""

from collections.abc import Sequence

import numpy as np

from alphago.records.record import GameRecord
from alphago.system.validation import check_ranges, setting, settings
from alphago.training.targets import search_policies

ROUNDING = 1e-6  # a sum of shares may exceed 1 by this rounding error


@settings
class MixedTargets:
    """Targets that change along a game.

    A value target is k times the result plus 1 - k times the search value.  A policy target is a mixture of the
    search's policy and the move played.  Both k and the share of the move played grow along the game.  The defaults are
    CGZero's (marchete 2020).
    """

    result_share: float = setting(
        "the result's share k of a value target at a game's beginning", default=0.9, least=0, most=1
    )
    result_growth: float = setting(
        "growth of the result's share from a game's beginning to its end, in proportion to the number of legal moves; "
        "`result_share` and `result_growth` sum to at most 1",
        default=0.1,
        least=0,
        most=1,
    )
    visits_until: float = setting(
        "place in a game, as a share of its plies, up to which policy targets are the search's policies; from there to "
        "`played_from` the move played gets a growing share; 1 for the search's policies in all of the game",
        default=0.2,
        least=0,
        most=1,
    )
    played_from: float = setting(
        "place in a game, as a share of its plies, from which policy targets are the move played alone",
        default=0.95,
        least=0,
        most=1,
    )

    def __post_init__(self) -> None:
        check_ranges(self)
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
        """Return k Z + (1 - k) Q for each of a record's T plies, float32 [T], from the view of the player to move.

        Z is the game's result, and Q is the ply's search value.  CGZero (github.com/marchete/CGZero) computes k as a
        base plus an increment times a fraction: the number of legal moves at all plies so far, divided by the number at
        all plies of the game.
        """
        total = max(record.legal_counts.sum(dtype=np.float64), 1.0)  # 1 for a game without moves
        progress = np.cumsum(record.legal_counts, dtype=np.float64) / total  # from above 0 to 1
        shares = self.result_share + self.result_growth * progress  # k
        results = record.outcome * record.movers
        return (shares * results + (1 - shares) * record.values).astype(np.float32)

    def policies(self, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
        """Return the policy target at ply `plies[i]` of `records[i]` for each i, float32 [n, A]; each row sums to 1."""
        policy = search_policies(records, plies)
        if self.visits_until < 1:
            pairs = list(zip(records, plies, strict=True))
            shares = np.array([self.played_share(ply / len(record)) for record, ply in pairs], np.float32)
            played = [record.moves[ply] for record, ply in pairs]
            policy *= 1 - shares[:, None]
            policy[np.arange(len(pairs)), played] += shares
        return policy

    def played_share(self, place: float) -> float:
        """Return the share of the move played in a policy target.

        Args:
            place: the ply divided by the game's number of plies, 0 .. 1.
        """
        if place >= self.played_from:
            return 1.0
        if place <= self.visits_until:
            return 0.0
        return (place - self.visits_until) / (self.played_from - self.visits_until)
