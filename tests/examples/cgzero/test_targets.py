"""CGZero's targets by their formulas in plain Python."""

import numpy as np
import pytest
from targets import MixedTargets

from alphago.records.record import POLICY_SCALE, GameRecord, RecordBuilder


def record_of(plies: list[tuple[int, float, int, int]], outcome: float) -> GameRecord:
    """A game of four actions; of each ply action, search value, legal moves and mover."""
    builder = RecordBuilder()
    for action, value, legal, mover in plies:
        builder.add(action, np.array([0.25, 0.5, 0.25, 0.0], np.float32), value, legal, mover)
    return builder.finish(outcome, outcome, False, 4)


@pytest.mark.parametrize(("share", "growth"), [(0.9, 0.1), (0.7, 0.3), (0.0, 1.0)])
def test_results_that_count_more_and_more(share: float, growth: float) -> None:
    """k Z + (1 - k) Q, k by how many of the game's legal moves were seen; White moves twice in a row, and wins."""
    plies = [(0, 0.5, 4, 1), (1, -0.25, 1, -1), (2, 0.75, 3, -1), (3, 0.0, 2, 1)]
    seen, wanted = 0, []
    for _, value, legal, mover in plies:
        seen += legal
        k = share + growth * seen / 10  # of all plies
        wanted.append(k * -0.9 * mover + (1 - k) * value)
    found = MixedTargets(share, growth).values(record_of(plies, -0.9))
    assert found.dtype == np.float32
    assert found == pytest.approx(wanted, abs=1e-6)


def test_visits_the_move_played_and_what_is_between() -> None:
    """Of 20 plies: 4 of the search's alone, the last one (5 %) of the move played alone, in between a blend."""
    record = record_of([(ply % 4, 0.0, 4, 1 - ply % 2 * 2) for ply in range(20)], 1)
    found = MixedTargets(visits_until=0.2, played_from=0.95).policies([record] * 20, list(range(20)))
    for ply, row in enumerate(found):
        place = ply / 20
        share = 0 if place < 0.2 else 1 if place >= 0.95 else (place - 0.2) / 0.75
        visits = record.policies[ply] / POLICY_SCALE
        wanted = (1 - share) * visits / visits.sum() + share * np.eye(4)[record.moves[ply]]
        assert row == pytest.approx(wanted, abs=1e-6), ply
    assert found[19].tolist() == [0, 0, 0, 1]
