"""The config of a run on disk: config.json, with a digest, and a copy that is read if config.json is damaged."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphago.system.files import bytes_digest, parse_json, read_file, typed_path, write_atomic
from alphago.system.settings import KIND
from alphago.system.validation import shown

if TYPE_CHECKING:
    from alphago.env.game import GameEnv

CONFIG = "config.json"
COPY = "config.copy.json"
MOST_BYTES = 2**26  # largest config that is read
VERSION = 7  # the version of the form of all files of a run


def holds_run(path: Path) -> bool:
    """Return whether a folder holds a run: whether there is a config or its copy, damaged or not."""
    return any(os.path.lexists(path / name) for name in (CONFIG, COPY))


def read_config(path: Path) -> dict[str, Any]:
    """Return the config of the run in the folder `path`, from config.json or, if that is damaged, from the copy.

    Raises:
        ValueError: if both are damaged or of another version; the message says what to do.
    """
    try:
        return parse_config(path / CONFIG)
    except ValueError as error:
        with contextlib.suppress(ValueError):
            return parse_config(path / COPY)
        raise ValueError(f"{path / CONFIG} {error}: {how_to_go_on(path)}") from error


def parse_config(path: Path) -> dict[str, Any]:
    """Return the config in the file `path`.

    Raises:
        ValueError: if the file is missing, damaged or of another version; the message, such as "is gone", continues a
            sentence that begins with the file's name.
    """
    try:
        config = parse_json(read_file(path, MOST_BYTES))
    except FileNotFoundError:
        raise ValueError("is gone") from None
    if not isinstance(config, dict) or "version" not in config:
        raise ValueError("is damaged (it is not a run's config)")
    if config["version"] != VERSION:
        raise ValueError(f"is of another version (it must be {VERSION}, got {shown(config['version'])})")
    if config.pop("digest", "") != config_digest(config):
        raise ValueError("is damaged (its digest differs)")
    return config


def config_digest(config: Mapping[str, Any]) -> str:
    """Return a hash of a config as JSON."""
    return bytes_digest(json.dumps(config).encode())


def flat_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a config as plain data, by the keywords of `train`.

    In a config the settings of self-play, of learning and of the memory are dictionaries.  Here they are joined with
    the run's settings, but those of the memory only if the memory is the usual window of games.  Other parts stay
    dictionaries.  The dictionary of the memory stays too, so that a reader can tell the kind of memory: by the entry
    KIND, or for the usual window by the absence of this entry.
    """
    settings = dict(config["settings"])
    memory = settings.get("memory", {})  # a run on given games has none, and no settings of self-play
    is_window = KIND not in memory  # every other kind of memory has this entry
    flat = {**settings.pop("learning"), **settings.pop("selfplay", {})}
    return {**settings, **flat, **(memory if is_window else {})}


def run_game(folder: Path) -> "GameEnv":
    """Return the game of the run in a folder.

    Raises:
        ValueError: for a custom game, unless the option `--game` has added it to GAMES; the message has its class.
    """
    from alphago.env.games import GAMES  # imported late, since it loads numba

    config = read_config(folder)
    if config["game"] not in GAMES:
        raise ValueError(
            f"{folder} holds a run of {config['game']}, which does not come with the package: give the game, in Python "
            f"as env=…, on the command line as{game_flag(config['game'], folder)}"
        )
    with version_errors(folder, "a game"):
        return game_from_config(config)


def game_from_config(config: Mapping[str, Any]) -> "GameEnv":
    """Return the game of a run with this config; raise LookupError for a game that is not in GAMES."""
    from alphago.env.games import GAMES  # imported late, as above

    return GAMES[config["game"]](**config["env"])


def write_config(path: Path, config: dict[str, Any]) -> None:
    """Write `config` to config.json and its copy in the folder `path`; raise OSError if that fails."""
    sealed = {**config, "digest": config_digest(config)}
    data = (json.dumps(sealed, indent=2) + "\n").encode()
    for name in (CONFIG, COPY):
        write_atomic(path / name, data)


def repair_config(path: Path, config: dict[str, Any]) -> list[str]:
    """Write `config` to config.json and its copy, after setting aside (renaming) a damaged config.json.

    Args:
        path: the run's folder.
        config: the run's config, as `read_config` returned it.

    Returns:
        Sentences about damage of config.json, for a report.
    """
    notes = []
    try:
        parse_config(path / CONFIG)
    except ValueError as error:
        is_gone = not os.path.lexists(path / CONFIG)
        damage = f"{path / CONFIG} {error}" if is_gone else set_aside(path / CONFIG, str(error))
        notes.append(f"{damage}; it was restored from its copy")
    write_config(path, config)
    return notes


def set_aside(path: Path, reason: str) -> str:
    """Rename a damaged file, and return a sentence about it for a report.

    Args:
        reason: the part of the sentence after the file's name, such as "is damaged".
    """
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    return f"{path} {reason}; it was set aside as {aside.name}"


@contextlib.contextmanager
def version_errors(path: Path, what: str) -> Iterator[None]:
    """Replace a TypeError or LookupError in the `with` block by the ValueError of `other_version`.

    Args:
        path: the run's folder.
        what: the saved data that the block reads, such as "settings".
    """
    try:
        yield
    except (TypeError, LookupError) as error:
        raise other_version(path, what, str(error)) from error


def other_version(path: Path, what: str, why: str) -> ValueError:
    """Return the error for a run with saved data of another version of the package.

    Args:
        path: the run's folder.
        what: the saved data, such as "settings".
        why: the details.
    """
    return ValueError(f"the run in {path} has {what} of another version ({why}): {how_to_go_on(path)}")


def how_to_go_on(path: Path) -> str:
    """Return a clause that says what to do with a run that this version cannot resume."""
    command = f"alphago train --model {typed_path(path)} --folder ANOTHER"
    return f"it cannot go on, but {command} begins a new run with its network"


def how_to_continue(folder: Path, more: str = "") -> str:
    """Return the command that continues the run in a folder; if no command can, the call in Python.

    Args:
        more: further options of the command, such as "--games 200"; a call in Python is returned without them.
    """
    config = read_config(folder)
    given: Mapping[str, Any] | None = config.get("given")  # None unless the run learns from given games
    game_option = game_flag(config["game"], folder)  # "" for a game of the package
    if config["network"]["custom"] or (given is not None and game_option):  # `alphago supervised` has no option --game
        call = "train(env, model=net" if given is None else "train_supervised(env, games, net"
        return f"in Python {call}, folder={str(folder)!r})"
    if given is None:
        command = f"train{game_option}"  # the option begins with a space
    else:  # without a dataset's path, as for games from Python, the user fills it in
        command = f"supervised {typed_path(given['dataset'] or 'DATASET')}"
    return f"alphago {command} --folder {typed_path(folder)} {more}".rstrip()


def game_flag(name: str, folder: Path) -> str:
    """Return the option " --game FILE.py:CLASS" of a custom game; "" for a game of the package.

    Args:
        name: the game's name.
        folder: the run's, whose network names the game's class.
    """
    from alphago.env.games import GAMES, is_packaged  # imported late, as above
    from alphago.nn.model_files import LATEST, read_description  # loads torch

    path = folder / LATEST
    if name in GAMES and is_packaged(GAMES[name]):
        return ""
    return f" --game {read_description(path)['reference']}" if path.exists() else " --game FILE.py:CLASS"
