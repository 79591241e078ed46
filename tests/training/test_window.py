"""The window of a run: how it grows, and when what is learned from."""

import numpy as np
import pytest

from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.memory import ReplayMemory, window
from alphago.training.settings.learning_settings import Window
from alphago.training.targets import LambdaReturns
from tests.training.small_runs import GO


def game_of(plies: int) -> GameRecord:
    builder = RecordBuilder()
    for ply in range(plies):
        builder.add(9, np.eye(10, dtype=np.float32)[9], 0.0, 10, 1 - 2 * (ply % 2))
    return builder.finish(-1, -0.5, True, 10)


def memory(start: int, size: int = 1000) -> ReplayMemory:
    return Window(size, 1.0).make_memory(GO, targets=LambdaReturns(0.0), masked=False, start=start, seed=0)


def remember(memory: ReplayMemory, times: int) -> list[float]:
    """The samples due each time that a game of ten plies comes."""
    return [memory.remember([game_of(10)]) for _ in range(times)]


class TestDue:
    def test_all_that_came_before_the_start_is_learned_from_once(self) -> None:
        assert remember(memory(35), 6) == [0, 0, 0, 40, 10, 10]

    def test_a_memory_keeps_what_the_start_waits_for(self) -> None:
        """However small the window is."""
        kept = memory(35, size=20)
        assert remember(kept, 5) == [0, 0, 0, 40, 10]
        assert len(kept) == 40

    def test_a_later_start_does_not_make_old_positions_due_again(self) -> None:
        """A run that goes on with a larger start_training_after waits for so many, and learns from new ones then."""
        before, records = memory(15), [game_of(10)] * 3
        assert [before.remember([record]) for record in records] == [0, 20, 10]
        later = memory(55)
        later.restore(records, before.state())
        assert remember(later, 4) == [0, 0, 10, 10]

    def test_what_is_fresh(self) -> None:
        """The positions of the games that came last."""
        kept = memory(0)
        generator = np.random.default_rng(0)
        remember(kept, 3)
        kept.remember([game_of(4), game_of(3)])
        fresh = kept.fresh(200, generator)
        assert fresh is not None
        assert kept.newly_added == 7
        assert kept.remember([]) == 0
        assert kept.fresh(200, generator) is None


def test_the_window_grows_more_slowly_than_the_run() -> None:
    assert window(0) == window(30_000) == 30_000
    sizes = [window(positions) for positions in (60_000, 300_000, 1_000_000, 10_000_000)]
    assert sizes == sorted(sizes)
    assert sizes[2] == pytest.approx(30_000 * (1 + 0.4 * ((1_000_000 / 30_000) ** 0.75 - 1) / 0.75), abs=1)
    shares = [size / positions for size, positions in zip(sizes, (6e4, 3e5, 1e6, 1e7), strict=True)]
    assert shares == sorted(shares, reverse=True)
