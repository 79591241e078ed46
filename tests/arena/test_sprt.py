"""The sequential test: its likelihoods by other ways, and its verdicts."""

import math

import numpy as np
import pytest

from alphago.arena.elo import expected_score
from alphago.arena.sprt import Sprt, log_likelihood, pair_scores


class TestRatio:
    def test_wins_and_losses_alone(self) -> None:
        """Then it is the ratio of two binomial likelihoods."""
        p0, p1 = expected_score(0), expected_score(100)
        exact = 60 * math.log(p1 / p0) + 40 * math.log((1 - p1) / (1 - p0))
        assert Sprt(0, 100).ratio([40, 0, 60]) == pytest.approx(exact, abs=1e-3)

    @pytest.mark.parametrize("mean", [0.3, 0.5, 0.64, 0.9])
    def test_no_distribution_with_the_mean_is_likelier(self, mean: float) -> None:
        """Loss, draw and win: with the mean given, one of their probabilities is free."""
        counts = np.array([30.0, 40.0, 70.0])
        wins = np.linspace(0, 1, 200_001)
        draws = 2 * (mean - wins)
        losses = 1 - wins - draws
        fine = (wins > 0) & (draws > 0) & (losses > 0)
        frequencies = counts / counts.sum()
        best = (
            counts[0] * np.log(losses[fine] / frequencies[0])
            + counts[1] * np.log(draws[fine] / frequencies[1])
            + counts[2] * np.log(wins[fine] / frequencies[2])
        ).max()
        assert log_likelihood(counts, np.array([0, 0.5, 1]), mean) == pytest.approx(best, abs=1e-6)

    def test_openings_that_decide_games(self) -> None:
        """50 pairs, won once by each: as 100 single games they would say less."""
        test = Sprt(0, 100)
        assert test.ratio([0, 0, 50, 0, 0]) < 2 * test.ratio([50, 0, 50]) < 0


class TestVerdict:
    def test_bounds(self) -> None:
        assert Sprt(0, 10).bounds == pytest.approx((-2.9444, 2.9444), abs=1e-4)
        assert Sprt(0, 10, alpha=0.01, beta=0.1).bounds == pytest.approx((math.log(0.1 / 0.99), math.log(90)))

    def test_accepts_and_stops_there(self) -> None:
        verdict = Sprt(0, 100).judge([1.0] * 12 + [0.0] * 100)
        assert verdict.state == "accept"
        assert verdict.samples == 12
        assert verdict.ratio == Sprt(0, 100).ratio([0, 0, 0, 0, 12])
        assert verdict.ratio > Sprt(0, 100).bounds[1] > Sprt(0, 100).ratio([0, 0, 0, 0, 11])

    def test_goes_on(self) -> None:
        verdict = Sprt(0, 20).judge([0.5, 0.75, 0.25])
        assert (verdict.state, verdict.samples) == ("continue", 3)
        assert Sprt(0, 20).judge([]) == ("continue", 0, 0)

    @pytest.mark.parametrize("elos", [(10, 10), (5, math.nan), (0, 5000)])
    def test_hypotheses_that_are_none(self, elos: tuple[float, float]) -> None:
        with pytest.raises(ValueError, match="elo0 must be below elo1"):
            Sprt(*elos)


def test_pair_scores() -> None:
    """Graded results count as won or lost; a game without its partner does not count."""
    assert pair_scores([1, 1, 1, 0, 1, -1, 0, 0, -0.3, 0, -1, -1, 1]) == [1, 0.75, 0.5, 0.5, 0.25, 0]
    assert pair_scores([]) == []
