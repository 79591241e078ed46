"""The curriculum: smaller boards on which a run begins."""

import operator
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.system.validation import check_float

Curriculum = tuple[tuple[int, float], ...]  # pairs (board size, share of the run)


def check_curriculum(given: Any) -> Curriculum:
    """Return the setting `curriculum` as tuples; raise ValueError if it is invalid."""
    try:
        pairs = tuple((operator.index(size), check_float("share", share)) for size, share in given)
        shares = [share for _, share in pairs]
        is_valid = all(share > 0 for share in shares) and sum(shares) < 1
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError(
            "curriculum must be pairs (board size, share of the run) with shares that sum to less than 1, "
            f"got {given!r}"
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
    ends = np.cumsum([share for _, share in curriculum]).tolist()
    return [*map(Lesson, games, ends), Lesson(env, 1.0)]
