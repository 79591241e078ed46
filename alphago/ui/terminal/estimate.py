"""Show a network's forecast at the terminal: the score, dead stones, and the owner of each point."""

from typing import Any

import numpy as np

from alphago.env.board import draw_board, result_text
from alphago.env.position import Position


def estimate(network: Any, position: Position) -> tuple[str, str] | None:
    """Return (sentences about the result that a network expects, a drawing of the points' owners).

    The drawing is "" if no point's owner is certain. The return value is None if the engine or the game has no
    forecasts.
    """
    if not hasattr(network, "forecast"):
        return None
    try:
        net = network if network.env == position.env else network.resized(position.env)
        forecast = net.forecast(position)
    except ValueError:  # a value head without score and ownership
        return None
    owners = forecast.owners
    result = result_text(round(forecast.score, 1))
    lines = [f"The network expects {result} in the end, and Black to win with {forecast.win_probability:.0%}."]
    sides = zip((1, -1), position.env.board_view.sides, strict=True)
    dead = [text for colour, name in sides if (text := dead_stones(position, owners, colour, name))]
    if dead:
        lines.append(f"Dead stones: {'; '.join(dead)}.")
    sure = owners.any()
    lines.append("Expected points of Black (X) and White (O):" if sure else "No point is certain yet.")
    return "\n".join(lines), draw_board(owners) if sure else ""


def dead_stones(position: Position, owners: np.ndarray, colour: int, name: str) -> str:
    """Return the stones of a colour on points that the other colour owns, such as "White C3 D4"; "" if there are none.

    owners: [height, width], 1 for Black's points, -1 for White's, 0 if uncertain. name: the colour's name.
    """
    board = getattr(position, "board", np.zeros_like(owners))
    points = np.flatnonzero((board == colour) & (owners == -colour))
    return f"{name} {' '.join(position.env.to_text(int(point)) for point in points)}" if len(points) else ""
