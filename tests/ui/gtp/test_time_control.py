"""Time settings, and how much of its time the engine uses."""

from types import SimpleNamespace

import numpy as np
import pytest

from alphago import GameBatch, GoEnv
from alphago.mcts import questions, search_group
from alphago.mcts.evaluator import UniformEvaluator
from alphago.ui.gtp import gtp_engine
from alphago.ui.gtp.game_commands import GoEngine
from alphago.ui.gtp.time_control import Clock
from tests.ui.gtp.engine import BLACK, WHITE, ask


class FakeTime(UniformEvaluator):
    """Time that goes on by `cost` seconds with every evaluation."""

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.evaluations = 0

    @property
    def now(self) -> float:
        return self.evaluations * self.cost

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.evaluations += len(slots)
        super().evaluate(batch, slots, priors, values)


class TestClock:
    def test_no_limit(self) -> None:
        clock = Clock()
        for settings in ((0, 1, 0), (0, 0, 0), (60, 30, 0)):
            clock.set_limits(*settings)
            assert clock.share(BLACK, 10) == float("inf")

    def test_main_time(self) -> None:
        clock = Clock()
        clock.set_limits(100, 0, 0)
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.spend(BLACK, 60)
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 4 - 0.05)
        assert clock.share(WHITE, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.spend(BLACK, 60)
        assert clock.share(BLACK, 10) == 0
        clock.reset()
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)

    def test_periods(self) -> None:
        """10 s, then 5 stones in 30 s again and again."""
        clock = Clock()
        clock.set_limits(10, 30, 5)
        assert clock.left[BLACK] == (10, 0)
        assert clock.share(BLACK, 1000) == pytest.approx(0.8 * 6 - 0.05)
        clock.spend(BLACK, 12)
        assert clock.left[BLACK] == (28, 4)
        for _ in range(3):
            clock.spend(BLACK, 5)
        assert clock.left[BLACK] == (13, 1)
        assert clock.share(BLACK, 1000) == pytest.approx(0.8 * 13 - 0.05)
        clock.spend(BLACK, 5)
        assert clock.left[BLACK] == (30, 5)

    def test_what_the_controller_says_counts(self) -> None:
        clock = Clock()
        clock.set_left(WHITE, 12, 3)
        assert clock.share(WHITE, 99) == pytest.approx(0.8 * 4 - 0.05)

    def test_what_it_says_of_one_colour_is_of_that_one_in_that_game(self) -> None:
        """No settings came: the other colour, and the next game, have no limit."""
        clock = Clock()
        clock.set_left(BLACK, 300, 0)
        assert clock.share(BLACK, 40) == pytest.approx(0.8 * 7.5 - 0.05)
        assert clock.share(WHITE, 40) == float("inf")
        clock.reset()
        assert clock.share(BLACK, 40) == float("inf")
        clock.set_limits(100, 0, 0)
        clock.set_left(BLACK, 300, 0)
        assert clock.share(WHITE, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.reset()
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)

    @pytest.mark.parametrize("cost", [0.001, 0.05, 1.0])
    def test_a_game_within_its_time(self, cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
        """An evaluation costs `cost` seconds of a clock that only it moves on; 30 s for all of a game."""
        time = FakeTime(cost)
        for module in (questions, search_group, gtp_engine):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: time.now))
        gtp = GoEngine(GoEnv(5), time, 400)
        ask(gtp, "time_settings 30 0 0")
        begin, searched = time.now, []
        for _ in range(40):
            before = time.now
            ask(gtp, "genmove b", "play w pass")
            searched.append(time.now - before)
        assert time.now - begin <= 30 + 40 * cost  # the raw policy's one evaluation is the least there is
        if cost == 0.001:
            assert searched[0] == pytest.approx(0.4, abs=0.01)  # all readouts
        if cost == 0.05:
            assert 1 < searched[0] < 4  # fewer, and the time is used
