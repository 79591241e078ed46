"""What a run begins with: smaller boards (the curriculum), narrower networks (growth)."""

import operator
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.system.validation import check_float

Curriculum = tuple[tuple[int, float], ...]  # pairs (board size, share of the run)
Growth = tuple[tuple[int, float], ...]  # pairs (channels, share of the run)


def check_curriculum(given: Any) -> Curriculum:
    """Return the setting `curriculum` as tuples; raise ValueError if it is invalid."""
    return check_pairs(given, "curriculum", "board size")


def check_growth(given: Any) -> Growth:
    """Return the setting `growth` as tuples; raise ValueError if it is invalid."""
    pairs = check_pairs(given, "growth", "channels")
    widths = [channels for channels, _ in pairs]
    if any(channels < 1 for channels in widths) or widths != sorted(set(widths)):
        raise ValueError(f"growth must have more channels from pair to pair, and at least 1, got {given!r}")
    return pairs


def check_pairs(given: Any, name: str, first: str) -> tuple[tuple[int, float], ...]:
    """Return a setting's pairs (integer, share of the run) as tuples.

    name, first: names of the setting and of the integer.
    Raises ValueError for anything else, and unless the shares sum to less than 1.
    """
    try:
        pairs = tuple((operator.index(number), check_float("share", share)) for number, share in given)
        shares = [share for _, share in pairs]
        is_valid = all(share > 0 for share in shares) and sum(shares) < 1
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError(
            f"{name} must be pairs ({first}, share of the run) with shares that sum to less than 1, got {given!r}"
        )
    return pairs


class Lesson(NamedTuple):
    """A game that is played until the run's progress (0 .. 1) reaches `end`."""

    env: GameEnv
    end: float


def lessons(env: GameEnv, curriculum: Curriculum) -> list[Lesson]:
    """Return the games that a run plays, in order; the last one is `env`.

    Raises ValueError if the game has no board of a size in the curriculum.
    """
    games = [env if size == env.N else env.resized(size) for size, _ in curriculum]
    return [*map(Lesson, games, ends_of(curriculum)), Lesson(env, 1.0)]


def ends_of(pairs: tuple[tuple[int, float], ...]) -> list[float]:
    """Return for each pair the progress at which its share of the run ends, when the pairs follow one another."""
    return np.cumsum([share for _, share in pairs]).tolist()


def channels_at(progress: float, growth: Growth, last: int) -> int:
    """Return the number of channels at a run's progress; last: that of the whole network."""
    return next((channels for (channels, _), end in zip(growth, ends_of(growth), strict=True) if progress < end), last)
