"""How a match's games ended on the board: by how many points, and what was captured."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv


class FinalBoards(NamedTuple):
    """Means over games of a match, from the view of the player who has Black in games 0, 2, …

    score: margin in points.  captures, captured: stones that this player took, and lost, in a game.
    """

    score: float
    captures: float
    captured: float


def final_boards(env: GameEnv, games: Sequence[tuple[int, ...]]) -> FinalBoards:
    """What the boards at the end of these games tell; each is its moves from the start position.

    env: the game that they were played by, one that `has_captures`.  Stones of suicide count as captured.  A game that
    was given up counts as its board stands.
    """
    told = [final_board(env, moves, 1 - 2 * (number % 2)) for number, moves in enumerate(games)]
    return FinalBoards(*np.mean(told, axis=0).tolist())


def final_board(env: GameEnv, moves: Sequence[int], side: int) -> tuple[float, int, int]:
    """Score, captures and losses of one side, 1 Black or -1 White."""
    position: Any = env.position()  # with a board, which not every game has
    played = {1: 0, -1: 0}
    for action in moves:
        played[position.to_play] += action != env.pass_action
        position = position.play(action)
    taken = {colour: count - int((position.board == colour).sum()) for colour, count in played.items()}
    return side * position.score(), taken[-side], taken[side]
