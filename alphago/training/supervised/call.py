"""The function `train_supervised`, which trains a network on given games, and `predict_games`, which tests it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import AveragedEvaluator
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.threads import one_torch_thread
from alphago.records.dataset import SPLITS, Dataset
from alphago.system.cores import available_cores
from alphago.system.files import user_path
from alphago.system.settings import change_settings, keywords, values_by_path
from alphago.system.validation import check_choice, check_float, check_int, checks_keywords
from alphago.training.call.session import train_run
from alphago.training.call.start import Call, Start, change_config, make_start, new_config, new_network, saved_run
from alphago.training.judges.prediction import AT_ONCE, HeldOut, Predictions, predict
from alphago.training.learner import choose_bfloat16
from alphago.training.recipes import recipe_for
from alphago.training.settings.run_settings import AnyRunSettings, RunSettings
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.supervised.given_games import Epochs, GivenGames, given_games
from alphago.training.supervised.supervised_settings import SupervisedSettings
from alphago.training.targets import LambdaReturns
from alphago.training.watch.report import Report

STEPS_AT_ONCE = 32  # approximate number of gradient steps in an iteration


@checks_keywords(keywords(SupervisedSettings))
def train_supervised(
    env: GameEnv,
    dataset: object,
    net: NeuralNet | str | Path | None = None,
    *,
    epochs: float | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    stop_after: float | None = None,
    device: str = "auto",
    **settings: object,
) -> NeuralNet:
    """Train a network to predict the moves and results of given games, and return the best network.

    The policy's targets are the moves played or, for records, the records' policies.  The value's targets are the
    results, from the view of the player about to move.  For records, they are mixed with the searches' values
    (`search_share`).  Score and ownership are trained on games whose final board is scored.  In a labelled dataset
    (`alphago label`), a teacher gives all targets, and the network's file names the teacher.

    The network is tested on held-out games at intervals.  The network with the best move accuracy is saved in the
    folder and returned.

    As with `train`, the run has a folder, can be resumed, and is reported, watched and plotted.  `train` can continue
    with the network.

    Args:
        env: the game, on the board of the given games.
        dataset: a Dataset or its folder (from `alphago sgf FILES --to FOLDER`); or a sequence of records, as `selfplay`
            returns; or the path of a file, archive or folder of records or SGF, such as a run of self-play.  The first
            report says how many games are left out, and why.
        net: a network to continue with, which is trained in place, or a network's name or path; None for a new network.
        epochs: how often each game is trained on, on average, at least 0.001; takes the place of `num_games`.
        tower_height, channels: sizes of a new network; None for the sizes of the board's recipe.  They cannot be given
            with `net`.
        folder: the run's folder; None for a new folder under runs/.  If it holds a run, the run is resumed, and
            settings that the call leaves out keep their values.
        reports: as in `train`.
        stop_after: minutes after which this call saves the run and ends, as on Ctrl-C; None for no limit.
        device: "cpu", "cuda" or "auto".
        settings: settings of the run, by name: those of SupervisedSettings and of its group LearningSettings.

    Raises:
        ValueError: for a dataset without games of env's board.
        FileNotFoundError: if the dataset does not exist.
        All other exceptions of `train`.
    """
    given = given_games(env, dataset)
    if epochs is not None:
        if "num_games" in settings:
            raise ValueError(f"num_games must be left out where epochs are given, got {settings['num_games']!r}")
        settings["num_games"] = max(1, round(check_float("epochs", epochs, 0.001, 1e6) * len(given.lengths)))
    sizes = {"tower_height": tower_height, "channels": channels}
    call = Call(env, net, sizes, device, reports=reports, stop_after=stop_after, make_source=partial(Epochs, given))
    values = values_by_path(SupervisedSettings, settings)
    source = dataset.path if isinstance(dataset, Dataset) else dataset
    path = str(user_path(source).resolve()) if isinstance(source, (str, Path)) else None
    return train_run(call, folder, partial(start_of_supervised, call, given, values, path))


def start_of_supervised(
    call: Call,
    given: GivenGames,
    values: Mapping[str, Any],
    path: str | None,
    config: Mapping[str, Any] | None,
    folder: Path,
) -> Start:
    """Return how a new or a resumed run on given games starts.

    Args:
        given: the games.
        values: the call's settings by dotted name, such as "learning.learning_rate".
        path: the path of the games, for the command that continues the run; None for games without a path.
        config: the saved config of the run in `folder`; None for a new run.

    Raises:
        ValueError: if the run learns from self-play, or the call changes what a run cannot change.
    """
    if config is None:
        return new_start(call, given, values, path)
    # `of_recipe`: a call of `train_supervised` names no recipe.
    before, model = saved_run(call, SupervisedSettings, values, config, folder, of_recipe={})
    settings = change_settings(before, values).completed(len(given.lengths))
    config_now, changes = change_config(before, settings, config, folder)
    saved_path = config["given"]["dataset"]
    if path is not None and path != saved_path:  # the games are the same: the run compares their digests
        changes["dataset"] = (saved_path, path)
    config_now["given"] = {"dataset": path or saved_path}
    return make_start(call, run_settings(settings, given), model, config_now, notes=given.notes, changes=changes)


def new_start(call: Call, given: GivenGames, values: Mapping[str, Any], path: str | None) -> Start:
    """Return how a new run on given games starts; the arguments are those of `start_of_supervised`.

    The teacher who has labelled the games, if there is one, is added to the network's `taught_by`.
    """
    settings = change_settings(SupervisedSettings(), values).completed(len(given.lengths))
    model, notes = new_network(call, recipe_for(call.env).network, settings.seed)
    if given.teacher and given.teacher not in model.taught_by:
        model.taught_by = " and ".join(filter(None, (model.taught_by, given.teacher)))
    if call.device == "cpu":
        settings = replace(settings, learning=choose_bfloat16(settings.learning, model))
    config = new_config(model, settings, given={"dataset": path})
    return make_start(call, run_settings(settings, given), model, config, notes=[*given.notes, *notes])


def run_settings(settings: SupervisedSettings, given: GivenGames) -> RunSettings:
    """Return the settings of the run that learns from given games; raise ValueError if there are no held-out games."""
    held_out = given.held_out(settings.held_out_positions)
    if not held_out:
        raise ValueError(
            f"dataset must have validation games of {given.env!r}, got none: a larger one, or another split"
        )
    mean_length = max(1.0, float(given.lengths.mean()))  # below 1 if many games have no moves
    games_for_steps = round(STEPS_AT_ONCE * settings.learning.batch_size / mean_length)
    # The games in an iteration: about STEPS_AT_ONCE steps' worth, but no more than between two tests or in an epoch.
    at_once = max(1, min(settings.games_per_check, len(given.lengths), games_for_steps))
    # The settings that runs of both kinds have.
    shared = {field.name: getattr(settings, field.name) for field in fields(AnyRunSettings)}
    return RunSettings(
        **shared,
        exact_rules=True,  # the game itself, not its variant for self-play
        # No games are played.  An iteration takes `games_in_flight` games; `groups` is the number of threads.
        selfplay=SelfPlaySettings(games_in_flight=at_once, groups=settings.threads),
        memory=given,
        targets=LambdaReturns(settings.search_share),
        judges=(HeldOut(held_out, settings.checks),),
    )


@checks_keywords()
def predict_games(
    net: NeuralNet | str | Path,
    dataset: object,
    *,
    split: str = "test",
    positions: int = 50_000,
    symmetries: bool = False,
) -> dict[str, float]:
    """Test how well a network, without search, predicts the moves and results of given games.

    Args:
        net: the network, or its name, file or run folder; only games of its board are used.
        dataset: as in `train_supervised`.
        split: the dataset's split: "train", "validation" or "test".  Records have no splits: their held-out games are
            always used.
        positions: approximate number of positions.
        symmetries: whether to average the network's outputs over all symmetries of the board, which takes eight times
            as long in Go (the explicit symmetry ensemble of Silver et al. 2016, Methods).

    Returns:
        accuracy (top-1), top5, cross_entropy, value_error, value_accuracy, calibration_error and positions_judged, by
        name; `alphago.training.judges.prediction.Predictions.measures` defines them.

    Raises:
        ValueError: if the split has no game of the network's board.
    """
    check_choice("split", split, SPLITS)
    check_int("positions", positions, 1)
    network = net if isinstance(net, NeuralNet) else load_model(net)
    games = given_games(network.env, dataset)
    records = games.held_out(positions, split)
    if not records:
        raise ValueError(f"dataset must have games of {network.env!r} in its split {split!r}, got none")
    # AveragedEvaluator takes forecasters only.
    evaluator = AveragedEvaluator(network.forecast_evaluator(), network.env) if symmetries else network.evaluator()
    parts = [records[begin : begin + AT_ONCE] for begin in range(0, len(records), AT_ONCE)]
    with one_torch_thread(), ThreadPoolExecutor(available_cores()) as pool:
        return Predictions.join(pool.map(partial(predict, evaluator, network.env), parts)).measures()
