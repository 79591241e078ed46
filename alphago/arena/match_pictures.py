"""Pictures of matches: final positions on a sheet."""

from collections.abc import Sequence

import numpy as np

from alphago.drawing.shapes import sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.records.game_pictures import small_drawing
from alphago.system.validation import check_int


def match_sheet(
    env: GameEnv | None,
    games: Sequence[Sequence[int]],
    outcomes: Sequence[float] | np.ndarray,
    *,
    columns: int = 4,
    most: int = 12,
    title: str = "",
) -> Svg:
    """Return one picture of the final positions of the first `most` games, `columns` in a row.

    games: the actions of each game.
    outcomes: the results of the first player, who has Black in games 0, 2, …
    title: the text above the picture.
    Raises ValueError if there are no games, or if `env` is None.
    """
    check_int("columns", columns, 1)
    if env is None or not len(games):
        raise ValueError(f"a sheet must have a game's final positions, got {len(games)} games of {env}")
    ends = [env.position().after(moves) for moves in games[: check_int("most", most, 1)]]
    captions = [f"{i + 1}: {result_for(end, float(outcomes[i]), i, end.is_over)}" for i, end in enumerate(ends)]
    return to_svg(sheet([small_drawing(end) for end in ends], captions, columns, title=title))


def result_for(position: Position, outcome: float, number: int, is_over: bool) -> str:
    """Return a caption with the first player's colour and result: "Black, won by 5.5", "White, lost", "Black, a draw".

    position: the last one of the game.  outcome: the first player's result.
    number: the number of the game; the first player has Black if it is even.
    is_over: whether the game ended by the rules; only then the caption has a margin.
    """
    colour, sign = ("Black", 1) if number % 2 == 0 else ("White", -1)
    if outcome == 0:
        return f"{colour}, a draw"
    caption = f"{colour}, won" if outcome > 0 else f"{colour}, lost"
    margin = sign * position.score()
    agrees = np.sign(margin) == np.sign(outcome)  # not if an engine scored the game differently
    has_points = position.env.has_ownership and is_over and agrees
    return f"{caption} by {abs(margin):g}" if has_points else caption
