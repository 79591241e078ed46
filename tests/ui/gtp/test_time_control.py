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


# What is set and spent, whose next move with how many to come, and the seconds of which it may use its part.
CLOCKS = """
limits 0 1 0 | b 10 | inf
limits 0 0 0 | b 10 | inf
limits 60 30 0 | b 10 | inf
limits 100 0 0 | b 10 | 10
limits 100 0 0, spend b 60 | b 10 | 4
limits 100 0 0, spend b 60 | w 10 | 10
limits 100 0 0, spend b 60, spend b 60 | b 10 | 0
limits 100 0 0, spend b 60, spend b 60, reset | b 10 | 10
limits 10 30 5 | b 1000 | 6
limits 10 30 5, spend b 12 | b 1000 | 7
limits 10 30 5, spend b 12, spend b 5, spend b 5, spend b 5 | b 1000 | 13
limits 10 30 5, spend b 12, spend b 5, spend b 5, spend b 5, spend b 5 | b 1000 | 6
left w 12 3 | w 99 | 4
left b 300 0 | b 40 | 7.5
left b 300 0 | w 40 | inf
left b 300 0, reset | b 40 | inf
limits 100 0 0, left b 300 0 | w 10 | 10
limits 100 0 0, left b 300 0, reset | b 10 | 10
"""


@pytest.mark.parametrize("row", CLOCKS.strip().splitlines())
def test_the_share_of_a_move(row: str) -> None:
    """Main time, periods of 5 stones in 30 s, and what the controller says of one colour in one game."""
    clock, colours = Clock(), {"b": BLACK, "w": WHITE}
    verbs = {"limits": clock.set_limits, "left": clock.set_left, "spend": clock.spend, "reset": clock.reset}
    steps, asked, seconds = row.split(" | ")
    for step in steps.split(", "):
        verb, *words = step.split()
        verbs[verb](*(colours.get(word) or int(word) for word in words))
    colour, moves = asked.split()
    assert clock.share(colours[colour], int(moves)) == pytest.approx(max(0, 0.8 * float(seconds) - 0.05))


@pytest.mark.parametrize("cost", [0.001, 0.05, 1.0])
def test_a_game_within_its_time(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
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
