"""`alphago train`, `alphago selfplay` and `alphago plot`."""

import argparse
import sys
from pathlib import Path
from types import NoneType
from typing import Any

from alphago.arena.engine import EngineError
from alphago.cli.game_folder import GameFolder
from alphago.cli.models import (
    add_device,
    add_game,
    add_game_settings,
    add_model,
    check_named,
    given_game_settings,
    load,
)
from alphago.cli.options import Parser, Setting, add_settings, given_settings, number, whole
from alphago.env.game import GameEnv
from alphago.env.games import make_game, with_settings
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.loss import LOSSES, LossWeights
from alphago.system.validation import make_settings, near_names
from alphago.training.group import SelfPlaySettings
from alphago.training.judges.gate import Gate
from alphago.training.selfplay import selfplay
from alphago.training.settings import TrainingSettings

SHORT = {"num_games": "games", "max_minutes": "minutes"}  # flags of settings that have a longer name in Python
LOSS, GATE = "loss_", "gate_"  # before the names of their settings

# What self-play chooses by itself, as help tells it.
SELFPLAY = {"resign_threshold": "the model's own"}
SELFPLAY_SEARCH = {"gumbel": True, "considered": "half of the readouts, 2 to 16", "leaves": "as many as fill a batch"}


def add_train(parser: Parser) -> None:
    parser.description = (
        "Trains by the board's recipe, or the next larger board's, until the time is over; Ctrl-C saves and stops. "
        "With the folder of a run, it goes on; options then change what they say and leave the rest, "
        "and the word none takes a setting off."
    )
    parser.others["--max-minutes"] = "--minutes is the length of the whole run, --stop-after of this slice of it"
    add_game(parser, "go, or the model's own", "the preset's or the model's own, or the game's usual one, in Go 9")
    parser.add_argument("--preset", metavar="NAME", help="another game of Go and recipe than the board's own")
    parser.add_argument("--tower-height", type=whole, metavar="N", help="residual blocks (the recipe's)")
    parser.add_argument("--channels", type=whole, metavar="N", help="width of the network (the recipe's)")
    parser.add_argument("--model", metavar="FILE", help="a network to go on with; it stays as it is")
    parser.add_argument(
        "--until", metavar="PLAYER", default=argparse.SUPPRESS, type=Setting("until", (str, NoneType), None, "").read,
        help="end as soon as it is proved to be stronger, e.g. than gnugo or rave:1000",
    )  # fmt: skip
    parser.add_argument("--folder", metavar="PATH", help="where the run is kept (a new one in runs)")
    parser.add_argument(
        "--stop-after", type=number, metavar="MINUTES", help="stop then, as Ctrl-C does; --folder goes on with the run"
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        default=None,
        help="leave at most 60 MiB, 16 a file: the newest games, the latest network",
    )
    add_device(parser)
    parser.add_argument("--tensorboard", action="store_true", help="keep curves for TensorBoard in the run's folder")
    training = parser.add_argument_group("training", "The board's recipe goes before the values in parentheses.")
    add_settings(training, TrainingSettings, leave=["losses"], flags=SHORT)
    losses = parser.add_argument_group("the losses, and how much each counts")
    losses.add_argument("--losses", choices=list(LOSSES), default=argparse.SUPPRESS, help="all weights (default)")
    add_settings(losses, LossWeights, prefix=LOSS)
    gate = parser.add_argument_group("the gate", "One of these is enough to have a gate.")
    add_settings(gate, Gate, prefix=GATE, leave=["win_rate"])
    search = parser.add_argument_group("the search of self-play")
    add_settings(search, SearchSettings, defaults=SELFPLAY_SEARCH)
    add_game_settings(parser)
    parser.set_defaults(run=run_train)


def run_train(options: argparse.Namespace) -> int:
    from alphago.nn.net import load_model
    from alphago.nn.saved import model_file, saved_game
    from alphago.training.session import train
    from alphago.training.watch.report import ConsoleReport, TensorBoardReport

    names = ("folder", "preset", "tower_height", "channels", "stop_after", "compact", "device")
    given: dict[str, Any] = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "until" in options:
        given["until"] = options.until
    given |= given_training(options)
    if options.board_size is None and given.get("sizes") and not goes_on(options.folder):
        options.board_size = max(size for size, _ in given["sizes"])
    if options.tensorboard:
        given["reports"] = [ConsoleReport(), TensorBoardReport()]
    env_options = given_game_settings(options)
    if options.model is not None:
        path = model_file(options.model)
        env = saved_game(path, options.board_size, env_options.pop("komi", None))
        check_named(options.game, env, path)
        env = with_settings(env, env_options)
        given["model"] = load_model(path, env)
    else:
        env = trained_game(options, env_options)
    if options.folder is not None and not goes_on(options.folder):
        hint_at_runs(Path(options.folder))
    try:
        train(env, **given)
    except EngineError as error:
        raise ValueError(str(error)) from None
    return 0


def given_training(options: argparse.Namespace) -> dict[str, Any]:
    """The settings of training that were given; those that are made of settings as dictionaries of what was given."""
    given = given_settings(options, TrainingSettings)
    if search := given_settings(options, SearchSettings):
        given["search"] = search
    if weights := given_settings(options, LossWeights, LOSS):
        named = vars(LOSSES[given["losses"]]) if "losses" in given else {}
        given["losses"] = {**named, **weights}
    if gate := given_settings(options, Gate, GATE):
        if "gate" in given and given["gate"] is None:
            raise ValueError("--gate none leaves no gate, but another option of it came")
        given["gate"] = {**gate, **({"win_rate": given["gate"]} if "gate" in given else {})}
    return given


def goes_on(folder: str | None) -> bool:
    """Whether there is a run in the folder."""
    from alphago.training.runs.config import holds_run

    return folder is not None and holds_run(Path(folder))


def hint_at_runs(folder: Path) -> None:
    """Tells of runs beside a new one whose folders have nearly its name: it may be a typo."""
    beside = [path.name for path in folder.parent.glob("*") if goes_on(str(path))]
    if near := near_names(folder.name, beside):
        print(f"there is no run in {folder}: did you mean {' or '.join(near)}?", file=sys.stderr)


def trained_game(options: argparse.Namespace, given: dict[str, Any]) -> GameEnv:
    """The game that a new network is trained on: the options' over the run folder's, the preset's or the recipe's."""
    from alphago.training.recipes import named_recipe, recipe_for
    from alphago.training.runs.config import read_config, version_errors

    folder = options.folder
    if goes_on(folder):
        config = read_config(Path(folder))
        with version_errors(Path(folder), "a game"):
            env = make_game(config["game"]).replace(**config["env"])
        for name, was, now in (("game", env.name, options.game), ("board_size", env.N, options.board_size)):
            if now not in (None, was):
                raise ValueError(f"the run in {folder} has {name} {was}, now {now} came")
        return with_settings(env, given)
    env = make_game(options.game, options.board_size, **given)
    recipe = recipe_for(env) if options.preset is None else named_recipe(options.preset)
    if recipe.game != env.name:
        return env
    size = env.N if options.preset is None else options.board_size
    return with_settings(recipe.make_env(size), given)


def add_selfplay(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Plays games of a network against itself: a folder of SGF files for Go, a file of records (games.npz, which "
        "alphago.records.record.load_records reads) for other games and with --records."
    )
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    parser.add_argument("--games", type=whole, default=10, metavar="N", help="how many (10)")
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="another one gives other games (0)")
    add_device(parser)
    parser.add_argument("--records", action="store_true", help="records instead of SGF: with policies and values")
    parser.add_argument("--folder", metavar="PATH", help="where the games are kept, new or empty (one in runs)")
    add_settings(parser.add_argument_group("self-play"), SelfPlaySettings, leave=["search"], defaults=SELFPLAY)
    add_settings(parser.add_argument_group("its search"), SearchSettings, defaults=SELFPLAY_SEARCH)
    add_game_settings(parser)
    parser.set_defaults(run=run_selfplay)


def run_selfplay(options: argparse.Namespace) -> int:
    game_settings = given_game_settings(options)
    env, network = load(options.model, options.board_size, game_settings.pop("komi", None), options.game)
    env = with_settings(env, game_settings)
    given = given_settings(options, SelfPlaySettings)
    # These raise now rather than behind a progress bar.
    make_settings(SelfPlaySettings, **given)
    evaluator = as_evaluator(network, env, options.device or "auto")
    if search := given_settings(options, SearchSettings):
        given["search"] = search
    given.setdefault("resign_threshold", network.resign_threshold)
    as_records = options.records or not env.has_sgf
    with GameFolder(options.folder, env, options.games, as_records) as folder:
        selfplay(env, evaluator, num_games=options.games, seed=options.seed, tell=folder.add, **given)
    return 0


def add_plot(parser: argparse.ArgumentParser) -> None:
    parser.description = "Draws losses, games, speed and matches of one or several runs, side by side, in one picture."
    parser.usage = f"{parser.prog} RUN... [OPTIONS]"
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a folder that training has left, or is filling")
    parser.add_argument("--out", default="curves.png", metavar="FILE", help=".png, .svg or .pdf (curves.png, here)")
    parser.add_argument(
        "--x", default="minutes", choices=("minutes", "processor", "games", "positions"), help="x axis (minutes)"
    )
    parser.set_defaults(run=run_plot)


def run_plot(options: argparse.Namespace) -> int:
    from alphago.training.watch.plots import plot  # only now: it needs matplotlib

    plot(options.runs, options.out, options.x)
    print(options.out)
    return 0
