"""`alphago train`: train a network from games against itself."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alphago.cli import models
from alphago.cli.options import Parser, given_options, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.env.game import GameEnv
from alphago.env.games import make_game, with_settings
from alphago.nn.model_files import model_file, saved_game
from alphago.system.validation import near_names
from alphago.training.recipes import Recipe, named_recipe, recipe_for
from alphago.training.runs.config import holds_run, run_game
from alphago.training.settings.run_settings import RunSettings

# What --help says of options that are no settings.
BRIEF = {
    "--game": "go, gomoku, connect-four, reversi, oware, …",
    "--board-size": "size of the board",
    "--device": "cpu, cuda or auto",
    "--workers": "who plays: a number, ADDRESS, folder:PATH",
}


def add_options(parser: Parser) -> None:
    parser.why_no_option["--max-minutes"] = "--minutes is the length of the whole run, --stop-after ends only this call"
    size = "the preset's, the model's own, or the game's usual one, in Go 9"
    models.add_game(parser, game="go, or the model's own", size=size)
    option(parser, "--preset NAME", "a recipe and its game: 9x9, cody2007, oware, … (the board's own)")
    models.add_run(parser)
    models.add_workers(parser)
    text = (
        "let workers play on while the network learns, with one that is at most N versions old; the run is then "
        "not bit-identical to another one (0: they wait for each network; 1 with 64 or more --groups)"
    )
    option(parser, "--max-lag N", text, integer)
    models.add_device(parser)
    option(parser, "--verbose", "print a line for each game of self-play", action="store_true")
    add_flags(parser, RunSettings, "the run")
    models.add_game_settings(parser)
    # An empty text leaves the option to --help-all.
    for flag, text in {**BRIEF, "--max-lag": "", "--verbose": ""}.items():
        parser.set_brief_help(flag, text)


def run(options: argparse.Namespace) -> int:
    """Train with the recipe of the board, or of the next larger board that has one, for the recipe's time.  Ctrl-C and
    SIGTERM save and stop.  If --folder holds a run, it goes on; options then change only the settings that they name,
    and the value none removes one.  Values in parentheses are defaults, which a recipe may replace.
    """
    from alphago.nn.net import load_model
    from alphago.training.call.train_call import train
    from alphago.training.watch.game_log import GameReport
    from alphago.training.watch.report import ConsoleReport, TensorBoardReport

    given = given_options(options, *models.RUN_OPTIONS, "preset", "workers", "max_lag", "device")
    given |= given_settings(options, RunSettings)
    path = None if options.model is None else model_file(options.model)
    env = game_to_train(options, path)
    if path is not None:
        given["model"] = load_model(path, env)
    if options.folder is not None and not holds_run(Path(options.folder)):
        hint_if_mistyped(Path(options.folder))  # for a new run, unless an older one was meant
    more: list[Any] = [TensorBoardReport()] if options.tensorboard else []
    more += [GameReport()] if options.verbose else []
    with ConsoleReport() as console:
        train(env, reports=[console, *more], **given)
    return 0


def hint_if_mistyped(folder: Path) -> None:
    """Print which runs beside a new run's folder have similar names, in case the folder's name is mistyped."""
    beside = [path.name for path in folder.parent.glob("*") if holds_run(path)]
    if near := near_names(folder.name, beside):
        print(f"there is no run in {folder}: did you mean {' or '.join(near)}?", file=sys.stderr)


def game_to_train(options: argparse.Namespace, model: Path | None) -> GameEnv:
    """Return the game to train for, with the game's keywords on the command line.

    If a run starts from a network, its game is the network's, on the board of --board-size or --preset.  Otherwise it
    is the game of the run in --folder.  If there is no run, it is the game of --preset or of --game, see
    `game_of_recipe`.

    Args:
        model: the file of the network to start from; None for a new network.

    Raises:
        ValueError: if --game, --board-size or --preset is for another game.
    """
    given = models.given_game_settings(options)
    preset = None if options.preset is None else named_recipe(options.preset)
    if model is not None:
        env = game_of_network(model, options, preset)
    elif options.folder is not None and holds_run(Path(options.folder)):
        env = game_of_run(Path(options.folder), options.game, options.board_size)
    else:
        env = game_of_recipe(options, preset, given)
    return with_settings(env, given)


def game_of_network(model: Path, options: argparse.Namespace, preset: Recipe | None) -> GameEnv:
    """Return the game of a network's file, on the board of --board-size or --preset; see `game_to_train`."""
    env = saved_game(model, options.board_size)
    models.check_named(options.game, env, model)
    if preset is None:
        return env
    if preset.game != env.name:
        raise ValueError(f"{model} plays {env.name}, got --preset {options.preset}, which is for {preset.game}")
    # The keywords that the preset names replace the network's own, and the others stay.
    config = preset.make_env(options.board_size).config
    return with_settings(env, {name: config[name] for name in preset.env})


def game_of_run(folder: Path, game: str | None, board_size: int | None) -> GameEnv:
    """Return the game of the run in a folder; raise ValueError if `game` or `board_size`, unless None, is another."""
    env = run_game(folder)
    for name, of_run, asked in (("game", env.name, game), ("board_size", env.N, board_size)):
        if asked not in (None, of_run):
            raise ValueError(f"the run in {folder} has {name} {of_run}, got {asked}")
    return env


def game_of_recipe(options: argparse.Namespace, preset: Recipe | None, given: Mapping[str, Any]) -> GameEnv:
    """Return the game of --game or --preset, set up by the preset or, without --preset, by the recipe of its board.

    The game has its usual options if the preset is for another game, or if there is no recipe for the game.

    Args:
        given: keywords of the game.  They are needed here only to make a game that cannot be made without them: the
            game that is returned may lack them, and the caller applies them.
    """
    env = make_game(options.game or (preset.game if preset else None), options.board_size, **given)
    recipe = preset or recipe_for(env)
    if recipe.game != env.name:
        return env
    return recipe.make_env(options.board_size if preset else env.N)  # without --board-size, the preset's own board
