"""Games and searches of one's own on the command line: `--game FILE.py:CLASS`, `--search MODULE:CLASS`."""

import contextlib
from argparse import ArgumentTypeError
from collections.abc import Sequence
from itertools import pairwise

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, GIVEN_REFERENCES, is_packaged
from alphago.mcts.search_specs import own_search
from alphago.system.own_modules import import_own_class
from alphago.system.validation import near_names


def named_game(text: str) -> str:
    """Return the name of the game that a value of --game chooses; a custom game is added to GAMES.

    Args:
        text: the name of a game in GAMES; or FILE.py:CLASS or MODULE:CLASS for a custom game, whose module is imported
            from the current folder or from installed packages.

    Raises:
        ArgumentTypeError: if there is no such game.
    """
    if ":" not in text:
        if text in GAMES:
            return text
        near = near_names(text, list(GAMES))
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        choices = f"one of {', '.join(GAMES)}, or FILE.py:CLASS for a game of your own"
        raise ArgumentTypeError(f"must be {choices}, got {text!r}{hint}")
    try:
        game_class = import_own_class(text, GameEnv, "game")
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    name = getattr(game_class, "name", None)
    if not isinstance(name, str):
        raise ArgumentTypeError(f"{game_class.__name__} must have a name, a text, got {name!r}")
    if name in GAMES and GAMES[name] is not game_class and is_packaged(GAMES[name]):
        got = f"{name!r}, a game of the package"
        raise ArgumentTypeError(f"{game_class.__name__} must have a name of its own, got {got}")
    GAMES[name] = game_class
    GIVEN_REFERENCES[game_class] = text
    return name


def import_own_classes(words: Sequence[str]) -> list[str]:
    """Import the games and searches of one's own that --game and --search name, so that the parser has their options.

    Args:
        words: the arguments of the command line.

    Returns:
        The arguments, in which each search of one's own is called MODULE:CLASS, even if it was given as FILE.py:CLASS.

    Raises:
        ValueError: if a search cannot be imported.
    """
    renamed = list(words)
    for i, (before, word) in enumerate(pairwise(["", *words])):
        flag, _, value = word.partition("=")  # of --search=VALUE
        if not word.startswith("--"):  # the word is VALUE, and its flag is the word before
            flag, value = before, word
        if flag == "--game" and ":" in value:
            with contextlib.suppress(ArgumentTypeError):  # raised again when the option is parsed
                named_game(value)
        elif flag == "--search" and ":" in value:
            renamed[i] = word.removesuffix(value) + own_search(value)  # any "--search=" stays before the new value
    return renamed
