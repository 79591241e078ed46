"""The function `train`: a run of self-play, from its recipe and its call, or as its folder says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import EllipsisType
from typing import Any

from alphago.env.game import GameEnv
from alphago.nn.inference.hardware import choose_dtype, cpu_has, dtype_name
from alphago.nn.net import NeuralNet
from alphago.system.settings import change_settings, keywords, values_by_path
from alphago.system.validation import checks_keywords, is_int
from alphago.training.call.session import train_run
from alphago.training.call.start import Call, Start, change_config, make_start, new_config, new_network, saved_run
from alphago.training.learner import Learner, MakeLearner, choose_bfloat16
from alphago.training.recipes import Recipe, is_short, named_recipe, recipe_for
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.run_settings import RunSettings
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.source import MakeSource
from alphago.training.watch.report import Report
from alphago.training.workers.remote_selfplay import settings_with_workers, source_by_workers


@checks_keywords(keywords(RunSettings))
def train(
    env: GameEnv,
    num_games: int | EllipsisType | None = ...,
    *,
    preset: str | None = None,
    model: NeuralNet | str | Path | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    stop_after: float | None = None,
    device: str = "auto",
    source: MakeSource = SelfPlay,
    learner: MakeLearner = Learner,
    workers: str | int | None = None,
    max_lag: int | None = None,
    **settings: object,
) -> NeuralNet:
    """Train a network on games against itself and return it.

    On Ctrl-C, and when the run's time is over, it stops at the next move or gradient step, and everything is
    saved.  A later call with the same `folder` resumes the run.  A call with more games or minutes prolongs a finished
    run: the schedules then span the whole run, and the curriculum does not return to smaller boards.

    On a CPU, a run limited by `num_games` gives bit-identical weights whether or not it was interrupted or killed and
    resumed.  This does not hold for networks that draw random numbers, nor for an interrupt within an iteration of a
    search that keeps its trees (PUCT), since trees are not saved, nor for a run limited by time.  On a GPU,
    rounding errors differ from run to run.

    Args:
        env: the game that the network is to play in the end.
        num_games: number of games to play.  None for no limit of games: then the run ends after `max_minutes` or
            `max_processor_minutes`, or if the call gives neither, after the recipe's minutes.  If left out, a new run
            has the recipe's number, or none if the recipe has none, and a resumed run keeps its number.
        preset: the name of a recipe (see `alphago.training.recipes`), whose network and settings apply where this call
            gives none.  None: the recipe of the board, or of the next larger board that has one; runs of fewer than
            5 000 games take its network, and the settings "few-games" in recipes.toml.
        model: a network to continue with, trained in place, or its name or path as for `load_model`; None for a new
            network of `tower_height` residual blocks and `channels` channels (see NeuralNet).  If the network is for
            another board or komi, the result is a network for `env` that shares its weights.
        folder: the run's folder (see RunFolder); None for a new folder under runs/.  If the folder holds a run, this
            call resumes the run with its own settings.  All settings may change except the game, the network, and what
            the games so far depend on (`seed`, `groups`, `games_in_flight`, `curriculum`, `memory` and others).
            Settings that the call leaves out keep their values; None unsets a setting, as in `gate=None` or
            `until=None`.
        reports: callbacks that report the run; None for a progress bar, or in a notebook for live curves.
        stop_after: minutes after which this call stops as if by Ctrl-C, with everything saved.  The run's length and
            schedules still follow from `num_games` and the limit of time.  The minutes include loading and compiling.
            When they are over, the call completes the move or gradient step in progress, saves and returns.
        device: the device of self-play and training: "cpu"; "cuda"; or "auto", the GPU if there is one that supports
            game and network.  If the GPU's memory runs out with "auto", the run reports that and continues on the CPU
            from its latest checkpoint.  The device is not a setting of the run, which may be resumed on another device.
        source: creates a GameSource (see `alphago.training.source`).  By default the threads of this process play the
            games; another class may play them on other machines.
        learner: creates the learner (see `alphago.training.learner`).  By default this process takes the gradient
            steps; another class may share them with other processes.
        workers: who plays the games, instead of `source`: a number of processes on this machine; "auto" for the Ray
            cluster that runs on this machine, if one does; a cluster's address, as "10.0.0.1:6379"; or "folder:PATH"
            for the workers of `alphago worker --folder PATH`.  The games are those of one process with as many
            `groups`, bit for bit unless `max_lag` says otherwise, and a run may be resumed with other workers or none.
            A cluster needs the extra `ray`.
        max_lag: with workers, lets them go on with an older network while the next one is trained: the older network
            may be behind by at most so many versions.  The run is then not bit-identical to another one.  0: the
            workers wait for each new network.  None: 0 with fewer than 64 groups, otherwise 1.
        settings: settings of the run: those of RunSettings, of its groups SelfPlaySettings and LearningSettings, and of
            its parts, by keyword or by path, `**{"search.virtual_loss": 3}` (see `alphago.system.settings`).  With a
            `gate`, the run saves and returns the best network instead of the latest.

    Raises:
        ValueError: if a value is out of range, or a call changes a setting that a resumed run cannot change.
        BlockingIOError: if another process trains in the folder.
        OSError: if a file cannot be written; the latest checkpoint remains valid.
        BackendMissing: if device="cuda" and there is no usable GPU.
        MemoryError: if device="cuda" and the GPU's memory is too small.
        EngineError: if `until` or `watch` names an engine that is not installed or does not support the board.
    """
    sizes = {"tower_height": tower_height, "channels": channels}
    by_workers = source_by_workers(workers, max_lag)
    parts = {"make_source": by_workers or source, "make_learner": learner}
    call = Call(env, model, sizes, device, reports=reports, stop_after=stop_after, **parts)
    if num_games is not ...:
        settings["num_games"] = num_games
    given = values_by_path(RunSettings, settings)

    def start_of(config: Mapping[str, Any] | None, path: Path) -> Start:
        """Return the start of the run in the folder `path`, whose saved config is `config`; None for a new run."""
        if config is not None:
            return resumed_run(call, given, preset, config, path)
        # The defaults for workers replace the recipe's values, and the call's settings replace both.
        defaults = values_by_path(RunSettings, settings_with_workers(workers)) if by_workers else {}
        return new_run(call, {**defaults, **given}, preset)

    return train_run(call, folder, start_of)


def new_run(call: Call, given: Mapping[str, Any], preset: str | None) -> Start:
    """Return how a new run of self-play starts; raise ValueError or TypeError for invalid arguments of the call.

    Args:
        given: the call's settings by path, such as "search.c_puct".
        preset: the recipe's name; None for the recipe of the board.
    """
    env, device = call.env, call.device
    recipe = recipe_of_call(env, given, preset)
    settings = new_settings(recipe, given, device).completed(device)
    # A short run on a CPU without AMX gets a narrow network.  With AMX a wide network costs less, so even a short run
    # gets a wide one; this was not measured.
    suits_narrow = is_short(settings) and not cpu_has("amx_tile")
    model, notes = new_network(call, recipe.network_on(device, short=suits_narrow), settings.seed)
    if device == "cpu":  # chosen now, so that a resumed run keeps the dtypes on any machine
        dtype = settings.selfplay_dtype or dtype_name(choose_dtype(None))
        settings = replace(settings, learning=choose_bfloat16(settings.learning, model), selfplay_dtype=dtype)
    config = new_config(model, settings, recipe=recipe.name)
    notes = [recipe.note, *notes] if recipe.note else notes
    return make_start(call, settings, model, config, notes=notes)


def recipe_of_call(env: GameEnv, given: Mapping[str, Any], preset: str | None) -> Recipe:
    """Return the recipe of a new run; given, preset: as in `new_run`."""
    if preset is None:
        games = given.get("num_games")
        recipe = recipe_for(env)
        # Without a valid number of games the run is limited by time, or `new_settings` raises.
        return recipe.for_games(games) if is_int(games, least=1) else recipe
    recipe = named_recipe(preset)
    if recipe.game != env.name and recipe.settings.get("curriculum"):  # with the board sizes of that game
        raise ValueError(f"preset must be a recipe for {env.name}, got {preset!r}, which is for {recipe.game}")
    return recipe


def new_settings(recipe: Recipe, given: Mapping[str, Any], device: str) -> RunSettings:
    """Return the settings of a new run: the call's, else the recipe's, else the defaults.

    A limit of processor time in the call replaces the recipe's limit of time.  If call or recipe limit the time, and
    neither gives a number of games, games have no limit, instead of the default one.  Other settings that are None in
    the result are not chosen yet: the caller calls `completed`.

    Args:
        given: as in `new_run`.
    """
    of_recipe = values_by_path(RunSettings, recipe.settings_on(device))
    chosen = {**of_recipe, **given}
    no_limit = {} if given.get("max_processor_minutes") is None else {"max_minutes": None}
    if (chosen.get("max_minutes") or chosen.get("max_processor_minutes")) and "num_games" not in chosen:
        no_limit["num_games"] = None
    # In two steps, since the call may replace a part of the recipe, such as its search, by one with other settings.
    return change_settings(change_settings(RunSettings(), of_recipe), {**no_limit, **given})


def resumed_run(
    call: Call, given: Mapping[str, Any], preset: str | None, config: Mapping[str, Any], folder: Path
) -> Start:
    """Return how a run of self-play goes on.

    Settings that neither the call nor its recipe (`preset`) gives keep their saved values.  A setting that the call
    sets to None is unset.

    Args:
        given, preset: as in `new_run`.
        config: the saved config of the run in `folder`.

    Raises:
        ValueError: if the call changes a setting that a run cannot change; the message has both values.
    """
    recipe = Recipe(env={}, network={}) if preset is None else named_recipe(preset)  # an empty recipe changes nothing
    # If the call has no model, `saved_run` refuses a recipe with another network than the run's.  A recipe has several
    # networks, for several devices.  The run may have begun on another device than this call's, so `network_like` looks
    # for the one of them that equals the run's network.
    recipe_network = recipe.network_like(config["network"])
    before, model = saved_run(call, RunSettings, given, config, folder, recipe_network)
    # A search that was chosen for the readouts so far is chosen anew, but for what the recipe and the call set.
    was_chosen = before.selfplay.search == before.selfplay.usual_search
    of_recipe = {"search": SelfPlaySettings().search} if was_chosen else {}
    of_recipe |= values_by_path(RunSettings, recipe.settings_on(call.device))
    # In two steps, since the call may replace a part of the recipe, such as its search, by one with other settings.
    settings = change_settings(change_settings(before, of_recipe), given).completed(call.device, before)
    config, changes = change_config(before, settings, config, folder)
    return make_start(call, settings, model, config, changes=changes)
