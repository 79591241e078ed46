"""Elo: two players by hand, many by their strengths, and how far a rating can be trusted."""

import math

import numpy as np
import pytest

from alphago.arena.elo import elo_ratings, expected_score


class TestTwoPlayers:
    @pytest.mark.parametrize(("won", "lost"), [(120, 80), (200, 0), (3, 7), (55.5, 44.5)])
    def test_by_hand(self, won: float, lost: float) -> None:
        """One drawn game is added, so that all won stays finite; the variance of the log odds is 1 / (n p q)."""
        first, second = elo_ratings(np.array([[0, won], [lost, 0]]), anchor=1)
        w, n = won + 0.5, won + lost + 1
        nat = 400 / math.log(10)
        assert first.elo == pytest.approx(400 * math.log10(w / (n - w)))
        assert first.high - first.elo == pytest.approx(1.959964 * nat / math.sqrt(w * (n - w) / n))
        assert first.elo - first.low == pytest.approx(first.high - first.elo)
        assert second == (0, 0, 0)

    def test_anchor(self) -> None:
        points = np.array([[0, 30], [70, 0]])
        first, second = elo_ratings(points, anchor=1, anchor_elo=1800)
        other = elo_ratings(points, anchor=0)
        assert second == (1800, 1800, 1800)
        assert first.elo - 1800 == pytest.approx(-other[1].elo)
        assert first.high - first.low == pytest.approx(other[1].high - other[1].low)


class TestManyPlayers:
    def test_the_likelihood_is_at_its_maximum(self) -> None:
        """There each player has as many points as expected, the prior's draws included."""
        points = np.random.default_rng(0).integers(0, 40, (6, 6)).astype(float)
        np.fill_diagonal(points, 0)
        elos = [rating.elo for rating in elo_ratings(points)]
        games = points + points.T + 1
        for i in range(6):
            others = [j for j in range(6) if j != i]
            made = sum(points[i, j] + 0.5 for j in others)
            expected = sum(games[i, j] * expected_score(elos[i] - elos[j]) for j in others)
            assert made == pytest.approx(expected, abs=1e-6)

    def test_players_not_connected_with_the_anchor(self) -> None:
        points = np.zeros((4, 4))
        points[0, 1], points[1, 0], points[2, 3] = 5, 5, 4
        ratings = elo_ratings(points)
        assert [math.isnan(rating.elo) for rating in ratings] == [False, False, True, True]
        assert all(math.isnan(value) for value in ratings[3])
        assert ratings[1].elo == pytest.approx(0)
