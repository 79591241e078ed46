"""`alphago train`: train a network from games against itself."""

import argparse
import sys
from pathlib import Path
from typing import Any

from alphago.cli.models import add_device, add_game, add_game_settings, add_workers, check_named, given_game_settings
from alphago.cli.options import Parser, given_options, integer, number, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game, with_settings
from alphago.system.validation import near_names
from alphago.training.runs.config import holds_run, read_config, version_errors
from alphago.training.settings.run_settings import RunSettings

# What --help says of options that are no settings.
BRIEF = {
    "--game": "go, gomoku, connect-four, reversi, oware, …",
    "--board-size": "size of the board",
    "--model": "a network to start from",
    "--stop-after": "save and stop; --folder resumes",
    "--device": "cpu, cuda or auto",
    "--tensorboard": "write curves for TensorBoard",
    "--workers": "who plays: a number, ADDRESS, folder:PATH",
}
NOTES = {
    "the run": "Values in parentheses are defaults, which a recipe may replace.",
    "the gate": "Any of these options switches the gate on.",
}


def add_options(parser: Parser) -> None:
    parser.hints["--max-minutes"] = "--minutes is the length of the whole run, --stop-after ends only this call"
    add_game(parser, "go, or the model's own", "the preset's or the model's own, or the game's usual one, in Go 9")
    option(parser, "--preset NAME", "a recipe and its game: 9x9, cody2007, oware, … (the board's own)")
    option(parser, "--tower-height N", "residual blocks (the recipe's)", integer)
    option(parser, "--channels N", "channels of the network (the recipe's)", integer)
    option(parser, "--model FILE", "a network to start from; its file is not changed")
    option(parser, "--folder PATH", "the run's folder (a new one in runs)")
    option(parser, "--stop-after MINUTES", "save and stop after so many minutes; --folder resumes", number)
    add_workers(parser)
    text = (
        "let workers play on while the network learns, with one that is at most N versions old; the run is then "
        "not bit-identical to another one (0: they wait for each network; 1 with 64 or more --groups)"
    )
    option(parser, "--max-lag N", text, integer)
    add_device(parser, default=argparse.SUPPRESS)
    option(parser, "--tensorboard", "write curves for TensorBoard into the run's folder", action="store_true")
    option(parser, "--verbose", "print a line for each game of self-play", action="store_true")
    add_flags(parser, RunSettings, "the run", notes=NOTES)
    add_game_settings(parser)
    for flag, text in {**BRIEF, "--max-lag": "", "--verbose": ""}.items():
        parser.shorten(flag, text)


def run(options: argparse.Namespace) -> int:
    """Train with the recipe of the board, or of the next larger board that has one, for the recipe's time.  Ctrl-C and
    SIGTERM save and stop.  If --folder holds a run, it goes on; options then change only the settings that they name,
    and the value none removes one.
    """
    from alphago.nn.model_files import model_file
    from alphago.nn.net import load_model
    from alphago.training.call.train_call import train
    from alphago.training.watch.game_log import GameReport
    from alphago.training.watch.report import ConsoleReport, TensorBoardReport

    names = ("folder", "preset", "tower_height", "channels", "stop_after", "workers", "max_lag")
    given = given_options(options, *names)
    # These flags, and those of settings, are in `options` only if they were given.
    given |= {"device": options.device} if "device" in options else {}
    given |= given_settings(options, RunSettings)
    game_settings = given_game_settings(options)
    if options.model is not None:
        path = model_file(options.model)
        env = game_of_model(path, options, game_settings)
        given["model"] = load_model(path, env)
    else:
        env = trained_game(options, game_settings)
    if options.folder is not None and not holds_run(Path(options.folder)):
        hint_at_runs(Path(options.folder))
    more_reports: list[Any] = [TensorBoardReport()] if options.tensorboard else []
    more_reports += [GameReport()] if options.verbose else []
    with ConsoleReport() as console:
        train(env, reports=[console, *more_reports], **given)
    return 0


def hint_at_runs(folder: Path) -> None:
    """Print the runs whose folders have names similar to `folder`, a new folder, in case its name is mistyped."""
    beside = [path.name for path in folder.parent.glob("*") if holds_run(path)]
    if near := near_names(folder.name, beside):
        print(f"there is no run in {folder}: did you mean {' or '.join(near)}?", file=sys.stderr)


def game_of_model(path: Path, options: argparse.Namespace, given: dict[str, Any]) -> GameEnv:
    """Return the game of a network to start from, on the board of --board-size or --preset, with the keywords `given`.

    Args:
        path: the network's file.
        options: the parsed options.
        given: the game's keywords on the command line.

    Raises:
        ValueError: if --game or --preset is for another game.
    """
    from alphago.nn.model_files import saved_game
    from alphago.training.recipes import named_recipe

    env = saved_game(path, options.board_size)
    check_named(options.game, env, path)
    if options.preset is None:
        return with_settings(env, given)
    recipe = named_recipe(options.preset)
    if recipe.game != env.name:
        raise ValueError(f"{path} plays {env.name}, got --preset {options.preset}, which is for {recipe.game}")
    config = recipe.make_env(options.board_size).config
    return with_settings(env, {name: config[name] for name in recipe.env} | given)


def trained_game(options: argparse.Namespace, given: dict[str, Any]) -> GameEnv:
    """Return the game to train for, with the keywords `given`.

    If --folder holds a run, the game is the run's.  Otherwise it is the game of --preset, or the game of --game as the
    recipe for this game sets it up.

    Args:
        options: the parsed options.
        given: the game's keywords on the command line.
    """
    from alphago.nn.model_files import model_file, saved_game
    from alphago.training.recipes import named_recipe, recipe_for

    folder = options.folder
    if folder is not None and holds_run(Path(folder)):
        config = read_config(Path(folder))
        if config["game"] not in GAMES:
            saved_game(model_file(folder))  # raises, with the game's class
        with version_errors(Path(folder), "a game"):
            env = GAMES[config["game"]](**config["env"])
        for name, of_run, asked in (("game", env.name, options.game), ("board_size", env.N, options.board_size)):
            if asked not in (None, of_run):
                raise ValueError(f"the run in {folder} has {name} {of_run}, got {asked}")
        return with_settings(env, given)
    preset = None if options.preset is None else named_recipe(options.preset)
    env = make_game(options.game or (preset.game if preset else None), options.board_size, **given)
    recipe = preset or recipe_for(env)
    if recipe.game != env.name:  # --game names another game than the preset's, or the recipe is for all games
        return env
    size = options.board_size if preset else env.N  # a preset has a board of its own
    return with_settings(recipe.make_env(size), given)
