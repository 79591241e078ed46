"""The threshold at which giving up would have been right, from games that were played out."""

import numpy as np
import pytest

from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.judges.resignation import FEWEST, calibrate


def game(black: list[float], white: list[float], outcome: float, resigned: bool = False) -> GameRecord:
    """A game with these values of the two sides, in turn."""
    builder = RecordBuilder()
    for one, other in zip(black, white, strict=True):
        for value, mover in ((one, 1), (other, -1)):
            builder.add(0, np.ones(1, np.float32), value, 1, mover)
    return builder.finish(outcome, outcome, resigned, 1)


def test_a_clear_case() -> None:
    """Losers fall to -0.9; of the winners, one in ten was at -0.6 once and the others never below -0.2."""
    records = [game([0.1, -0.5, -0.9], [0.0, -0.2, 0.9], -1) for _ in range(90)]
    records += [game([0.1, -0.5, -0.9], [0.0, -0.6, 0.9], -1) for _ in range(10)]
    found = calibrate(records)
    assert found is not None
    assert -0.9 < found.threshold < -0.6  # at -0.6 and above, 10 of 110 would have been wrong
    assert (found.resigned, found.wrong) == (100, 0)
    more = calibrate(records, most_wrong=0.1)
    assert more is not None
    assert -0.6 < more.threshold < -0.2
    assert (more.resigned, more.wrong) == (110, pytest.approx(10 / 110))


def test_what_it_says_is_what_happens() -> None:
    """Counted again, game by game, on made-up games in which values tell something about the end."""
    random = np.random.default_rng(0)
    records = []
    for _ in range(400):
        strength = random.normal()
        values = np.tanh(strength * np.linspace(0.2, 1, 8) + random.normal(size=8) / 3)
        records.append(game(values.tolist(), (-values).tolist(), float(np.sign(strength + random.normal() / 4))))
    found = calibrate(records)
    assert found is not None
    resigned = wrong = 0
    for record in records:
        for side in (1, -1):
            if (record.values[record.movers == side] < found.threshold).any():
                resigned += 1
                wrong += record.outcome * side >= 0
    assert (resigned, wrong / resigned) == (found.resigned, pytest.approx(found.wrong))
    assert found.wrong <= 0.05
    assert -1 < found.threshold < -0.1


def test_draws_are_not_lost() -> None:
    records = [game([-0.9], [0.9], 0.0) for _ in range(100)]
    assert calibrate(records) is None


def test_resigned_games_prove_nothing() -> None:
    assert calibrate([game([-0.9], [0.9], -1, resigned=True) for _ in range(100)]) is None


@pytest.mark.parametrize("count", [0, FEWEST - 1])
def test_too_few_games(count: int) -> None:
    assert calibrate([game([-0.9], [0.9], -1)] * count) is None


def test_enough_games() -> None:
    found = calibrate([game([-0.9], [0.9], -1)] * FEWEST)
    assert found is not None
    assert found.threshold == pytest.approx(-0.45)  # half way to 0: nobody's lowest value lay between
