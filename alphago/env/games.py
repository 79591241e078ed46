"""Games by name: the packaged games, and classes of your own given on the command line."""

import inspect
from collections.abc import Mapping
from typing import Any

from alphago.env.connect_four import ConnectFourEnv
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv
from alphago.env.reversi import ReversiEnv
from alphago.system.validation import check_choice, qualified_name

GAMES: dict[str, type[GameEnv]] = {env.name: env for env in (GoEnv, GomokuEnv, ConnectFourEnv, ReversiEnv, OwareEnv)}
GIVEN_REFERENCES: dict[type[GameEnv], str] = {}  # by a custom game's class, the value of `--game` that was given
USUAL_GAME = GoEnv.name  # the game to play if none is named
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # *args and **kwargs
REQUIRED = ("N", "planes", "plane_shape", "action_space", "max_moves")  # attributes that every game defines
# Defaults of `make_game`, where they differ from those of the game's class.
DEFAULTS: dict[str, dict[str, Any]] = {GoEnv.name: {"board_size": 9}}


def make_game(name: str | None = None, board_size: int | None = None, **options: object) -> GameEnv:
    """Return the packaged game called `name`, with these options.

    A name, board size or option that is None gets its default value.

    Raises:
        ValueError: for an unknown name, an unknown option, or a required option that is missing.
    """
    name = check_choice("game", USUAL_GAME if name is None else name, GAMES)
    options = {"board_size": board_size, **options}
    given = {option: value for option, value in options.items() if value is not None}
    known = inspect.signature(GAMES[name]).parameters
    for option, value in given.items():
        if option not in known:
            raise ValueError(f"{name} has no {option}, got {value!r}")
    arguments = {**DEFAULTS.get(name, {}), **given}
    for option, parameter in known.items():
        is_required = parameter.default is parameter.empty and parameter.kind not in VARIABLE
        if is_required and option not in arguments:
            raise ValueError(f"{option} must be given for {name}")
    env = GAMES[name](**arguments)
    check_defined(env)
    return env


def check_defined(env: GameEnv) -> None:
    """Raise ValueError for a game that lacks a required attribute, or whose config is no dictionary."""
    if missing := [name for name in REQUIRED if not hasattr(env, name)]:
        raise ValueError(f"{type(env).__name__} must define {', '.join(missing)}")
    try:
        config = env.config
    except NotImplementedError as error:
        raise ValueError(str(error)) from None
    if not isinstance(config, Mapping):
        raise ValueError(f"{type(env).__name__} must have a dictionary as its config, got {config!r}")


def is_packaged(env: type[GameEnv]) -> bool:
    """Return whether the class of a game belongs to this package."""
    return env.__module__.startswith(__package__)


def game_reference(env: type[GameEnv]) -> str:
    """Return the value of `--game` for a class: its name, or FILE.py:CLASS or MODULE:CLASS for a custom game."""
    if is_packaged(env):
        return env.name
    module = "FILE.py" if env.__module__ == "__main__" else env.__module__  # a script's module has no name of its own
    # As given on the command line, else made of the names of module and class.
    return GIVEN_REFERENCES.get(env, f"{module}:{env.__qualname__}")


def importable_name(env: GameEnv, who: str) -> str:
    """Return a game's class as "module:class"; raise ValueError if another process cannot import it.

    Args:
        who: what imports the game in the other process, for the message.
    """
    kind = type(env)
    if kind.__module__ == "__main__" or "<" in kind.__qualname__:
        got = qualified_name(kind)
        raise ValueError(f"{who} must be able to import the game: its class must be a module's, got {got}")
    return qualified_name(kind)


def with_settings(env: GameEnv, given: Mapping[str, object]) -> GameEnv:
    """Return the same game with the options `given` changed; raise ValueError for an unknown option."""
    for name, value in given.items():
        if name not in env.config:
            raise ValueError(f"{env.name} has no {name}, got {value!r}")
    # Nothing is replaced without options, since the config of a user's own game need not fit its constructor.
    return env.replace(**given) if given else env


def with_planes(env: GameEnv, *, of: GameEnv) -> GameEnv:
    """Return `env` with the input planes of the game `of`; unchanged if one of them has no choice of planes."""
    have_choice = "planes" in env.config and "planes" in of.config
    return env.replace(planes=of.config["planes"]) if have_choice else env


def is_go(env: GameEnv) -> bool:
    """Return whether a game is Go."""
    return isinstance(env, GoEnv)


def require_go(env: GameEnv, who: str) -> GoEnv:
    """Return `env` if it is a game of Go; raise ValueError if not.

    Args:
        who: what needs a game of Go, for the message.
    """
    if not isinstance(env, GoEnv):
        raise ValueError(f"env must be Go for {who}, got {env}")
    return env
