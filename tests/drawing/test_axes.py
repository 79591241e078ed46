"""Axes: round numbers, how they are written, and what is done to curves."""

import pytest

from alphago.drawing.axes import axis_limits, number_text, smooth, spaced_indices, spread, ticks


@pytest.mark.parametrize(
    ("values", "low", "high", "expected"),
    [
        ([1.0, 2.0], None, None, (1.0, 2.0)),
        ([20.0, 20.0], None, None, (19.0, 21.0)),
        ([0.0], 0.0, None, (0.0, 0.5)),
        ([0.3], 0.0, 1.0, (0.0, 1.0)),
        ([1e-6, 2e-6], None, None, (1e-6, 2e-6)),
        ([0.0], None, None, (-0.5, 0.5)),
    ],
)
def test_the_ends_of_an_axis(values: list[float], low: float | None, high: float | None, expected: tuple) -> None:
    assert axis_limits(values, low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0, 12000, [0, 2500, 5000, 7500, 10000]),
        (-0.04, 1.04, [0, 0.25, 0.5, 0.75, 1.0]),
        (57.3, 62.8, [58, 60, 62]),
        (1e-4, 2e-3, [5e-4, 1e-3, 1.5e-3, 2e-3]),
        (-400, 410, [-400, -200, 0, 200, 400]),
    ],
)
def test_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high, 5) == pytest.approx(expected)


def test_how_numbers_are_written() -> None:
    texts = ["0", "0.25", "5000", "12k", "12.35k", "2.5M", "-400", "1e-04", "-3e-05"]
    assert [number_text(value) for value in (0, 0.25, 5000, 12_000, 12_345, 2.5e6, -400, 1e-4, -3e-5)] == texts
    assert [number_text(value, "% of moves") for value in (0, 0.25, 0.125, 1)] == ["0%", "25%", "12.5%", "100%"]


def test_names_are_kept_apart() -> None:
    assert spread([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert spread([1.0, 1.0, 1.0], 0.1) == pytest.approx([0.75, 0.85, 0.95])
    assert spread([0.0, 0.0, 0.5], 0.1) == pytest.approx([0.0, 0.1, 0.5])


def test_smoothing_keeps_ends_and_straight_lines() -> None:
    assert smooth([1.0, 5.0, 2.0], 40) == [1.0, 5.0, 2.0]  # few points are left alone
    line = [0.5 * i for i in range(200)]
    assert smooth(line, 40) == pytest.approx(line)
    steps = [0.0] * 100 + [1.0] * 100
    assert smooth(steps, 40)[95:105] == pytest.approx([1 / 11 * k for k in range(1, 11)])


def test_a_few_of_many() -> None:
    assert [spaced_indices(8, 3), spaced_indices(8, 1), spaced_indices(3, 5)] == [[0, 4, 7], [7], [0, 1, 2]]
    assert [spaced_indices(1, 4), spaced_indices(101, 5)] == [[0], [0, 25, 50, 75, 100]]
    some = spaced_indices(1000, 240)
    assert (some[0], some[-1], len(some)) == (0, 999, 240)
