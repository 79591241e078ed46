"""`alphago supervised`: train a network on given games."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from alphago.cli.models import add_device
from alphago.cli.options import add_settings, given_settings, integer, number
from alphago.nn.loss import LOSSES, LossWeights
from alphago.training.settings import TrainingSettings

LOSS = "loss_"  # prefix of the losses' settings among the parsed options
# Settings of TrainingSettings that have no effect on supervised training or are set by other options.
LEFT_OUT = (
    "epochs", "losses", "search", "readouts", "games_in_flight", "temperature_plies", "resign_threshold",
    "no_resign_share", "opening_plies", "num_games", "memory_size", "ckp_freq", "start_training_after",
    "samples_per_position", "search_share", "surprise_share", "first_readouts", "first_games_in_flight",
    "plies_per_iteration", "curriculum", "gate", "judges", "memory", "targets", "seating", "adaptive_resignation",
    "exact_rules",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Trains a network to predict the moves and results of given games. At intervals the network is tested on "
        "held-out games; the network that predicts the most moves is kept. alphago train --model can continue with it. "
        "Ctrl-C saves and stops; the same --folder resumes."
    )
    parser.usage = f"{parser.prog} DATASET [OPTIONS]"
    parser.add_argument(
        "dataset", metavar="DATASET",
        help="a dataset (alphago sgf FILES --to DATASET), a run of self-play, or a file or folder of games",
    )  # fmt: skip
    parser.add_argument(
        "--board-size", type=integer, metavar="N", help="size of the board (the model's, or the dataset's usual one)"
    )
    parser.add_argument("--komi", type=number, metavar="K", help="komi of games without one (the board's default)")
    parser.add_argument("--model", metavar="FILE", help="a network to start from; its file is not changed")
    parser.add_argument(
        "--epochs",
        type=number,
        metavar="X",
        help="how often each game is trained on, on average (1; a resumed run keeps its own)",
    )
    parser.add_argument(
        "--minutes", dest="max_minutes", type=number, metavar="X", help="end the run after X minutes, if not before"
    )
    parser.add_argument("--tower-height", type=integer, metavar="N", help="residual blocks (the board's recipe's)")
    parser.add_argument("--channels", type=integer, metavar="N", help="channels of the network (the board's recipe's)")
    parser.add_argument("--checks", type=integer, default=20, metavar="N", help="tests on held-out games (20)")
    parser.add_argument("--folder", metavar="PATH", help="the run's folder (a new one in runs)")
    parser.add_argument(
        "--stop-after", type=number, metavar="MINUTES", help="save and stop after so many minutes; --folder resumes"
    )
    add_device(parser)
    parser.add_argument("--tensorboard", action="store_true", help="write curves for TensorBoard into the run's folder")
    training = parser.add_argument_group("training")
    defaults = {"batch_size": 128, "learning_rate": 0.01, "dense_rate": 0.1}
    add_settings(training, TrainingSettings, leave=[*LEFT_OUT, "max_minutes"], defaults=defaults)
    losses = parser.add_argument_group("weights of the losses")
    losses.add_argument(
        "--losses", choices=list(LOSSES), default=argparse.SUPPRESS, help="a set of all weights (default)"
    )
    add_settings(losses, LossWeights, prefix=LOSS)


def run(options: argparse.Namespace) -> int:
    from alphago.training.supervised.call import predict_games, train_supervised
    from alphago.training.watch.report import ConsoleReport, TensorBoardReport

    env, net = game_of(options)
    names = ("folder", "tower_height", "channels", "stop_after", "max_minutes")
    given: dict[str, Any] = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    learning = given_settings(options, TrainingSettings)
    given |= {name: value for name, value in learning.items() if name not in ("epochs", "max_minutes")}
    if weights := given_settings(options, LossWeights, LOSS):
        named = vars(LOSSES[given["losses"]]) if "losses" in given else {}
        given["losses"] = {**named, **weights}
    with ConsoleReport(f"alphago supervised {shlex.quote(str(options.dataset))}") as console:
        reports = [console, *([TensorBoardReport()] if options.tensorboard else [])]
        best = train_supervised(
            env, options.dataset, net, epochs=options.epochs, checks=options.checks, device=options.device,
            reports=reports, **given,
        )  # fmt: skip
    try:
        found = predict_games(best, options.dataset)
    except ValueError:
        return 0  # the dataset has no test games
    print(
        f"on {found['positions_judged']} test positions: top-1 {found['accuracy']:.1%}, top-5 {found['top5']:.1%}, "
        f"cross-entropy {found['cross_entropy']:.3f}, value error {found['value_error']:.3f}, "
        f"value's side right {found['value_accuracy']:.1%}, calibration error {found['calibration_error']:.1%}"
    )
    return 0


def game_of(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the game, and the network to start from, or None for a new network.

    With --model, the game is the network's.  Otherwise it is the game of the run in --folder or of the run DATASET.  If
    neither holds a run, it is Go on the board of --board-size or, by default, on the dataset's most frequent board.
    """
    from alphago.env.games import GAMES, make_game
    from alphago.nn.model_files import model_file, saved_game
    from alphago.nn.net import load_model
    from alphago.records.dataset import Dataset, is_dataset
    from alphago.training.runs.config import holds_run, read_config

    for folder in filter(None, (options.folder, options.dataset)):
        if holds_run(Path(folder)) and options.model is None:
            config = read_config(Path(folder))
            if config["game"] in GAMES:
                return GAMES[config["game"]](**config["env"]), None
    if options.model is not None:
        path = model_file(options.model)
        env = saved_game(path, options.board_size, options.komi)
        return env, load_model(path, env)
    size = options.board_size
    if size is None and is_dataset(options.dataset):
        sizes, counts = board_sizes(Dataset(options.dataset))
        size = sizes[counts.index(max(counts))] if sizes else None
    return make_game(None, size, komi=options.komi), None


def board_sizes(dataset: Any) -> tuple[list[int], list[int]]:
    """Return the board sizes in a dataset, and the number of games of each size."""
    import numpy as np

    sizes, counts = np.unique(dataset.rows["size"], return_counts=True)
    return sizes.tolist(), counts.tolist()
