"""The threshold at which giving up would have been right, from games that were played out."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.loop import train_loop
from alphago.training.resignation import FEWEST, HIGHEST, KEPT_SIDES, NEVER, AdaptiveThreshold, calibrate, list_sides
from alphago.training.settings.selfplay_settings import draw_start
from tests.training.small_runs import games_in, opened, run


def game(black: list[float], white: list[float], outcome: float, resigned: bool = False) -> GameRecord:
    """A game with these values of the two sides, in turn."""
    builder = RecordBuilder()
    for one, other in zip(black, white, strict=True):
        for value, mover in ((one, 1), (other, -1)):
            builder.add(0, np.ones(1, np.float32), value, 1, mover)
    return builder.finish(outcome, outcome, resigned, 1)


def test_what_it_says_is_what_happens() -> None:
    """Counted again, side by side, on made-up games in which values tell something about the end."""
    random = np.random.default_rng(0)
    records = []
    for _ in range(400):
        strength = random.normal()
        values = np.tanh(strength * np.linspace(0.2, 1, 8) + random.normal(size=8) / 3)
        records.append(game(values.tolist(), (-values).tolist(), float(np.sign(strength + random.normal() / 4))))
    found = calibrate(list_sides(records))
    assert found is not None
    sides = [(record, side) for record in records for side in (1, -1)]
    lowest = np.array([record.values[record.movers == side].min() for record, side in sides])
    wins = np.array([record.outcome * side >= 0 for record, side in sides])
    resigned = lowest < found.threshold
    assert (resigned.sum(), wins[resigned].mean()) == (found.resigned, pytest.approx(found.wrong))
    assert found.wrong <= 0.05
    assert -1 < found.threshold < -0.1
    higher = [value for value in lowest if found.threshold < value < 0]
    assert all(wins[lowest <= value].mean() > 0.05 for value in higher)  # no higher threshold is as good


def test_games_that_prove_nothing() -> None:
    """Draws, games that were resigned or not searched, and too few; one more is enough."""
    for records in (
        [game([-0.9], [0.9], 0.0)] * 100,
        [game([-0.9], [0.9], -1, resigned=True)] * 100,
        [game([-0.9], [0.9], -1)] * (FEWEST - 1),
        [replace(game([-0.9], [0.9], -1), weights=np.zeros(2, np.float32))] * 100,
        [],
    ):
        assert calibrate(list_sides(records)) is None
    found = calibrate(list_sides([game([-0.9], [0.9], -1)] * FEWEST))
    assert found is not None
    assert found.threshold == pytest.approx(-0.45)  # half way to 0: nobody's lowest value lay between


class TestAdaptive:
    LOST = staticmethod(lambda low: game([low], [0.9], -1))

    def test_as_soon_as_enough_games_tell(self) -> None:
        """It follows the games: lower when sides that were sure of their loss win, and never where none was right."""
        adaptive = AdaptiveThreshold()
        adaptive.add([self.LOST(-0.95)] * (FEWEST - 1))
        assert adaptive.threshold is None
        adaptive.add([self.LOST(-0.95)])
        assert adaptive.threshold == HIGHEST  # half way to 0 is what they tell, and too much to risk
        adaptive.add([game([-0.9], [0.9], 1)] * 10)
        assert adaptive.fit is not None
        assert adaptive.threshold == adaptive.fit.threshold == pytest.approx(-0.925)
        adaptive.add([game([-0.99], [0.9], 1)] * 20)
        assert (adaptive.fit, adaptive.threshold) == (None, NEVER)
        adaptive.add([self.LOST(-0.999)] * KEPT_SIDES)
        assert adaptive.threshold == HIGHEST  # what was long ago is forgotten

    def test_it_goes_on(self) -> None:
        adaptive, other = AdaptiveThreshold(), AdaptiveThreshold()
        adaptive.add([self.LOST(-0.95 + i / 1000) for i in range(60)])
        other.restore(json.loads(json.dumps(adaptive.state())))
        assert (other.threshold, other.fit) == (adaptive.threshold, adaptive.fit)
        for one in (adaptive, other):
            one.add([game([-0.94], [0.9], 1)] * 9)
        assert other.state() == adaptive.state()


class TestRuns:
    def test_only_games_that_are_played_out_tell(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Which these are follows from a game's number: of the others some have resigned, and the rest is a choice."""
        # A threshold after a few games, which tiny networks reach.
        monkeypatch.setattr("alphago.training.resignation.FEWEST", 4)
        monkeypatch.setattr("alphago.training.resignation.HIGHEST", -0.02)
        with opened(tmp_path, 24, adaptive_resignation=True, no_resign_share=0.5) as made:
            train_loop(made, threading.Event())
            made.checkpoint()
            board = made.stage
            assert board.adaptive is not None
            records = games_in(tmp_path)
            own = [r for r in records if r.seed and not draw_start(board.variant, board.selfplay, *r.seed)[-1]]
            assert not any(record.resigned for record in own)
            assert set(list_sides(own)) <= set(board.adaptive.sides)
            assert len(board.adaptive.sides) < len(list_sides(records))

    def test_off(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path, 8, resign_threshold=-0.9)
        assert {row["resign_threshold"] for row in listener.rows} == {-0.9}
