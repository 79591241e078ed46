"""`alphago train`: train a network from games against itself."""

import argparse
import sys
from pathlib import Path
from typing import Any

from alphago.cli import models
from alphago.cli.options import Parser, given_options, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.env.game import GameEnv
from alphago.env.games import make_game, with_settings
from alphago.system.validation import near_names
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
    parser.hints["--max-minutes"] = "--minutes is the length of the whole run, --stop-after ends only this call"
    models.add_game(parser, "go, or the model's own", "the preset's, the model's own, or the game's usual one, in Go 9")
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
    for flag, text in {**BRIEF, "--max-lag": "", "--verbose": ""}.items():
        parser.shorten(flag, text)


def run(options: argparse.Namespace) -> int:
    """Train with the recipe of the board, or of the next larger board that has one, for the recipe's time.  Ctrl-C and
    SIGTERM save and stop.  If --folder holds a run, it goes on; options then change only the settings that they name,
    and the value none removes one.  Values in parentheses are defaults, which a recipe may replace.
    """
    from alphago.nn.model_files import model_file
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
        hint_at_runs(Path(options.folder))
    more: list[Any] = [TensorBoardReport()] if options.tensorboard else []
    more += [GameReport()] if options.verbose else []
    with ConsoleReport() as console:
        train(env, reports=[console, *more], **given)
    return 0


def hint_at_runs(folder: Path) -> None:
    """Print which runs have folders with names similar to the new folder's, in case it is mistyped."""
    beside = [path.name for path in folder.parent.glob("*") if holds_run(path)]
    if near := near_names(folder.name, beside):
        print(f"there is no run in {folder}: did you mean {' or '.join(near)}?", file=sys.stderr)


def game_to_train(options: argparse.Namespace, model: Path | None) -> GameEnv:
    """Return the game to train for, with the game's keywords on the command line.

    If a run starts from a network, its game is the network's, on the board of --board-size or --preset.  Otherwise it
    is the game of the run in --folder.  If there is no run, it is the game of --preset or of --game, set up as its
    recipe says.

    Args:
        model: the file of the network to start from; None for a new network.

    Raises:
        ValueError: if --game, --board-size or --preset is for another game.
    """
    from alphago.nn.model_files import saved_game
    from alphago.training.recipes import named_recipe, recipe_for

    given, size, folder = models.given_game_settings(options), options.board_size, options.folder
    preset = None if options.preset is None else named_recipe(options.preset)
    if model is not None:
        env = saved_game(model, size)
        models.check_named(options.game, env, model)
        if preset is not None:
            if preset.game != env.name:
                raise ValueError(f"{model} plays {env.name}, got --preset {options.preset}, which is for {preset.game}")
            # Of the keywords of the preset's game, only those that the preset sets replace the network's own.
            config = preset.make_env(size).config
            env = with_settings(env, {name: config[name] for name in preset.env})
    elif folder is not None and holds_run(Path(folder)):
        env = run_game(Path(folder))
        for name, of_run, asked in (("game", env.name, options.game), ("board_size", env.N, size)):
            if asked not in (None, of_run):
                raise ValueError(f"the run in {folder} has {name} {of_run}, got {asked}")
    else:
        env = make_game(options.game or (preset.game if preset else None), size, **given)
        recipe = preset or recipe_for(env)
        if recipe.game == env.name:  # else --game names another game than the preset's, or the recipe is for all games
            # Without --board-size, a preset's game has the preset's own board.
            env = recipe.make_env(size if preset else env.N)
    return with_settings(env, given)
