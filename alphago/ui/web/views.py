"""Games and positions as plain data for the page, which knows no rules of games."""

from dataclasses import asdict
from typing import Any

import numpy as np

from alphago.env.board import result_text
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.system.validation import check_int, shown

SIGNS = ".XO"  # by the owner of a stone or a point: 0 neither, 1 the first player, -1 the second


def offer_view(env: GameEnv) -> dict[str, Any]:
    """Return what the page has to know of a game that it offers: names, and what a person may choose."""
    options = [asdict(option) for option in env.options]
    return {"name": env.name, "title": env.title, "sides": env.board_view.sides, "options": options}


def game_view(env: GameEnv) -> dict[str, Any]:
    """Return what the page has to know of a game on its board, the same for all of its positions."""
    return {
        **offer_view(env),
        **asdict(env.board_view),
        "names": [env.to_text(action) for action in range(env.action_space)],
        "pass": env.pass_action,
        "ownership": env.has_ownership,
        # Whether empty points belong to a side at the end: not on squares, where stones fill the board.
        "territory": env.has_ownership and env.board_view.surface != "squares",
        "sgf": env.has_sgf,
    }


def position_view(position: Position) -> dict[str, Any]:
    """Return a position as plain data for the page; fields that a board does not have are left out."""
    view: dict[str, Any] = {
        "toPlay": position.to_play,
        "legal": np.flatnonzero(position.legal_mask).tolist(),
        "over": position.is_over,
        "moves": len(position.moves),
        "last": position.last_cell,
        "ko": list(position.ko_points),
    }
    contents, surface = position.contents, position.env.board_view.surface
    if surface == "text" or contents is None:
        view["drawing"] = position_text(position)
    elif surface == "houses":
        view["seeds"] = list(contents)
    else:
        view["stones"] = "".join(SIGNS[stone] for stone in contents)
    if position.captures is not None:
        view["captures"] = list(position.captures)
    return view


def position_text(position: Position) -> str:
    """Return a position as text: as `print` shows it, or if the game defines no text, from its input planes.

    Plane 0 is then drawn as the stones of the side to move, plane 1 as those of the other side.
    """
    if type(position).__str__ is not Position.__str__:
        return str(position)
    own, *other = position.planes()[:2] > 0  # each [rows, columns]; `other` has one plane, or none in some games
    signs = np.where(own, "X", np.where(other[0] if other else False, "O", "."))
    rows = [" ".join(row) for row in signs.tolist()]
    mover = position.env.board_view.side(position.to_play)
    return "\n".join([*rows, f"move {len(position.moves)}: {mover} to play; X is {mover}"])


def with_dead(count: GoCount, points: object) -> GoCount:
    """Return a count, changed so that the chains at some points are dead; raise ValueError for invalid points."""
    if not isinstance(points, list):
        raise ValueError(f"dead must be a list of points, got {shown(points)}")
    for point in points:
        if check_int("dead", point, 0) not in count.dead:
            count = count.toggled(point)
    return count


def board_view(position: Position, count: GoCount | None) -> dict[str, Any]:
    """Return what the board shows: the position, the game's result and its count.

    The result is None while the game goes on.  The count is None if no stones were counted.

    Args:
        count: the count of a finished game of Go; None for other positions.
    """
    count_data = None
    if count is not None:
        owners = "".join(SIGNS[owner] for owner in count.owners.ravel().tolist())
        count_data = {"points": count.areas, "bonuses": count.bonuses, "owners": owners, "dead": sorted(count.dead)}
    result = result_view(position, 0, count) if position.is_over else None
    return {"view": position_view(position), "result": result, "count": count_data}


def result_view(position: Position, loser: int, count: GoCount | None = None) -> dict[str, Any]:
    """Return how a game ended.

    Args:
        loser: who resigned, +1 or -1; 0 if the game ended by its rules.
        count: the count of its last position; None if its stones were not counted.
    """
    side = position.env.board_view.side
    if loser:
        short = f"{PLAYER_NAMES[-loser][0]}+R"
        return {"text": f"{side(-loser)} wins by resignation", "winner": -loser, "short": short}
    margin = position.score() if count is None else count.margin
    winner = int(position.result if count is None else np.sign(margin))
    if winner == 0:
        return {"text": "A draw", "winner": 0, "short": "draw"}
    # Games without points have the margin 1 or -1.  In games with ownership, such as Go, 1 is a number of points too.
    has_points = position.env.has_ownership or abs(margin) != 1
    by = f" by {abs(margin):g}" if has_points else ""
    return {"text": f"{side(winner)} wins{by}", "winner": winner, "short": result_text(margin)}
