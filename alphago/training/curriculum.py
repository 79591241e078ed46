"""The boards of a run: the settings `curriculum` and `sizes`, and the stages that follow from them."""

import operator
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.system.validation import check_float

Sizes = tuple[tuple[int, float], ...]  # boards of one stage, as pairs (board size, share)
Curriculum = tuple[tuple[int | Sizes, float], ...]  # pairs (board size or sizes, share of the run)


def check_curriculum(given: Any) -> Curriculum:
    """Return the setting `curriculum` as tuples; raise ValueError if it is invalid."""
    try:
        steps = tuple((check_boards(boards), check_float("share", share)) for boards, share in given)
    except (TypeError, ValueError):
        steps = ((0, -1.0),)
    if not (all(share > 0 and sizes for sizes, share in steps) and sum(share for _, share in steps) < 1):
        raise ValueError(
            "curriculum must be pairs (board size, share of the run) with shares that sum to less than 1, where sizes "
            f"with their shares may stand for a board size, got {given!r}"
        )
    return steps


def check_boards(given: Any) -> int | Sizes:
    """Return the board size, or the pairs of sizes and shares, of one step of a curriculum.

    Raises TypeError or ValueError for anything else.
    """
    return check_sizes(given) if isinstance(given, (tuple, list)) else operator.index(given)


def check_sizes(given: Any) -> Sizes:
    """Return the setting `sizes` as tuples; raise ValueError unless sizes differ and their shares sum to 1."""
    try:
        sizes = tuple((operator.index(size), check_float("share", share)) for size, share in given)
    except (TypeError, ValueError):
        sizes = ((0, -1.0),)
    total = sum(share for _, share in sizes)
    different = len({size for size, _ in sizes}) == len(sizes)
    if sizes and not (all(share > 0 for _, share in sizes) and abs(total - 1) < 0.01 and different):
        raise ValueError(
            f"sizes must be pairs (board size, share) with different sizes and shares that sum to 1, got {given!r}"
        )
    return sizes


class Stage(NamedTuple):
    """A stage of a run: boards that are played in parallel until the run's progress (0 .. 1) reaches `end`.

    boards: pairs of a game on one board and its share of the moves.
    """

    boards: tuple[tuple[GameEnv, float], ...]
    end: float


def stages(env: GameEnv, curriculum: Curriculum, sizes: Sizes) -> list[Stage]:
    """Return the stages of a run, in order.

    curriculum, sizes: the run's settings.
    Raises ValueError if the game has no board of a size in the settings, or if `sizes` lacks the game's own size.
    """
    if sizes and env.N not in dict(sizes):
        raise ValueError(f"sizes must include the size of the game, {env.N}, got {sizes!r}")

    def boards(chosen: int | Sizes) -> tuple[tuple[GameEnv, float], ...]:
        pairs = ((chosen, 1.0),) if isinstance(chosen, int) else chosen
        return tuple((env if size == env.N else env.resized(size), share) for size, share in pairs)

    ends = np.cumsum([share for _, share in curriculum]).tolist()
    first = [Stage(boards(chosen), end) for (chosen, _), end in zip(curriculum, ends, strict=True)]
    return [*first, Stage(boards(sizes or env.N), 1.0)]
