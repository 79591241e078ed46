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
    connected = connected_players(met, anchor)
    free = np.flatnonzero(connected & (np.arange(len(met)) != anchor))  # the players whose strength is to be found
    strengths, errors = likeliest_strengths(points + PRIOR_GAMES / 2 * met, free)
    elos = anchor_elo + POINTS_PER_NAT * strengths
    half_widths = Z * errors * POINTS_PER_NAT
    columns = np.stack([elos, elos - half_widths, elos + half_widths], axis=1)
    columns[~connected] = np.nan
    return [Rating(*numbers) for numbers in columns.tolist()]


def connected_players(met: np.ndarray, anchor: int) -> np.ndarray:
    """Return which players a chain of matches connects with the anchor, bool [P]; the anchor itself is one of them.

    Args:
        met: bool [P, P], whether two players have met.
    """
    connected = np.arange(len(met)) == anchor
    for _ in met:  # each turn adds the opponents of those that are connected; no chain has more than P matches
        connected |= met[connected].any(axis=0)
    return connected


def likeliest_strengths(points: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the players' strengths of maximum likelihood, by Newton's method, and their standard errors.

    Args:
        points: float64 [P, P], as in `elo_ratings`, with the prior's games.
        free: int64 [F], the players whose strengths vary; the others' strengths are 0.

    Returns:
        Strengths and errors are float64 [P], in nats; errors are 0 for the players that are not free.
    """
    games = points + points.T
    strengths, errors = np.zeros((2, len(points)))
    for _ in range(MOST_STEPS):
        chances = 1 / (1 + np.exp(strengths[None] - strengths[:, None]))  # [P, P], chance that i beats j
        gradient = (points - games * chances).sum(axis=1)[free]  # of the log likelihood
        weights = games * chances * (1 - chances)
        hessian = (np.diag(weights.sum(axis=1)) - weights)[np.ix_(free, free)]  # of the negative log likelihood
        step = np.linalg.solve(hessian, gradient)
        length = float(np.abs(step).max(initial=0))
        strengths[free] += step / max(1.0, length)  # far from the maximum a full step can overshoot
        if length < LAST_STEP:
            break
    errors[free] = np.sqrt(np.diag(np.linalg.inv(hessian)))
    return strengths, errors
