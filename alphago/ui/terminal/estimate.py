"""Show a network's forecast at the terminal: the score, dead stones, and each point's owner; count a finished game."""

from typing import Any

import numpy as np

from alphago.env.board import draw_board, result_text
from alphago.env.go_count import GoCount, count_of
from alphago.env.position import Position


def estimate(network: object, position: Position) -> tuple[str, str] | None:
    """Return (sentences about the result that a network expects, a drawing of the points' owners).

    The drawing is "" if no point's owner is certain. The return value is None if the engine or the game has no
    forecasts.
    """
    if (forecast := forecast_of(network, position)) is None:
        return None
    owners = forecast.owners
    result = result_text(round(forecast.score, 1))
    lines = [f"The network expects {result} in the end, and Black to win with {forecast.win_probability:.0%}."]
    sides = zip((1, -1), position.env.board_view.sides, strict=True)
    dead = "; ".join(filter(None, (dead_stones(position, owners, colour, name) for colour, name in sides)))
    if dead:
        lines.append(f"Dead stones: {dead}.")
    sure = owners.any()
    lines.append("Expected points of Black (X) and White (O):" if sure else "No point is certain yet.")
    return "\n".join(lines), draw_board(owners) if sure else ""


def forecast_of(network: Any, position: Position) -> Any:
    """Return the `PositionForecast` of a network; None if the engine or the game has no forecasts."""
    if not hasattr(network, "forecast"):
        return None
    try:
        net = network if network.env == position.env else network.resized(position.env)
        return net.forecast(position)
    except ValueError:  # a value head without score and ownership
        return None


def propose_count(network: object, position: Position) -> GoCount | None:
    """Return the count of a finished game without the stones that a network thinks dead; None if it is not counted."""
    if (count := count_of(position)) is None:
        return None
    forecast = forecast_of(network, count.before)
    return count.proposed(None if forecast is None else forecast.ownership)


def draw_count(count: GoCount) -> str:
    """Return a board with dead stones as x and o, and the other points of Black and White as b and w."""
    stones, owners = count.position.board.copy().ravel(), count.owners.ravel()
    marks = {int(point): "bw"[int(owners[point] < 0)] for point in np.flatnonzero(owners)}
    marks |= {point: "xo"[int(stones[point] < 0)] for point in count.dead}
    stones[list(count.dead)] = 0
    return draw_board(stones.reshape(count.owners.shape), marks=marks)


def dead_stones(position: Position, owners: np.ndarray, colour: int, name: str) -> str:
    """Return the stones of a colour on points that the other colour owns, such as "White C3 D4"; "" if there are none.

    owners: [height, width], 1 for Black's points, -1 for White's, 0 if uncertain. name: the colour's name.
    """
    board = getattr(position, "board", np.zeros_like(owners))
    points = np.flatnonzero((board == colour) & (owners == -colour))
    return f"{name} {' '.join(position.env.to_text(int(point)) for point in points)}" if len(points) else ""
