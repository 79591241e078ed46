"""Which game and which network a command means."""

import argparse
from dataclasses import replace
from typing import Any

from alphago.cli.options import Setting, add_setting, given_settings, settings_of, whole
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, USUAL_GAME, make_game

NETWORK = "a network's file or run folder"


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help=f"{NETWORK} (the package's own)")
    parser.usage = f"{parser.prog} [MODEL] [OPTIONS]"


def add_game(parser: argparse.ArgumentParser, usual: str, usual_size: str) -> None:
    parser.add_argument("--game", choices=list(GAMES), help=f"what is played ({usual})")
    parser.add_argument("--board-size", type=whole, metavar="N", help=f"points along a side ({usual_size})")


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=("cpu", "cuda", "auto"),
        help="where boards and networks are; auto: the GPU where there is one that suits them (auto)",
    )  # fmt: skip


def add_game_settings(parser: argparse.ArgumentParser) -> None:
    """An option for every keyword of every game, board_size apart; it says what the keyword is in each game."""
    known: dict[str, list[tuple[str, Setting]]] = {}
    for name, env in GAMES.items():
        for setting in settings_of(env):
            if setting.name != "board_size":
                known.setdefault(setting.name, []).append((name, setting))
    group = parser.add_argument_group("the game")
    for name, settings in known.items():
        kinds = tuple(dict.fromkeys(kind for _, setting in settings for kind in setting.kinds))
        text = "; ".join(f"{game}: {setting.told}" for game, setting in settings)
        add_setting(group, "--" + name.replace("_", "-"), replace(settings[0][1], kinds=kinds, default=None, text=text))


def given_game_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords that were given, whatever the game; board_size apart."""
    given: dict[str, Any] = {}
    for env in GAMES.values():
        given |= given_settings(options, env)
    given.pop("board_size", None)
    return given


def load(model: str | None, board_size: int | None, komi: float | None, game: str | None = None) -> tuple[GameEnv, Any]:
    """The game and the network to play it with; ValueError with a sentence if they do not go together.

    Without a model it is the package's own for that board, or, where there is none, its largest one.
    """
    from alphago.nn.model_files import model_file, packaged_nets, saved_game
    from alphago.nn.net import load_model  # only now: it loads torch

    if model is None:
        if game not in (None, USUAL_GAME):
            raise ValueError(f"no network for {game} comes with the package: name one (alphago train --game {game})")
        env = make_game(board_size=board_size, komi=komi)  # ValueError for a size that there is not
        names = packaged_nets()
        model = f"{env.N}x{env.N}" if f"{env.N}x{env.N}" in names else names[-1]
        board_size = env.N
    path = model_file(model)
    played = saved_game(path, board_size, komi)
    check_named(game, played, path)
    return played, load_model(path, played)


def check_named(game: str | None, env: GameEnv, path: Any) -> None:
    """ValueError if a game was named and the network in the file plays another one."""
    if game not in (None, env.name):
        raise ValueError(f"{path} holds a network for {env}, wanted one for {game}")
