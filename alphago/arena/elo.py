"""Elo ratings from the results of a round robin."""

import math
from typing import NamedTuple

import numpy as np

POINTS_PER_NAT = 400 / math.log(10)  # the rating difference at which the odds are multiplied by e
PRIOR_GAMES = 1.0  # drawn games added to every pair that met, so that a score of 100 % gives a finite rating
Z = 1.959964  # standard deviations of a two-sided 95 % interval
MOST_STEPS = 100  # of Newton's method
LAST_STEP = 1e-10  # nats; a shorter step ends Newton's method


class Rating(NamedTuple):
    """A rating in Elo points with the ends of its 95 % interval.

    All three are NaN for a player that no chain of matches connects with the anchor.
    """

    elo: float
    low: float
    high: float


def expected_score(difference: float) -> float:
    """Return the expected points per game, 0 to 1, of a player rated `difference` Elo points above its opponent."""
    return 1 / (1 + 10 ** (-difference / 400))


def elo_difference(win_rate: float, games: int) -> Rating:
    """Return the rating, relative to its opponent's, of a player with this win rate in a match of `games` games."""
    points = win_rate * games
    return elo_ratings(np.array([[0, points], [games - points, 0]]), anchor=1)[0]


def elo_ratings(points: np.ndarray, *, anchor: int = 0, anchor_elo: float = 0.0) -> list[Rating]:
    """Return each player's rating, by maximum likelihood in the model of Bradley and Terry (1952).

    One drawn game is added for each pair that met, as a prior: so a player that won all n games is rated 400 log10(2 n
    + 1) points above its opponent, with a wide interval. Intervals come from the inverse Hessian of the log likelihood
    and assume independent wins and losses; with many draws they are too wide.

    Args:
        points: float [P, P]; points[i, j] is what player i scored against player j: 1 for a win, half a point for a
            draw.
        anchor: index of the player whose rating is fixed at `anchor_elo`; intervals are relative to it.
    """
    points = np.asarray(points, np.float64)
    met = (points + points.T) > 0  # [P, P], whether two players have met
    points = points + PRIOR_GAMES / 2 * met
    games = points + points.T
    # The players whom a chain of matches connects with the anchor.  The power of the matrix has the chains of up to P
    # matches, and none is longer.
    met_or_same = met | np.eye(len(met), dtype=np.bool_)  # so that shorter chains count too
    connected = np.flatnonzero(np.linalg.matrix_power(met_or_same, len(met))[anchor])
    free = connected[connected != anchor]  # indices of the players whose strength is to be found
    strengths = np.zeros(len(points))  # in nats
    hessian = np.zeros((0, 0))  # of the negative log likelihood, for the free players
    for _ in range(MOST_STEPS):
        chances = 1 / (1 + np.exp(strengths[None] - strengths[:, None]))  # [P, P], chance that i beats j
        gradient = (points - games * chances).sum(axis=1)[free]
        weights = games * chances * (1 - chances)
        hessian = (np.diag(weights.sum(axis=1)) - weights)[np.ix_(free, free)]
        step = np.linalg.solve(hessian, gradient)
        # Far from the maximum a full Newton step can overshoot, so its length is limited to 1.
        strengths[free] += step / max(1.0, float(np.abs(step).max(initial=0)))
        if np.abs(step).max(initial=0) < LAST_STEP:
            break
    half_widths = np.full(len(points), np.nan)  # in nats, NaN for players that are not connected
    half_widths[free] = Z * np.sqrt(np.diag(np.linalg.inv(hessian)))
    half_widths[anchor] = 0
    half_widths *= POINTS_PER_NAT
    ratings = np.where(np.isnan(half_widths), np.nan, anchor_elo + POINTS_PER_NAT * strengths)
    columns = np.stack([ratings, ratings - half_widths, ratings + half_widths], axis=1)
    return [Rating(*numbers) for numbers in columns.tolist()]
