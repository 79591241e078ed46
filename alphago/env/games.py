"""The games that come with the package, by name."""

import inspect
from collections.abc import Mapping
from typing import Any

from alphago.env.connect_four import ConnectFourEnv
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv
from alphago.env.reversi import ReversiEnv

GAMES: dict[str, type[GameEnv]] = {env.name: env for env in (GoEnv, GomokuEnv, ConnectFourEnv, ReversiEnv, OwareEnv)}
USUAL_GAME = GoEnv.name  # if none is named; the networks of the package play it
USUAL: dict[str, dict[str, Any]] = {GoEnv.name: {"board_size": 9}}  # options that are usually not the class's default


def make_game(name: str | None = None, board_size: int | None = None, **options: Any) -> GameEnv:
    """Return the game called `name` with the given options; None stands for the default of `name` or of an option.

    Raises ValueError for an unknown name, and for an option that the game does not have.
    """
    name = USUAL_GAME if name is None else name
    if name not in GAMES:
        raise ValueError(f"game must be one of {', '.join(GAMES)}, got {name!r}")
    given = {option: value for option, value in {"board_size": board_size, **options}.items() if value is not None}
    known = inspect.signature(GAMES[name]).parameters
    for option, value in given.items():
        if option not in known:
            raise ValueError(f"{name} has no {option}, got {value!r}")
    return GAMES[name](**{**USUAL.get(name, {}), **given})


def with_settings(env: GameEnv, given: Mapping[str, Any]) -> GameEnv:
    """Return the same game with some options changed; raise ValueError for an option that it does not have."""
    for name, value in given.items():
        if name not in env.config:
            raise ValueError(f"{env.name} has no {name}, got {value!r}")
    return env.replace(**given)


def require_go(env: GameEnv, who: str) -> GoEnv:
    """Return `env` as a GoEnv; raise ValueError, naming `who` needs one, for any other game."""
    if not isinstance(env, GoEnv):
        raise ValueError(f"env must be Go for {who}, got {env}")
    return env
