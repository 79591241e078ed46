"""The functions `train_supervised`, which trains a network on given games, and `predict_games`, which tests it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import AveragedEvaluator
from alphago.nn.loss import LOSSES
from alphago.nn.net import NeuralNet
from alphago.nn.threads import one_torch_thread
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.settings_tree import SettingsTree
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.call.opening import RunParts
from alphago.training.call.plan import TrainCall
from alphago.training.call.session import Slice, train_run
from alphago.training.judges.held_out import HeldOutGames
from alphago.training.judges.prediction import AT_ONCE, Counts, predict
from alphago.training.learner import Learner
from alphago.training.parts import RUN
from alphago.training.runs.config import flat_settings, holds_run, read_config
from alphago.training.settings.run_settings import AnyRunSettings
from alphago.training.supervised.given_games import given_games, left_out_sentence
from alphago.training.supervised.source import Given, GivenSource
from alphago.training.watch.report import Report

HELD_OUT_POSITIONS = 20_000  # positions of a test: enough to distinguish an accuracy of 47 % from 48 %
CHECKS = 20  # tests in a run

SUPERVISED = SettingsTree(AnyRunSettings, {"losses": LOSSES})  # the settings of supervised learning
USUAL: dict[str, Any] = {"batch_size": 128, "learning_rate": 0.01, "dense_rate": 0.1}  # their other defaults
# What the given games determine: each position is sampled once an epoch, and games follow exact rules.
GIVEN: dict[str, Any] = {
    "samples_per_position": 1.0,
    "start_training_after": 0,
    "exact_rules": True,
    "search_share": 0.0,
    "surprise_share": 0.0,
    "opening_plies": 0,
}


@checks_keywords(RUN.keywords)
def train_supervised(
    env: GameEnv,
    dataset: Any,
    net: NeuralNet | str | Path | None = None,
    *,
    epochs: float | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    stop_after: float | None = None,
    device: str = "auto",
    held_out_positions: int = HELD_OUT_POSITIONS,
    checks: int = CHECKS,
    **settings: Any,
) -> NeuralNet:
    """Train a network to predict the moves and results of given games, and return the best network.

    The policy's targets are the moves played or, for records, the records' policies.  The value's targets are the
    results, from the view of the player about to move.  Score and ownership are trained on games whose final board is
    scored.  The network is tested on held-out games at intervals; the one with the best move accuracy is saved in the
    folder and returned.

    As with `train`, the run has a folder, can be resumed, and is reported, watched and plotted.  `train` can continue
    with the network.

    Args:
        env: the game, on the board of the given games.
        dataset: a Dataset or its folder (from `alphago sgf FILES --to FOLDER`); or a sequence of records, as `selfplay`
            returns; or the path of a file, archive or folder of records or SGF, such as a run of self-play.  The first
            report says how many games are left out, and why.
        net: a network to continue with, which is trained in place, or its name or path; None for a new one.
        epochs: how often each game is trained on, on average; at least 0.001.  None for 1, or for a resumed run's own.
        tower_height, channels: sizes of a new network; None for the sizes of the board's recipe.
        folder: the run's folder; None for a new folder under runs/.  If it holds a run, the run is resumed, and
            settings that the call leaves out keep their values.
        reports: as in `train`.
        stop_after: minutes after which this call saves the run and ends, as on Ctrl-C; None for no limit.
        device: "cpu", "cuda" or "auto".
        held_out_positions: number of positions in a test.
        checks: number of tests, evenly spaced over the run, after a first one of the untrained network.
        settings: settings of LearningSettings, by name, and `watch`, `watch_share`, `max_minutes`, `ckp_freq`, `seed`.

    Raises:
        ValueError: for a dataset without games of env's board, and for settings that only self-play has.
        FileNotFoundError: if the dataset does not exist.
        All other exceptions of `train`.
    """
    check_env(env)
    for name, value in settings.items():
        if name not in SUPERVISED.entries:
            raise ValueError(f"{name} must be left out in supervised learning, got {value!r}")
    before = flat_settings(read_config(Path(folder))) if folder is not None and holds_run(Path(folder)) else None
    games = given_games(env, dataset)
    if epochs is None and before is not None:
        total = int(before["num_games"])
    else:
        total = max(1, round(check_float("epochs", 1.0 if epochs is None else epochs, 0.001, 1e6) * len(games.lengths)))
    records = games.held_out(check_int("held_out_positions", held_out_positions, 1))
    if not records:
        raise ValueError(f"dataset must have validation games of {env!r}, got none: a larger one, or another split")
    every = max(1, total // check_int("checks", checks, 1))
    chosen = {**({} if before else {**USUAL, **GIVEN, "ckp_freq": every}), **settings}
    batch_size = {**(before or {}), **chosen}["batch_size"]

    def make_source(env: Any, settings: Any, numbers: range, *_: Any, seed: int = 0, **__: Any) -> GivenSource:
        return GivenSource(games, numbers.stop, seed, batch_size, every)

    parts = RunParts(
        make_source,
        Learner,
        Given(games),
        [HeldOutGames(tuple(records), checks)],
        "alphago supervised DATASET",
        list(filter(None, [left_out_sentence(games)])),
    )
    sizes = {"tower_height": tower_height, "channels": channels}
    call = TrainCall.of(env, total, chosen, model=net, sizes=sizes, until=None, device=device)
    return train_run(call, Slice(folder, reports, stop_after), parts)


@checks_keywords()
def predict_games(
    net: NeuralNet, dataset: Any, *, split: str = "test", positions: int = 50_000, symmetries: bool = False
) -> dict[str, float]:
    """Test how well a network, without search, predicts the moves and results of given games.

    Args:
        net: the network; only games of its board are used.
        dataset: as in `train_supervised`.
        split: the dataset's split: "train", "validation" or "test"; records have no splits, so their held-out games
            are always used.
        positions: approximate number of positions.
        symmetries: whether to average the network's outputs over all symmetries of the board (the explicit symmetry
            ensemble of Silver et al. 2016, Methods), which takes eight times as long in Go.

    Returns:
        accuracy (top-1), top5, cross_entropy, value_error, value_accuracy, calibration_error and positions_judged, by
        name; `alphago.training.judges.prediction.Counts.measures` defines them.

    Raises:
        ValueError: if the split has no game of the network's board.
    """
    games = given_games(net.env, dataset)
    records: list[GameRecord] = games.held_out(positions, split)
    if not records:
        raise ValueError(f"dataset must have games of {net.env!r} in its split {split!r}, got none")
    evaluator = AveragedEvaluator(net.forecast_evaluator(), net.env) if symmetries else net.evaluator()
    parts = [records[begin : begin + AT_ONCE] for begin in range(0, len(records), AT_ONCE)]
    counts = Counts()
    with one_torch_thread(), ThreadPoolExecutor(available_cores()) as pool:
        for found in pool.map(partial(predict, evaluator, net.env), parts):
            counts += found
    return counts.measures()
