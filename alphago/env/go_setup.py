"""Set up positions of Go, with the history before them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.board import check_history
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go_row as layout
from alphago.env.position import IllegalMove
from alphago.system.validation import is_int, shown


def known_boards(
    env: GameEnv, stones: np.ndarray, mover: int, ko: int | str | None, history: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return the boards of a game that are known, the oldest first and `stones` last; one move leads to the next.

    Args:
        stones: [N, N], 1 Black, -1 White, 0 empty.
        mover: the side to move, +1 or -1; it matters only if `ko` is given.
        ko, history: as in `GoEnv.position`.

    Raises:
        ValueError: if the arguments contradict each other.
    """
    boards = check_history(history, env.plane_shape)
    if ko is not None:
        if boards:
            raise ValueError(f"ko must be None with a history, which determines it, got {shown(ko)}")
        boards = [board_before_ko(env, stones, mover, ko)]
    return [*boards, stones]


def set_up(
    env: GameEnv, stones: np.ndarray, to_play: int, komi: float | None = None, unknown_plies: int = 0
) -> GoPosition:
    """Return the position with these stones.

    Args:
        stones: [N, N], 1 Black, -1 White, 0 empty.
        to_play: +1 or -1.
        komi: None for the game's own.
        unknown_plies: the number of plies before the position, whose moves are not known.
    """
    batch = env.new_batch(1)
    placed = stones if stones.any() else None  # None saves compiling the kernel that sets up stones
    batch.reset(np.zeros(1, np.int64), stones=placed, to_play=to_play, komi=komi)
    batch.rows[0, layout.PLY] = unknown_plies  # type: ignore[attr-defined]
    return GoPosition(env, batch, setup_keywords(env, stones, to_play, komi, unknown_plies))


def setup_keywords(env: GameEnv, stones: np.ndarray, to_play: int, komi: float | None, plies: int) -> dict[str, Any]:
    """Return the keywords of `GoEnv.position` for stones [N, N], the side to move (+1 or -1), komi and plies so far.

    Keywords whose value is the default are left out; a komi of None is the game's own.
    """
    texts = {
        colour: " ".join(env.to_text(int(action)) for action in np.flatnonzero(stones == sign))
        for colour, sign in (("black", 1), ("white", -1))
        if (stones == sign).any()
    }
    others = {"to_play": None if to_play == 1 else "white", "komi": komi, "move_number": plies or None}
    return texts | {name: value for name, value in others.items() if value is not None}


def board_before_ko(env: GameEnv, stones: np.ndarray, mover: int, ko: int | str) -> np.ndarray:
    """Return the board before the last move, which captured one stone at the point `ko`.

    Args:
        stones: [N, N], the board after the last move.
        mover: the side to move now (+1 or -1), which must not recapture at `ko`.

    Raises:
        ValueError: if there is no such board.
    """
    try:  # recapturing brings that board back
        before = set_up(env, stones, mover).play(ko).board
    except IllegalMove:
        before = stones  # refused below, since it does not differ from `stones`
    if (before != stones).sum() != 2:  # recapturing must place one stone and take one
        raise ValueError(f"ko must be a point where {PLAYER_NAMES[mover]} would take one stone, got {shown(ko)}")
    return before


def earlier_captures(captures: Sequence[int], later: tuple[int, int]) -> tuple[int, int]:
    """Return how many stones Black and White captured before the known moves: `captures` minus `later`.

    Args:
        captures: the numbers in the whole game.
        later: the numbers in the known moves.

    Raises:
        ValueError: if a difference is negative.
    """
    is_pair = np.shape(captures) == (2,)
    if not is_pair or not all(is_int(total, least) for total, least in zip(captures, later, strict=True)):
        at_least = "" if later == (0, 0) else f", at least {later[0]} and {later[1]} as the boards show"
        raise ValueError(f"captures must be two integers, Black's and White's{at_least}, got {shown(captures)}")
    return int(captures[0]) - later[0], int(captures[1]) - later[1]
