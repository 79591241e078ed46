"""The search settings that can be tuned, and the values at which a range of a setting is searched."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search_forms import all_fields, check_used
from alphago.system.validation import check_float, near_misses, shown

DIGITS = 3  # significant digits of the values in a range


def check_effect(name: str, search: SearchSettings, env: GameEnv) -> None:
    """Raise ValueError unless `name` is a search setting that has an effect in matches of `env` with `search`."""
    kind = type(search)
    check_used(kind, name)
    if name not in [field.name for field in fields(kind)]:
        raise ValueError(f"name must be a search setting, got {name!r}: {near_misses(name, all_fields(kind))}")
    if name in kind.noise_settings:
        raise ValueError(f"name must be a setting that matters in matches, got {name}: they are played without noise")
    if name == "decisive_moves" and not env.has_decisive_moves:
        raise ValueError(f"name must be a setting that has an effect, got decisive_moves: {env} has none")


def checked_value(search: SearchSettings, name: str, value: Any) -> Any:
    """Return `value` in the type of the setting `name`.

    Raises ValueError if the settings `search` with this value would be invalid.
    """
    return getattr(replace(search, **{name: value}), name)


def spread(search: SearchSettings, name: str, between: tuple[float, float], steps: int) -> list[Any]:
    """Return `steps` values in a range, and the value in `search` if it lies in the range.

    The value in `search` comes first, or the smallest value if there is no such value.  The other values follow,
    ordered by how many values lie between them and the first.

    name: the setting.  between: the ends of the range.
    """
    if len(between) != 2:
        raise ValueError(f"between must be two numbers, the smaller first, got {shown(between)}")
    low, high = (check_float("between", end) for end in between)
    in_use = getattr(search, name)
    if isinstance(in_use, bool) or not isinstance(in_use, (int, float)):
        raise ValueError(
            f"between must be left out for {name}, which is {text_of(in_use)} and no number: name its values"
        )
    if not low < high:
        raise ValueError(f"between must be two numbers, the smaller first, got {low:g} and {high:g}")
    grid = np.geomspace(low, high, steps) if low > 0 else np.linspace(low, high, steps)
    values = {checked_value(search, name, rounded(value, in_use)) for value in grid.tolist()}
    first = in_use if low <= in_use <= high else min(values)
    ordered = sorted(values | {first})
    return sorted(ordered, key=lambda value: abs(ordered.index(value) - ordered.index(first)))


def between_neighbours(search: SearchSettings, name: str, values: Iterable[Any], winner: Any) -> list[Any]:
    """Return the values halfway between the winner and its neighbours among `values`, unless they are in `values`.

    The halfway value is the geometric mean of two positive values, else the arithmetic mean.
    """
    ordered = sorted(values)
    place = ordered.index(winner)
    neighbours = [ordered[i] for i in (place - 1, place + 1) if 0 <= i < len(ordered)]
    new_values = []
    for neighbour in neighbours:
        middle = (winner * neighbour) ** 0.5 if min(winner, neighbour) > 0 else (winner + neighbour) / 2
        value = checked_value(search, name, rounded(middle, winner))
        if value not in ordered:
            new_values.append(value)
    return new_values


def rounded(value: float, like: float) -> float:
    """Round a value to DIGITS significant digits; if `like` is an integer, round it to an integer."""
    return round(value) if isinstance(like, int) else float(f"{value:.{DIGITS}g}")


def text_of(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
