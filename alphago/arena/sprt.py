"""The sequential probability ratio test: stop a match as soon as its result is significant.

A match tests H1, "the first player is elo1 points stronger than the second", against H0, "elo0 points stronger".  The
generalised test estimates the most likely distribution of scores under each hypothesis and compares the two
likelihoods: Liu, Li, Ying 2014, "Generalized sequential probability ratio test for separate families of hypotheses"
(Sequential Analysis 33).  For scores of games, and of pairs of games from one opening (five outcomes), see Van den
Bergh, "A practical introduction to the GSPRT", which fishtest uses too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from alphago.arena.elo import expected_score
from alphago.system.validation import checks_keywords

MOST_ELO = 2000  # at such a difference the stronger player takes all but one point of 100 000
LEAST_COUNT = 1e-3  # the count of a score that has not occurred; a count of 0 would mean that it is impossible


class Verdict(NamedTuple):
    """The result of a test so far: `state` "accept" (H1 is accepted), "reject" (H0 is accepted) or "continue"."""

    state: Literal["accept", "reject", "continue"]
    ratio: float  # log likelihood ratio
    samples: int  # number of games or pairs tested


@checks_keywords()
@dataclass(frozen=True)
class Sprt:
    """A test of H1, "the first player is `elo1` Elo points above the second", against H0, "`elo0` points above".

    With elo0 = 0, accepting H1 shows a win rate above 50 %, with an error probability of alpha. The larger elo1, up to
    the true difference, the sooner the test decides.

    Attributes:
        alpha: the greatest probability of accepting H1 if H0 holds.
        beta: the greatest probability of rejecting H1 if H1 holds.  (Both probabilities follow Wald's approximation,
            1945.)
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            got = f"{self.elo0!r} and {self.elo1!r}"
            raise ValueError(f"elo0 must be below elo1, both from -{MOST_ELO} to {MOST_ELO}, got {got}")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, got {getattr(self, name)!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios (lower, upper): H1 is rejected at the lower one and accepted at the upper one."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[float] | np.ndarray) -> float:
        """Return the log likelihood ratio of H1 over H0.

        Args:
            counts: [3] or [5], how often each score occurred: loss, draw, win for single games; 0, 1/2, 1, 3/2 and 2
                points for pairs of games.
        """
        # A score that has not occurred yet is rare, not impossible.
        positive_counts = np.maximum(np.asarray(counts, np.float64), LEAST_COUNT)
        scores = np.linspace(0, 1, len(positive_counts))
        likelihood0 = log_likelihood(positive_counts, scores, expected_score(self.elo0))
        likelihood1 = log_likelihood(positive_counts, scores, expected_score(self.elo1))
        return likelihood1 - likelihood0

    def judge(self, scores: Sequence[float]) -> Verdict:
        """Return the verdict on scores of pairs of games (0 to 1), tested one after the other up to the first decision.

        Scores after the decision are ignored, so that the verdict does not depend on the order in which games ended.
        """
        low, high = self.bounds
        counts = np.zeros(5)  # of the scores of a pair: 0, 1/4, 1/2, 3/4 and 1
        ratio = 0.0
        for number, score in enumerate(scores, 1):
            counts[round(4 * score)] += 1
            ratio = self.ratio(counts)
            if not low < ratio < high:
                return Verdict("accept" if ratio >= high else "reject", ratio, number)
        return Verdict("continue", ratio, len(scores))


def log_likelihood(counts: np.ndarray, scores: np.ndarray, mean: float) -> float:
    """Return the greatest log likelihood, up to a constant, of a distribution over `scores` whose mean is `mean`.

    The most likely distribution is p_i = f_i / (1 + x (a_i - mean)), where f_i are the frequencies, a_i the scores and
    x solves sum f_i (a_i - mean) / (1 + x (a_i - mean)) = 0 (a Lagrange multiplier); the left side falls as x grows.

    Args:
        counts: [n], how often each score occurred.
        scores: [n], the possible scores, 0 .. 1.
    """
    deviations = scores - mean
    low, high = -1 / deviations.max(), -1 / deviations.min()  # for x between them all p_i are positive
    for _ in range(60):  # bisection down to the precision of float64
        x = (low + high) / 2
        if (counts * deviations / (1 + x * deviations)).sum() > 0:
            low = x
        else:
            high = x
    return -float((counts * np.log1p(x * deviations)).sum())


def pair_scores(outcomes: Sequence[float] | np.ndarray) -> list[float]:
    """Return the score of each pair of games (0, 1), (2, 3), …: 0, 1/4, 1/2, 3/4 or 1.

    Args:
        outcomes: the result of each game: positive a win, negative a loss, 0 a draw. A last game without a partner is
            ignored.
    """
    signs = np.sign(np.asarray(outcomes, np.float64))
    paired = signs[: len(signs) // 2 * 2].reshape(-1, 2)
    return ((paired.sum(axis=1) + 2) / 4).tolist()
