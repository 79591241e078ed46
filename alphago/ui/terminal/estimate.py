"""Texts for the terminal: a network's forecast of score, dead stones and points, and the count of a finished game."""

import numpy as np

from alphago.env.board import draw_board, result_text
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.mcts.analyst import Analyst
from alphago.mcts.questions import Limit

SURE = 0.5  # least ownership (0 .. 1) of a point that counts as a side's


def estimate(analyst: Analyst, position: Position) -> tuple[str, str] | None:
    """Return two texts about the result that the network expects: sentences, and a drawing of the points' owners.

    The drawing is "" if no point's owner is certain.  Returns None if the engine or the game has no forecasts.
    """
    analysis = analyst.ask(position, limit=Limit(0)).last().found.as_black()  # the network alone, in Black's view
    if analysis.raw_ownership is None:
        return None
    # [height, width], 1 for Black's points, -1 for White's, 0 if uncertain.
    owners = (analysis.raw_ownership[0] >= SURE).astype(np.int8) - (analysis.raw_ownership[0] <= -SURE)
    result = result_text(round(float(analysis.raw_score[0]), 1))
    win_rate = (1 + analysis.raw_value[0]) / 2
    lines = [f"The network expects {result} in the end, and Black to win with {win_rate:.0%}."]
    black, white = position.env.board_view.sides
    dead = [dead_stones(position, owners, 1, black), dead_stones(position, owners, -1, white)]
    if any(dead):
        lines.append(f"Dead stones: {'; '.join(filter(None, dead))}.")
    if not owners.any():
        return "\n".join([*lines, "No point is certain yet."]), ""
    return "\n".join([*lines, "Expected points of Black (X) and White (O):"]), draw_board(owners)


def draw_count(count: GoCount) -> str:
    """Return a drawing of a count: dead stones are x and o, empty points are b and w by their owner."""
    stones, owners = count.position.board.copy().ravel(), count.owners.ravel()
    # Stones and owners are +1 for Black, -1 for White.  A dead stone's mark replaces that of its point's owner.
    marks = {int(point): "w" if owners[point] < 0 else "b" for point in np.flatnonzero(owners)}
    marks |= {point: "o" if stones[point] < 0 else "x" for point in count.dead}
    stones[list(count.dead)] = 0  # marks are drawn on empty points only
    return draw_board(stones.reshape(count.owners.shape), marks=marks)


def dead_stones(position: Position, owners: np.ndarray, colour: int, name: str) -> str:
    """Return a text such as "White C3 D4": a colour's stones on the other colour's points; "" if there are none.

    Args:
        owners: [height, width], 1 for Black's points, -1 for White's, 0 if uncertain.
        colour: of the stones, 1 for Black, -1 for White.
        name: the colour's name.
    """
    board = getattr(position, "board", np.zeros_like(owners))  # some games have no stones
    points = np.flatnonzero((board == colour) & (owners == -colour))
    return f"{name} {' '.join(position.env.to_text(int(point)) for point in points)}" if len(points) else ""
