"""`alphago supervised`: train a network on given games."""

import argparse
import contextlib
from collections import Counter
from pathlib import Path
from typing import Any

from alphago.cli.models import RUN_OPTIONS, add_device, add_run
from alphago.cli.options import Parser, given_options, integer, number, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.training.runs.config import holds_run
from alphago.training.supervised.supervised_settings import SupervisedSettings


def add_options(parser: Parser) -> None:
    text = "a dataset (alphago sgf FILES --to DATASET), a run of self-play, or a file or folder of games"
    option(parser, "dataset DATASET", text)
    option(parser, "--board-size N", "size of the board (the model's, or the dataset's usual one)", integer)
    option(parser, "--komi K", "komi of games without one (the board's default)", number)
    option(parser, "--test", "only test --model, on the test games; train nothing", action="store_true")
    text = "how often each game is trained on, on average, instead of --games (1; a resumed run keeps its own)"
    option(parser, "--epochs X", text, number)
    add_run(parser)
    add_device(parser)
    add_flags(parser, SupervisedSettings, "the run")


def run(options: argparse.Namespace) -> int:
    """Train a network to predict the moves and results of given games.  At intervals the network is tested on held-out
    games; the network that predicts the most moves is kept.  alphago train --model can continue with it.  Ctrl-C saves
    and stops; the same --folder resumes.
    """
    from alphago.training.judges.prediction import measures_text
    from alphago.training.supervised.call import predict_games, train_supervised
    from alphago.training.watch.report import ConsoleReport, TensorBoardReport

    env, net = choose_game(options)
    if options.test:
        if net is None:
            raise ValueError("--test must have a network to test: --model FILE")
        print(f"test games: {measures_text(predict_games(net, options.dataset))}")
        return 0
    given = given_options(options, *RUN_OPTIONS, "epochs", "device") | given_settings(options, SupervisedSettings)
    with ConsoleReport() as console:
        reports = [console, *([TensorBoardReport()] if options.tensorboard else [])]
        best = train_supervised(env, options.dataset, net, reports=reports, **given)
    with contextlib.suppress(ValueError):  # the dataset has no test games
        print(f"test games: {measures_text(predict_games(best, options.dataset))}")
    return 0


def choose_game(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the game, and the network to start from; the latter is None for a new network.

    With --model, the game is the network's.  Otherwise it is the game of the run in --folder, or of the run in DATASET.
    If neither folder holds a run, it is Go, on the board of --board-size, or on the dataset's most frequent board.

    Raises:
        ValueError: if --board-size is for another game than the run's.
    """
    from alphago.cli.train import game_of_run
    from alphago.env.games import make_game, with_settings
    from alphago.nn.model_files import model_file, saved_game
    from alphago.nn.net import load_model
    from alphago.records.dataset import Dataset, is_dataset

    if options.model is not None:
        path = model_file(options.model)
        env = with_settings(saved_game(path, options.board_size), given_options(options, "komi"))
        return env, load_model(path, env)
    for folder in filter(None, (options.folder, options.dataset)):
        if holds_run(Path(folder)):
            env = game_of_run(Path(folder), None, options.board_size)
            return with_settings(env, given_options(options, "komi")), None
    size = options.board_size
    if size is None and is_dataset(options.dataset):
        counts = Counter(Dataset(options.dataset).rows["size"].tolist())
        size = counts.most_common(1)[0][0] if counts else None
    return make_game(None, size, komi=options.komi), None
