"""Games and searches of one's own on the command line: `--game FILE.py:CLASS`, `--search MODULE:CLASS`."""

import importlib
import os
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Container, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from alphago.arena.engine import COMMAND
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, REFERENCES, is_packaged
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search_specs import SEARCHES
from alphago.system.files import user_path
from alphago.system.validation import near_misses, near_names, qualified_name

# A search after the @ of a player's name, after --search=, or alone.
OWN_SEARCH = re.compile(
    r"(?P<start>(?P<player>(?:--anchor=|(?!-)).*@(?:\d+,)?)|--search=|)(?P<module>[^,@=]+):(?P<name>[A-Za-z_]\w*)"
)


def named_game(text: str) -> str:
    """Return the name of the game that a value of --game chooses; a custom game is added to GAMES.

    Args:
        text: the name of a game in GAMES; or FILE.py:CLASS or MODULE:CLASS for a custom game, whose module is imported
            from the current folder or from installed packages.

    Raises:
        ArgumentTypeError: if there is no such game.
    """
    module, colon, name = text.rpartition(":")
    if not colon:
        if text in GAMES:
            return text
        near = near_names(text, list(GAMES))
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ArgumentTypeError(
            f"must be one of {', '.join(GAMES)}, or FILE.py:CLASS for a game of your own, got {text!r}{hint}"
        )
    env = game_class(import_own_module(module), name)
    known = GAMES.get(env.name, env)
    if known is not env and is_packaged(known):
        raise ArgumentTypeError(f"{name} must have a name of its own, got {env.name!r}, a game of the package")
    GAMES[env.name] = env
    REFERENCES[env] = text
    return env.name


def import_named_game(words: Sequence[str]) -> None:
    """Import the custom game that a command line names, if any, so that the parser can have the game's options.

    Args:
        words: the arguments of the command line.

    Raises:
        ArgumentTypeError: if the game cannot be imported.
    """
    for word, next_word in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        game = value if equals else next_word
        if flag == "--game" and ":" in game:
            named_game(game)


def import_named_searches(words: Sequence[str], flags: Container[str] | None = None) -> list[str]:
    """Return a command line in which each search of one's own is called MODULE:CLASS, after importing its module.

    Args:
        words: the arguments; a search stands after --search, or in a player's name (`runs/a@64,my_rule.py:MyRule`).
        flags: those of a command that takes players, whose values are no players; None for a command without players.

    Raises:
        ArgumentTypeError: if a search cannot be imported.
    """
    renamed = list(words)
    for i, (before, word) in enumerate(zip(["", *words], words, strict=False)):
        named = OWN_SEARCH.fullmatch(word)
        if named is None or word.startswith(COMMAND):  # an engine's command may contain such a text
            continue
        # Only a player, or the value behind --search or --search=, is taken for a search.
        is_player = named["player"] and flags is not None and before not in flags
        flag = named["start"].rstrip("=") or before
        if not is_player and flag != "--search":
            continue
        kind: Any = getattr(import_own_module(named["module"]), named["name"], None)
        if not (isinstance(kind, type) and issubclass(kind, SearchSettings)):
            raise ArgumentTypeError(f"{named['module']} must have {named['name']}, a SearchSettings, got {kind!r}")
        SEARCHES[qualified_name(kind)] = kind
        renamed[i] = named["start"] + qualified_name(kind)
    return renamed


def import_own_module(text: str) -> ModuleType:
    """Import a module; raise ArgumentTypeError if that fails.

    Args:
        text: a file, such as "games/my_game.py", whose folder is added to sys.path; or the name of a module in the
            current folder or an installed package.
    """
    try:
        path = user_path(text).resolve() if text.endswith(".py") else None
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if path is not None and not path.is_file():
        raise ArgumentTypeError(f"there is no file {text}")
    folder, name = (os.getcwd(), text) if path is None else (str(path.parent), path.stem)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # For the module a.b, either a or a.b may be missing.
        is_own = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not is_own:  # a module that the game's module imports is missing
            raise ArgumentTypeError(f"{name} cannot be imported: {error}") from None
        raise ArgumentTypeError(f"there is no module {name}, neither in this folder nor installed") from None
    except Exception as error:  # importing runs the module's code, which may raise anything
        raise ArgumentTypeError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    file = getattr(module, "__file__", None)
    if path is not None and (file is None or Path(file).resolve() != path):
        raise ArgumentTypeError(f"{text} must have another name, since Python has a module {name}")
    return module


def game_class(module: ModuleType, name: str) -> type[GameEnv]:
    """Return the game class called `name` in a module; raise ArgumentTypeError if there is none."""
    # Games that the module imports are not suggested.
    own = [key for key, item in vars(module).items() if is_game(item) and item.__module__ == module.__name__]
    env: Any = getattr(module, name, None)
    if not is_game(env):
        raise ArgumentTypeError(f"{module.__name__} has no game {name!r}: {near_misses(name, own)}")
    if not isinstance(getattr(env, "name", None), str):
        raise ArgumentTypeError(f"{name} must have a name, a text, got {getattr(env, 'name', None)!r}")
    return env


def is_game(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, GameEnv)
