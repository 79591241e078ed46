"""The function `train_supervised`, which trains a network on given games, and `predict_games`, which tests it."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import AveragedEvaluator
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.threads import one_torch_thread
from alphago.records.dataset import Dataset
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.files import user_path
from alphago.system.validation import check_float, checks_keywords
from alphago.training.call.opening import TrainingKind
from alphago.training.call.plan import (
    Plan,
    TrainCall,
    changed_settings,
    check_kind,
    new_network,
    resumed_network,
    run_config,
)
from alphago.training.call.session import Slice, train_run
from alphago.training.judges.held_out import HeldOutGames
from alphago.training.judges.prediction import AT_ONCE, Counts, predict
from alphago.training.judges.watcher import watch_of
from alphago.training.loop import learn
from alphago.training.precision import choose_precision
from alphago.training.recipes import recipe_for
from alphago.training.run import RunContext
from alphago.training.runs.config import version_errors
from alphago.training.runs.going_on import call_options
from alphago.training.supervised.given_games import GivenGames, given_games, left_out_sentence
from alphago.training.supervised.supervised_run import SupervisedRun
from alphago.training.supervised.supervised_settings import SUPERVISED, SupervisedSettings
from alphago.training.watch.report import Report


@checks_keywords(SUPERVISED.keywords)
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
    results, from the view of the player about to move, for records mixed with the searches' values (`search_share`).
    Score and ownership are trained on games whose final board is scored.  In a labelled dataset (`alphago label`), a
    teacher gives all targets, and the network's file names the teacher.

    The network is tested on held-out games at intervals.  The network with the best move accuracy is saved in the
    folder and returned.

    As with `train`, the run has a folder, can be resumed, and is reported, watched and plotted.  `train` can continue
    with the network.

    Args:
        env: the game, on the board of the given games.
        dataset: a Dataset or its folder (from `alphago sgf FILES --to FOLDER`); or a sequence of records, as `selfplay`
            returns; or the path of a file, archive or folder of records or SGF, such as a run of self-play.  The first
            report says how many games are left out, and why.
        net: a network to continue with, which is trained in place, or its name or path; None for a new network.
        epochs: how often each game is trained on, on average, at least 0.001; to be given instead of `num_games`.
        tower_height, channels: sizes of a new network; None for the sizes of the board's recipe.  With `net`, sizes to
            which the network grows: the result is a new network, which computes the same at first.
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
    check_env(env)
    given = given_games(env, dataset)
    if epochs is not None:
        if "num_games" in settings:
            raise ValueError(f"num_games must be left out where epochs are given, got {settings['num_games']!r}")
        settings["num_games"] = max(1, round(check_float("epochs", epochs, 0.001, 1e6) * len(given.lengths)))
    sizes = {"tower_height": tower_height, "channels": channels}
    call = TrainCall.of(env, settings=settings, model=net, sizes=sizes, until=None, device=device)
    options = call_options({"device": None if device == "auto" else device})
    this_call = Slice(folder, reports, stop_after, options=options)
    return train_run(call, this_call, Supervised(given, path_of(dataset)))


class Supervised(TrainingKind[SupervisedSettings, SupervisedRun]):
    """Training on given games.

    path: the path of the games, for the command that continues the run; None if the games have no path.
    """

    def __init__(self, given: GivenGames, path: str | None) -> None:
        self.given = given
        self.training_games = len(given.lengths)
        self.path = path
        self.notes = tuple(filter(None, [left_out_sentence(given)]))

    def new_plan(self, call: TrainCall) -> Plan[SupervisedSettings]:
        """Return the plan of a new run; its network names the teacher of the given games, if there is one."""
        settings = SUPERVISED.make(call.settings).filled(self.training_games)
        model, notes = new_network(call, recipe_for(call.env).network, settings.seed)
        if self.given.teacher not in model.taught_by:
            model.taught_by = " and ".join(filter(None, (model.taught_by, self.given.teacher)))
        step_seconds = None
        if call.device == "cpu":
            learning, step_seconds = choose_precision(call.env, model, settings.learning, settings.threads)
            settings = replace(settings, learning=learning)
        config = run_config(call.env, model)
        return self.plan(call.env, settings, model, config, notes=tuple(notes), step_seconds=step_seconds)

    def resumed_plan(self, call: TrainCall, config: Mapping[str, Any], folder: Path) -> Plan[SupervisedSettings]:
        """Return the plan of a resumed run, with the call's settings, and the saved ones where the call gives none.

        config: the saved config of the run in `folder`.
        Raises ValueError if the run learns from self-play, or the call changes what a run cannot change.
        """
        check_kind(config, folder, supervised=True)
        model = resumed_network(call, config, folder)
        with version_errors(folder, "settings"):
            # The call's settings give only the functions, which files do not hold.
            saved = SUPERVISED.load(config["settings"], call.settings, f"the run in {folder}")
        settings = SUPERVISED.make(call.settings, saved).filled(self.training_games)
        changes = changed_settings(SUPERVISED, saved, settings, folder)  # old and new values, by keyword
        saved_path = config["given"]["dataset"]
        if self.path is not None and self.path != saved_path:  # the games are the same: the run compares their digests
            changes["dataset"] = (saved_path, self.path)
        return self.plan(call.env, settings, model, config, changes=changes)

    def plan(
        self, env: GameEnv, settings: SupervisedSettings, model: NeuralNet, config: Mapping[str, Any], **more: Any
    ) -> Plan[SupervisedSettings]:
        """Return the plan of a run with these settings.

        config: the saved config of a resumed run, or the result of `run_config` for a new run.  more: see Plan.
        """
        records = self.given.held_out(settings.held_out_positions)
        if not records:
            raise ValueError(f"dataset must have validation games of {env!r}, got none: a larger one, or another split")
        judges = [HeldOutGames(tuple(records), settings.checks)]
        saved_path = config.get("given", {}).get("dataset")  # None for a new run
        config = {**config, "given": {"dataset": self.path or saved_path}, "settings": SUPERVISED.to_data(settings)}
        watch = watch_of(settings.watch, env)
        return Plan(
            env, settings, model, until=None, config=config, tree=SUPERVISED, judges=judges, watch=watch, **more
        )

    def threads(self, plan: Plan[SupervisedSettings]) -> int:
        return plan.settings.threads

    def make_run(self, settings: SupervisedSettings, context: RunContext) -> SupervisedRun:
        return SupervisedRun(settings, context, self.given)

    def loop(self, run: SupervisedRun, stop: threading.Event) -> None:
        learn_games(run, stop)


def path_of(dataset: object) -> str | None:
    """Return the absolute path of a dataset, as text; None for games without a path."""
    path = dataset.path if isinstance(dataset, Dataset) else dataset
    return str(user_path(path).resolve()) if isinstance(path, (str, Path)) else None


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
    network = net if isinstance(net, NeuralNet) else load_model(net)
    games = given_games(network.env, dataset)
    records: list[GameRecord] = games.held_out(positions, split)
    if not records:
        raise ValueError(f"dataset must have games of {network.env!r} in its split {split!r}, got none")
    evaluator = AveragedEvaluator(network.forecast_evaluator(), network.env) if symmetries else network.evaluator()
    parts = [records[begin : begin + AT_ONCE] for begin in range(0, len(records), AT_ONCE)]
    counts = Counts()
    with one_torch_thread(), ThreadPoolExecutor(available_cores()) as pool:
        for counts_of_part in pool.map(partial(predict, evaluator, network.env), parts):
            counts += counts_of_part
    return counts.measures()


def learn_games(run: SupervisedRun, stop: threading.Event) -> None:
    """Train until the run is over; raise Stopped if `stop` is set within an iteration or a test."""
    run.judge(stop)  # tests the untrained network, or repeats a test that an earlier `stop` has interrupted
    while not run.is_over and not stop.is_set():
        run.begin_iteration()
        learn(run, stop)
        run.end_iteration()  # metrics, reports, autosave
        run.judge(stop)  # the test on held-out games, if due
