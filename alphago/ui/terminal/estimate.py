"""Texts for the terminal: a network's forecast of score, dead stones and points, and the count of a finished game."""

from typing import Any

import numpy as np

from alphago.env.board import draw_board, result_text
from alphago.env.go_count import GoCount, count_as_alive
from alphago.env.position import Position


def estimate(network: object, position: Position) -> tuple[str, str] | None:
    """Return two texts about the result that a network expects: sentences, and a drawing of the points' owners.

    The drawing is "" if no point's owner is certain.  Returns None if the engine or the game has no forecasts.
    """
    forecast = make_forecast(network, position)
    if forecast is None:
        return None
    owners = forecast.owners
    result = result_text(round(forecast.score, 1))
    lines = [f"The network expects {result} in the end, and Black to win with {forecast.win_probability:.0%}."]
    black, white = position.env.board_view.sides
    dead = [dead_stones(position, owners, 1, black), dead_stones(position, owners, -1, white)]
    if any(dead):
        lines.append(f"Dead stones: {'; '.join(filter(None, dead))}.")
    if not owners.any():
        return "\n".join([*lines, "No point is certain yet."]), ""
    return "\n".join([*lines, "Expected points of Black (X) and White (O):"]), draw_board(owners)


def make_forecast(network: Any, position: Position) -> Any:
    """Return the `PositionForecast` of a network; None if the engine or the game has no forecasts."""
    if not hasattr(network, "forecast"):
        return None
    try:
        net = network if network.env == position.env else network.resized(position.env)
        return net.forecast(position)
    except ValueError:  # a value head without score and ownership
        return None


def propose_count(network: object, position: Position) -> GoCount | None:
    """Return the count of a finished game, in which the stones that a network thinks dead are dead.

    Returns:
        None if the game is not counted (see `count_as_alive`).
    """
    count = count_as_alive(position)
    if count is None:
        return None
    forecast = make_forecast(network, count.before)
    return count.proposed(None if forecast is None else forecast.ownership)


def draw_count(count: GoCount) -> str:
    """Return a drawing of a count: dead stones are x and o, empty points are b and w by their owner."""
    stones, owners = count.position.board.copy().ravel(), count.owners.ravel()
    marks = {int(point): "bw"[int(owners[point] < 0)] for point in np.flatnonzero(owners)}
    marks |= {point: "xo"[int(stones[point] < 0)] for point in count.dead}
    stones[list(count.dead)] = 0  # marks are drawn on empty points only
    return draw_board(stones.reshape(count.owners.shape), marks=marks)


def dead_stones(position: Position, owners: np.ndarray, colour: int, name: str) -> str:
    """Return a text such as "White C3 D4" of the stones of a colour on the other colour's points; "" if there are none.

    Args:
        owners: [height, width], 1 for Black's points, -1 for White's, 0 if uncertain. name: the colour's name.
    """
    board = getattr(position, "board", np.zeros_like(owners))
    points = np.flatnonzero((board == colour) & (owners == -colour))
    return f"{name} {' '.join(position.env.to_text(int(point)) for point in points)}" if len(points) else ""
