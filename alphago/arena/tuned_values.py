"""Values of a search setting that is tuned: which settings can be, and which values a range is searched at."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from alphago.mcts.search import SearchSettings
from alphago.system.validation import check_float, near_misses

NOISE = ("dirichlet_weight", "dirichlet_alpha")  # of self-play; matches have none
OF_PUCT = ("c_puct", "parent_value_weight", "first_play_reduction")
OF_GUMBEL = ("considered", "c_visit", "c_scale")
DIGITS = 3  # of the values that a range is searched at


def check_effect(name: str, search: SearchSettings) -> None:
    """Raise ValueError for what is no search setting, or one that does not matter in a match with this search."""
    known = [field.name for field in fields(search)]
    if name not in known:
        raise ValueError(f"name must be a search setting, got {name!r}: {near_misses(name, known)}")
    if name in NOISE:
        raise ValueError(f"name must be a setting that matters in matches, got {name}: they are played without noise")
    idle = OF_PUCT if search.gumbel else OF_GUMBEL
    if name in idle:
        rule, other = ("Gumbel", "puct") if search.gumbel else ("PUCT", "gumbel")
        raise ValueError(f"name must be a setting of {rule} search, got {name}: it needs search {other!r}")


def checked_value(search: SearchSettings, name: str, value: Any) -> Any:
    """Return a value as the search keeps it; raise ValueError, which names the setting, for an impossible one."""
    kept = getattr(replace(search, **{name: value}), name)
    return float(kept) if isinstance(getattr(SearchSettings(), name), float) else kept


def spread(search: SearchSettings, name: str, between: tuple[float, float], steps: int) -> list[Any]:
    """Return values in a range: the one in use first, if it is there, then the others, the nearest to it first."""
    low, high = (check_float("between", end) for end in between)
    first = getattr(search, name)
    if isinstance(first, bool) or not isinstance(first, (int, float)):
        raise ValueError(f"between must be left out for {name}, which is {shown(first)} and no number: name its values")
    if not low < high:
        raise ValueError(f"between must be two numbers, the smaller first, got {low:g} and {high:g}")
    ends = np.geomspace(low, high, steps) if low > 0 else np.linspace(low, high, steps)
    values = {checked_value(search, name, rounded(one, first)) for one in ends.tolist()}
    start = first if low <= first <= high else min(values)
    values |= {start}
    place = sorted(values).index(start)
    return [value for _, value in sorted((abs(i - place), value) for i, value in enumerate(sorted(values)))]


def between_neighbours(search: SearchSettings, name: str, values: Iterable[Any], winner: Any) -> list[Any]:
    """Return the values halfway between the winner and its neighbours, as far as there are any."""
    ordered = sorted(values)
    place = ordered.index(winner)
    found = []
    for other in (*ordered[max(0, place - 1) : place], *ordered[place + 1 : place + 2]):
        middle = (winner * other) ** 0.5 if min(winner, other) > 0 else (winner + other) / 2
        value = checked_value(search, name, rounded(middle, winner))
        if value not in ordered:
            found.append(value)
    return found


def rounded(value: float, like: float) -> float:
    """Return a number of few digits; an integer where the setting's value in use is one."""
    return round(value) if isinstance(like, int) else float(f"{value:.{DIGITS}g}")


def shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
