"""Games and positions as plain data for the page, which knows no rules: a board of some kind, and actions on it."""

from typing import Any

import numpy as np

from alphago.env.board import StonesEnv, StonesPosition, result_text
from alphago.env.game import PLAYER_NAMES, GameEnv, Position
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules, rules_name, star_points
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv, OwarePosition
from alphago.ui.web.wire import ResultView

SIGNS = {0: ".", 1: "X", -1: "O"}
TITLES = {"go": "Go", "gomoku": "Gomoku", "connect-four": "Connect Four", "reversi": "Reversi", "oware": "Oware"}


def kind_of(env: GameEnv) -> str:
    """Return how a game is drawn.

    "points": stones on the crossings of lines; "cells": stones on squares; "columns": stones that fall into columns;
    "houses": Oware's; "text": a drawing in letters, with a button for each legal action.
    """
    height, width = env.plane_shape
    if isinstance(env, OwareEnv):
        return "houses"
    if isinstance(env, (GoEnv, GomokuEnv)):
        return "points"
    if isinstance(env, StonesEnv) and not env.action_names[0].isdecimal():
        if env.action_space - (env.pass_action is not None) == height * width:
            return "cells"
        return "columns" if env.action_space == width else "text"
    return "text"


def game_view(env: GameEnv) -> dict[str, Any]:
    """Return what the page has to know of a game, the same for all of its positions."""
    height, width = env.plane_shape
    view = {
        "name": env.name,
        "title": f"{TITLES.get(env.name, env.name)}{board_text(env)}",
        "kind": kind_of(env),
        "height": height,
        "width": width,
        "names": [env.to_text(action) for action in range(env.action_space)],
        "pass": env.pass_action,
        "captures": env.has_captures,
        "ownership": env.has_ownership,
        "sgf": env.has_sgf,
        "options": options_of(env),
        "stars": star_points(env.N) if isinstance(env, GoEnv) else [],
    }
    if isinstance(env, GoEnv):
        view["rules"] = rules_name(env.rules)
    return view


def board_text(env: GameEnv) -> str:
    """Return the size of the board as text, such as " 9x9"; "" for a game without the option `board_size`."""
    return f" {env.N}x{env.N}" if "board_size" in env.config else ""


def options_of(env: GameEnv) -> dict[str, Any]:
    """Return the options of `env` that a person can choose for a new game, as {name: value in `env`}."""
    if isinstance(env, GoEnv):
        return {"board_size": env.N, "komi": env.komi, "rules": rules_name(Rules(env.ko, env.suicide))}
    return {name: value for name, value in env.config.items() if name not in ("planes", "max_moves")}


def position_view(position: Position) -> dict[str, Any]:
    """Return a position as plain data for the page; fields that a kind of board does not have are left out."""
    env = position.env
    view: dict[str, Any] = {
        "toPlay": position.to_play,
        "legal": np.flatnonzero(position.legal_mask).tolist(),
        "over": position.is_over,
        "moves": len(position.moves),
        "last": position.moves[-1] if position.moves else None,
    }
    if isinstance(position, OwarePosition):
        view |= {"houses": position.houses, "stores": list(position.stores)}
    elif isinstance(position, StonesPosition) and kind_of(env) != "text":
        view["stones"] = "".join(SIGNS[int(colour)] for colour in position.board.ravel())
    else:
        view["drawing"] = drawing(position)
    if isinstance(position, GoPosition):
        view |= {"captures": list(position.captures), "ko": list(position.ko_points), "komi": position.komi}
    return view


def drawing(position: Position) -> str:
    """Return what `print` shows of a position; for a game without a drawing, its planes 0 and 1 as stones."""
    if type(position).__str__ is not Position.__str__:
        return str(position)
    planes = position.planes()
    own, other = (planes[0], planes[min(1, len(planes) - 1)])
    rows = [" ".join("X" if a else "O" if b else "." for a, b in zip(*pair, strict=True)) for pair in
            zip(own > 0, (other > 0) & (own <= 0), strict=True)]  # fmt: skip
    mover = PLAYER_NAMES[position.to_play]
    return "\n".join([*rows, f"move {len(position.moves)}: {mover} to play; X is {mover}"])


def result_view(position: Position, loser: int) -> ResultView:
    """Return how a game ended.

    loser: who gave up, +1 or -1; 0 if the rules ended the game.
    """
    if loser:
        winner = -loser
        text = f"{PLAYER_NAMES[winner]} wins by resignation"
        return {"text": text, "winner": winner, "short": f"{PLAYER_NAMES[winner][0]}+R"}
    winner = int(position.result)
    if not winner:
        return {"text": "A draw", "winner": 0, "short": "draw"}
    margin = position.score()
    by = f" by {abs(margin):g}" if abs(margin) != 1 or position.env.has_ownership else ""
    return {"text": f"{PLAYER_NAMES[winner]} wins{by}", "winner": winner, "short": result_text(margin)}
