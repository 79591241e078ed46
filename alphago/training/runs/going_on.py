"""The command that continues a run, as all commands print it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alphago.env.games import GAMES, is_packaged
from alphago.nn.model_files import LATEST, read_description
from alphago.system.files import typed_path
from alphago.training.runs.config import read_config


def how_to_continue(folder: Path, more: str = "") -> str:
    """Return the command that continues the run in a folder; if no command can, the call in Python.

    more: further options, such as "--games 200".
    """
    config = read_config(folder)
    given: Mapping[str, Any] | None = config.get("given")
    game = game_flag(config["game"], folder / LATEST)
    if given is None:
        command = f"train{game}"
        call = "train(env, model=net"
    else:
        command = f"supervised {typed_path(given['dataset'] or 'DATASET')}"
        call = "train_supervised(env, games, net"
    needs_game_option = given is not None and game  # which `alphago supervised` does not have
    if config["network"]["custom"] or needs_game_option:
        return f"in Python {call}, folder={str(folder)!r})"
    return f"alphago {command} --folder {typed_path(folder)} {more}".rstrip()


def call_options(given: Mapping[str, Any]) -> str:
    """Return options of a call, such as "--workers 2 --max-lag 1".

    given: keywords and their values; None and False for an option that was not given.
    """
    options = []
    for name, value in given.items():
        if value is not None and value is not False:
            flag = f"--{name.replace('_', '-')}"
            options.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
    return " ".join(options)


def game_flag(name: str, path: Path) -> str:
    """Return the option " --game MODULE:CLASS" of a custom game; "" for a game of the package.

    name: the game's name.  path: the network's file, which names the game's class.
    """
    if name in GAMES and is_packaged(GAMES[name]):
        return ""
    return f" --game {read_description(path)['reference']}" if path.exists() else " --game MODULE:CLASS"
