"""The options for game, network, device and workers, which several commands share."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from alphago.cli.options import Parser, Setting, add_setting, in_shell, integer, keyword_settings, number, option
from alphago.cli.own_games import named_game
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, USUAL_GAME, game_reference, is_packaged, make_game, with_settings
from alphago.env.go_rules import named_rules, played_rules
from alphago.env.oware import RULES as RULES_OF_OWARE
from alphago.env.packaged_nets import packaged_net, packaged_nets, usual_game
from alphago.mcts.levels import Level, check_level

RULES_KEYWORD = "rules"  # a keyword of Oware; of Go, a name for ko and suicide
GAME_PREFIX = "game:"  # prefix of the names of a game's keywords among the parsed options
WHO = "who plays, instead of this process: a number, auto or HOST:PORT (of a Ray cluster), or folder:PATH"
RUN_OPTIONS = ("folder", "tower_height", "channels", "stop_after")  # those of `add_run` that the call of a run takes
BRIEF = {"komi": "White's points before a game of Go"}  # what --help says of a game's keywords


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the argument MODEL, which may be left out."""
    text = "a network's name, file or run folder, or katago:FILE; without it, a packaged network"
    option(parser, "model MODEL", text, nargs="?")


def add_network(parser: argparse.ArgumentParser) -> None:
    """Add a network and its game, which `load_given` loads."""
    add_model(parser)
    add_game(parser, game="the model's own, or go", size="the model's own, or 9")


def add_game(parser: argparse.ArgumentParser, *, game: str, size: str) -> None:
    """Add the options --game and --board-size; game, size: what the help says of their defaults."""
    names = ", ".join(name for name, env in GAMES.items() if is_packaged(env))
    option(parser, "--game GAME", f"the game: {names}, or FILE.py:CLASS for a custom game ({game})", named_game)
    option(parser, "--board-size N", f"size of the board ({size})", integer)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run of training that are no settings."""
    option(parser, "--tower-height N", "residual blocks of a new network (the recipe's)", integer)
    option(parser, "--channels N", "channels of a new network (the recipe's)", integer)
    option(parser, "--model FILE", "a network to start from; its file is not changed")
    option(parser, "--folder PATH", "the run's folder (a new one in runs)")
    option(parser, "--stop-after MINUTES", "save and stop after so many minutes; --folder resumes", number)
    option(parser, "--tensorboard", "write curves for TensorBoard into the run's folder", action="store_true")


def add_device(parser: argparse.ArgumentParser, default: str = "auto", what: str = "of boards and networks") -> None:
    """Add --device; what: what is computed on the device, for the help."""
    text = f"the device {what}; auto: the GPU if there is one that supports them ({default})"
    option(parser, "--device", text, choices=("cpu", "cuda", "auto"), default=default)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add --workers, whose value `open_pool` reads."""
    option(parser, "--workers WHO", WHO)


def add_level(parser: argparse.ArgumentParser, default: str = "10") -> None:
    """Add --level; default: what the help says of the default, which the command sets itself."""
    text = f"strength, from 1 (a beginner) to 10; even: follows the opponent's ({default})"
    option(parser, "--level N", text, read_level)


def read_level(text: str) -> Level:
    """Convert a text of the command line to a level; raise ArgumentTypeError if that fails."""
    try:
        return check_level(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_game_settings(parser: Parser) -> None:
    """Add an option for every keyword of every game, except board_size, with the help of each game that has it.

    A custom game's keyword is left out if the command already has an option of this name.
    """
    keywords: dict[str, list[tuple[str, Setting]]] = {}
    for name, env in GAMES.items():
        for setting in keyword_settings(env):
            if setting.name != "board_size" and setting.types:  # without types, its values cannot be written in a shell
                keywords.setdefault(setting.name, []).append((name, setting))
    flags = {name: "--" + name.replace("_", "-") for name in keywords}
    for name, settings in keywords.items():
        if (flag := flags[name]) not in parser._option_string_actions:
            add_setting(parser.section("the game"), flag, merge_settings(name, settings, flags))
            parser.set_brief_help(flag, BRIEF.get(name, ""))


def merge_settings(name: str, settings: Sequence[tuple[str, Setting]], flags: Mapping[str, str]) -> Setting:
    """Return one setting for the keyword `name` of several games, with the types and the help of each.

    Args:
        settings: each game's name, and its setting.  The choices of the first setting hold for all games.
        flags: the options' names by keyword, for the help.
    """
    types = dict.fromkeys(kind for _, setting in settings for kind in setting.types)  # a set that keeps the order
    text = "; ".join(f"{game}: {setting.help}" for game, setting in settings)
    _, first = settings[0]
    if name == RULES_KEYWORD:
        # Go has no such keyword, but its rules may be given by a name, which `given_game_settings` replaces by keywords
        # of Go.  So the choices of another game's rules must not be the only ones.
        text = f"{USUAL_GAME}: {', '.join(played_rules())}; {text}"
        first = replace(first, choices=())
        flags = {}  # Oware's help of its rules names settings as in Python
    return replace(first, name=GAME_PREFIX + name, types=tuple(types), default=None, text=in_shell(text, flags))


def given_game_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the games' keywords that were given on the command line, except board_size.

    The name of rules of Go is replaced by Go's keywords for ko and suicide.

    Raises:
        ValueError: for the name of rules by which games cannot be scored.
    """
    given = {key.removeprefix(GAME_PREFIX): item for key, item in vars(options).items() if key.startswith(GAME_PREFIX)}
    rules = given.get(RULES_KEYWORD)
    # Without --game, the name itself shows whether it is of rules of Go or of Oware.
    if rules not in (None, *RULES_OF_OWARE) and options.game in (None, USUAL_GAME):
        given |= named_rules(given.pop(RULES_KEYWORD))._asdict()
    return given


def load_given(options: argparse.Namespace) -> tuple[GameEnv, Any]:
    """Load the network that the options of `add_network` and `add_game_settings` name, as `load` does."""
    return load(options.model, options.board_size, options.game, given_game_settings(options))


def load(
    model: str | None, board_size: int | None = None, game: str | None = None, given: Mapping[str, Any] | None = None
) -> tuple[GameEnv, Any]:
    """Load a network; return the game and the network.

    Args:
        model: the network's name, file or run folder; None for the packaged network, see `packaged_net`.
        board_size: the board's size; None for the network's.
        game: the name of the game; None for the network's.
        given: keywords of the game, in place of the network's own; None for none.  A packaged network's game has the
            usual komi.

    Raises:
        ValueError: if the network does not play this game or board.
    """
    from alphago.mcts.warm_up import warm_up

    warm_up(game or USUAL_GAME)  # first: its process can compile while this process loads torch
    from alphago.nn.model_files import model_file, saved_game
    from alphago.nn.net import load_model  # imported late, since it loads torch

    if model is None:
        env = make_game(game or USUAL_GAME, board_size, **(given or {}))  # raises ValueError for an unknown size
        model = packaged_net(env.name, env.N)
        if model is None:
            train = f"alphago train --game {game_reference(GAMES[env.name])}"
            raise ValueError(f"no network for {game} comes with the package: name one ({train})")
        board_size = env.N
    path = model_file(model)
    played = saved_game(path, board_size)
    if model in packaged_nets():
        played = usual_game(played)
    check_named(game, played, path)
    played = with_settings(played, given or {})
    return played, load_model(path, played)


def check_named(game: str | None, env: GameEnv, path: object) -> None:
    """Raise ValueError if --game was given, and its game is not the network's.

    Args:
        game: the value of --game; None if it was not given.
        env: the network's game.
        path: the network's file.
    """
    if game not in (None, env.name):
        raise ValueError(f"{path} must hold a network for {game}, got one for {env}")
