"""Means, shares and errors with 95 % intervals, their differences on the same positions, and halves of an exam."""

import math
from typing import NamedTuple

import numpy as np

from alphago.arena.elo import Z
from alphago.arena.match_result import wilson

SPLITS = 1000  # number of random divisions of the positions into halves
# Student's t for 95 % and 1 to 8 degrees of freedom; for more, the expansion in `student` is precise to a thousandth.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306)


class Estimate(NamedTuple):
    """An estimated number with the ends of its 95 % interval; all are NaN if it is unknown."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half of the length of the interval."""
        return (self.high - self.low) / 2


class Halves(NamedTuple):
    """How much a mean differs between random halves of an exam.

    Attributes:
        gap: the root mean square of the difference between the means of the two halves.
        agreement: the share of halvings in which both means have the same sign, 0 .. 1.
    """

    gap: float
    agreement: float


UNKNOWN = Estimate(math.nan, math.nan, math.nan)


def around(value: float, influence: np.ndarray, quantile: float = Z) -> Estimate:
    """Return an estimate whose interval follows from how each of n positions influences it.

    Args:
        value: the estimated number.
        influence: numbers [n], one for each position.  If other positions had been drawn, `value` would change as the
            mean of these numbers, to first order.  A constant added to all of them does not matter.  The positions are
            taken as independent.
        quantile: the interval's half-length in standard errors.
    """
    if len(influence) < 2:
        return Estimate(value, math.nan, math.nan)
    margin = quantile * float(np.std(influence, ddof=1)) / math.sqrt(len(influence))
    return Estimate(value, value - margin, value + margin)


def estimate_mean(values: np.ndarray, quantile: float = Z) -> Estimate:
    """Return the mean of numbers [n]; UNKNOWN for none; quantile: as in `around`."""
    return around(float(values.mean()), values, quantile) if len(values) else UNKNOWN


def student(freedom: int) -> float:
    """Return Student's t for 95 % and some degrees of freedom >= 1 (Abramowitz and Stegun 1964, 26.7.5)."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    return Z + (Z**3 + Z) / (4 * freedom) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom**2)


def mean_of_few(values: np.ndarray) -> Estimate:
    """Return the mean of numbers [n] with Student's interval, for few numbers of unknown variance; UNKNOWN for none."""
    # Fewer than two numbers have no interval; for them any degrees of freedom will do.
    return estimate_mean(values, student(max(len(values) - 1, 1)))


def estimate_share(flags: np.ndarray) -> Estimate:
    """Return the share of True among bools [n], 0 .. 1, with Wilson's interval; UNKNOWN for none."""
    if not len(flags):
        return UNKNOWN
    share = float(flags.mean())
    return Estimate(share, *wilson(share, len(flags)))


def root_mean_square(errors: np.ndarray) -> Estimate:
    """Return the root of the mean square of errors [n]; UNKNOWN for none, or if one is NaN."""
    return root_difference(errors, np.zeros(len(errors)))


def mean_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the mean of first - second, both [n] on the same positions; bools count as 0 and 1."""
    return estimate_mean(first.astype(np.float64) - second.astype(np.float64))


def root_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return RMS(first) - RMS(second), root mean squares of errors [n] on the same positions.

    It is UNKNOWN for no errors, or if one is NaN.
    """
    if not len(first) or np.isnan([first, second]).any():
        return UNKNOWN
    roots = [math.sqrt(float(np.mean(errors**2))) for errors in (first, second)]
    # The delta method: how much each position moves a root, whose derivative is 1 / (2 root); 1e-12 for a root of 0.
    moved = [errors**2 / max(2 * root, 1e-12) for errors, root in zip((first, second), roots, strict=True)]
    return around(roots[0] - roots[1], moved[0] - moved[1])


def estimate_correlation(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the correlation of two numbers, each [n], with Fisher's interval; UNKNOWN if one is constant or n < 4."""
    if len(first) < 4 or np.isnan([first, second]).any() or np.std(first) == 0 or np.std(second) == 0:
        return UNKNOWN
    correlation = float(np.corrcoef(first, second)[0, 1])
    middle = math.atanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))  # infinite at -1 and 1
    margin = Z / math.sqrt(len(first) - 3)
    return Estimate(correlation, math.tanh(middle - margin), math.tanh(middle + margin))


def compare_halves(values: np.ndarray) -> Halves:
    """Return how the means of random halves of numbers [n] differ, from SPLITS halvings.

    If the numbers are differences of two players, a mean's sign tells which player is better.

    Raises:
        ValueError: for fewer than two numbers.
    """
    if len(values) < 2:
        raise ValueError(f"halves must be of two positions or more, got {len(values)}")
    middle = len(values) // 2
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(len(values)), (SPLITS, 1)), axis=1)  # [SPLITS, n]
    first, second = values[orders[:, :middle]].mean(axis=1), values[orders[:, middle:]].mean(axis=1)  # each [SPLITS]
    gap = float(np.sqrt(np.mean((first - second) ** 2)))
    return Halves(gap, agreement=float(np.mean(np.sign(first) == np.sign(second))))
