"""Axes of diagrams: their ends, their round numbers as text, and the values and heights that are drawn on them."""

import math
from collections.abc import Sequence

import numpy as np

SHARE = "%"  # the unit of shares, 0 .. 1, which are written in percent; more words may follow it


def axis_limits(values: Sequence[float], low: float | None = None, high: float | None = None) -> tuple[float, float]:
    """Return the lower and the upper end of an axis, which are never equal.

    Args:
        low, high: the given ends; None for the least and the greatest of `values`.
    """
    lower = min(values) if low is None else low
    upper = max(values) if high is None else high
    if upper - lower > 1e-9 * abs(lower):  # the ends differ by more than rounding errors
        return lower, upper
    # The upper end is not above the lower one: it is moved up, even if it was given.  The lower one is moved down,
    # unless it was given.
    room = 0.05 * abs(lower) or 0.5  # 0.5 if the ends are 0
    return (lower - room if low is None else low), lower + room


def ticks(low: float, high: float, steps: int) -> list[float]:
    """Return the round numbers of an axis between its ends, `low` < `high`, ascending, with at most `steps` steps."""
    least_step = (high - low) / steps
    power = 10.0 ** math.floor(math.log10(least_step))
    rounding = 1e-9  # numbers that differ only by rounding errors count as equal
    # The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not less than `least_step`.
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least_step * (1 - rounding))
    first, last = math.ceil(low / step - rounding), math.floor(high / step + rounding)
    return [i * step for i in range(first, last + 1)]


def number_text(value: float, unit: str = "") -> str:
    """Return a number of an axis as text, such as "0.25", "12k" or, if the unit begins with SHARE, "25%"."""
    if unit.startswith(SHARE):
        return f"{100 * value:.4g}%"
    size = abs(value)
    for least, factor, letter in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):  # 1000 to 9999 are short without a k
        if size >= least:
            return f"{value / factor:.4g}{letter}"
    return f"{value:.0e}" if 0 < size < 1e-3 else f"{round(value, 4):g}"


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move ascending values in 0 .. 1 apart, until neighbours differ by `gap`, or by less if there is no room.

    Args:
        values: the heights of names' middles.
        gap: the height of a name.

    Returns:
        The moved values.
    """
    gap = min(gap, 1 / max(1, len(values)))  # so small that all names have room between 0 and 1
    moved = list(values)
    for i in range(1, len(moved)):  # upwards, perhaps beyond 1
        moved[i] = max(moved[i], moved[i - 1] + gap)
    # The greatest value that is allowed at index i.  The highest name ends at 1, half a gap above its middle.
    limit = 1 - gap / 2
    for i in reversed(range(len(moved))):  # and back down from the limit
        moved[i] = min(moved[i], limit)
        limit = moved[i] - gap
    return moved


def smooth(values: Sequence[float], over: int) -> list[float]:
    """Return a moving average, with the same number of neighbours on both sides of each value.

    Args:
        over: there are at most len(values) / over neighbours on each side.  If there are fewer values
            than `over`, they stay unchanged.
    """
    most_neighbours = len(values) // over
    if not most_neighbours:
        return list(values)
    array = np.array(values, float)
    reaches = [min(most_neighbours, i, len(values) - 1 - i) for i in range(len(values))]
    return [float(array[i - reach : i + reach + 1].mean()) for i, reach in enumerate(reaches)]


def spaced_indices(count: int, most: int) -> list[int]:
    """Return at most `most` of the indices 0 .. count - 1, evenly spaced, with the first and the last.

    If `most` is 1, only the last index is returned.
    """
    shown = min(count, most)
    return [count - 1] if shown == 1 else [round(i * (count - 1) / (shown - 1)) for i in range(shown)]
