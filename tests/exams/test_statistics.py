"""Intervals on numbers whose intervals are known, pairs, and halves."""

import math

import numpy as np
import pytest

from alphago.exams import statistics

Z = 1.959964


class TestIntervals:
    def test_share(self) -> None:
        """Wilson's for 0 of 10: from 0 to z^2 / (n + z^2)."""
        found = statistics.estimate_share(np.zeros(10, np.bool_))
        assert (found.value, found.low) == (0, 0)
        assert found.high == pytest.approx(Z**2 / (10 + Z**2))

    def test_root_mean_square(self) -> None:
        """Errors of 3 and 4: the root of 12.5; squares of 9 and 16 have a standard error of 3.5."""
        found = statistics.root_mean_square(np.array([3.0, -4.0]))
        assert found.value == pytest.approx(math.sqrt(12.5))
        assert found.margin == pytest.approx(Z * 3.5 / (2 * math.sqrt(12.5)))

    def test_correlation(self) -> None:
        x = np.arange(103.0)
        noise = np.where(np.arange(103) % 2, 40.0, -40.0)
        found = statistics.estimate_correlation(x, x + noise)
        assert found.value == pytest.approx(np.corrcoef(x, x + noise)[0, 1])
        assert math.atanh(found.high) - math.atanh(found.low) == pytest.approx(2 * Z / 10)
        assert found.low < found.value < found.high < 1

    def test_unknown(self) -> None:
        assert all(map(math.isnan, statistics.estimate_mean(np.zeros(0))))
        assert all(map(math.isnan, statistics.root_mean_square(np.array([1.0, math.nan]))))
        assert all(map(math.isnan, statistics.estimate_correlation(np.ones(9), np.arange(9.0))))
        one = statistics.estimate_mean(np.array([2.5]))
        assert one.value == 2.5
        assert math.isnan(one.margin)


class TestPairs:
    def test_roots(self) -> None:
        errors = np.random.default_rng(2).normal(0, 1, 200)
        found = statistics.root_difference(2 * errors, errors)
        assert found.value == pytest.approx(statistics.root_mean_square(errors).value)
        # The difference is a root mean square itself, so its interval is that of the errors.
        assert found.margin == pytest.approx(statistics.root_mean_square(errors).margin)
        assert all(map(math.isnan, statistics.root_difference(errors, np.full(200, math.nan))))


class TestHalves:
    def test_their_gap_is_twice_the_standard_error(self) -> None:
        values = np.random.default_rng(3).normal(5, 2, 400)
        found = statistics.compare_halves(values)
        assert found.gap == pytest.approx(2 * statistics.estimate_mean(values).margin / Z, rel=0.1)
        assert found.agreement == 1

    def test_one_position(self) -> None:
        with pytest.raises(ValueError, match="halves must be of two positions or more, got 1"):
            statistics.compare_halves(np.ones(1))
