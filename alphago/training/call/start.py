"""How a run starts: a new one from its recipe and its call, or one that goes on with the settings in its folder."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import torch

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.arena.players import resolve_player
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.mcts.evaluator import as_network
from alphago.nn.growing import grow
from alphago.nn.inference.hardware import cpu_has, find_device
from alphago.nn.net import NeuralNet, build_net
from alphago.system.settings import change, changes, from_data, structural_changes, to_data
from alphago.system.validation import is_int
from alphago.training.code_digest import code_of, edited
from alphago.training.curriculum import lessons
from alphago.training.history import Row
from alphago.training.judges.proof import expectation
from alphago.training.judges.watcher import Watch, watch_of
from alphago.training.precision import choose_precision, inference_dtype
from alphago.training.recipes import FEW_GAMES, RECIPES, Recipe, is_short, named_recipe, recipe_for, recipe_settings
from alphago.training.runs.config import VERSION, other_version, version_errors
from alphago.training.runs.going_on import how_to_continue
from alphago.training.settings.run_settings import AnyRunSettings, RunSettings

MEASURED_MINUTES = 0.5  # minutes of training from which a run's speed is estimated


@dataclass(frozen=True)
class NetworkWish:
    """The network that a call asks for, and the device to train it on.

    model: the network to go on with; None for a new one, or for the run's own.
    sizes: `tower_height` and `channels`, as far as the call gives them.
    device: "cpu" or a GPU such as "cuda".
    may_change: whether another device may be used if this one cannot compute the network.
    """

    model: NeuralNet | None
    sizes: Mapping[str, int]
    device: str
    may_change: bool = False

    @classmethod
    def of(cls, model: NeuralNet | str | Path | None, env: GameEnv, device: str, **sizes: int | None) -> "NetworkWish":
        """Return the wish of a call with these arguments of `train`, with the network loaded and the device found.

        Raises TypeError for a model of a wrong type, and BackendMissing for a device that does not exist.
        """
        network: Any = as_network(model, env)
        if network is not None and not isinstance(network, NeuralNet):
            raise TypeError(f"model must be a NeuralNet, a name or path as load_model takes it, or None, got {model!r}")
        given = {name: size for name, size in sizes.items() if size is not None}
        return cls(network, given, find_device(env, device), may_change=device == "auto")


@dataclass(frozen=True)
class Start:
    """What a run starts with, a new one or one that goes on.

    settings: complete, without None where a new run chooses.
    model: the network; a run that goes on takes its weights from the saved state.
    config: the contents of config.json.
    notes: sentences about a new run's recipe and model, for a report.
    changes: the settings that this call changes, by name: old and new value.
    step_seconds: measured seconds of a gradient step, for new runs on a CPU.
    positions_to_beat: number of positions after which a run with this recipe beat `settings.until`; 0 if unknown.
    watch: the opponents to watch, which exist.
    """

    settings: AnyRunSettings
    model: NeuralNet
    config: dict[str, Any]
    notes: tuple[str, ...] = ()
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    step_seconds: float | None = None
    positions_to_beat: int = 0
    watch: Watch | None = None

    def estimate(self, metrics: Row) -> str | None:
        """Return a sentence that estimates when the network beats the opponent `until`.

        metrics: an iteration's row of metrics.jsonl.
        Returns None while the speed is unknown, and "" once the run has more positions than the estimate needs.
        """
        settings = self.settings
        assert isinstance(settings, RunSettings)
        assert settings.until is not None
        if metrics["seconds"] <= 60 * MEASURED_MINUTES:
            return None
        if self.positions_to_beat <= metrics["positions"]:
            return ""
        return expectation(metrics, self.positions_to_beat, settings.until.name)


def new_run(env: GameEnv, given: Mapping[str, Any], preset: str | None, wish: NetworkWish) -> Start:
    """Return how a new run of self-play starts; raise ValueError or TypeError for invalid arguments of the call.

    given: the call's settings by path.  preset: the recipe's name; None for the recipe of the board.
    """
    recipe = recipe_of_call(env, given, preset)
    settings = new_settings(recipe, given, wish.device).completed(wish.device)
    # With AMX wide networks cost less; their width was not compared there.
    short = is_short(settings.max_minutes, settings.selfplay.groups) and not cpu_has("amx_tile")
    model, notes = new_network(env, wish, recipe.network_on(wish.device, short=short), settings.seed)
    check_parts(env, settings, model)
    step_seconds = None
    if wish.device == "cpu":
        learning, step_seconds = choose_precision(env, model, settings.learning, settings.selfplay.groups)
        dtype = inference_dtype(env, model, settings.selfplay_dtype)
        settings = replace(settings, learning=learning, selfplay_dtype=dtype)
    return Start(
        settings,
        model,
        config=new_config(env, model, settings) | {"recipe": recipe_name(recipe)},
        notes=(recipe.note, *notes) if recipe.note else tuple(notes),
        step_seconds=step_seconds,
        positions_to_beat=positions_to_beat(settings, recipe, env),
        watch=watch_of(settings.watch, env),
    )


def recipe_of_call(env: GameEnv, given: Mapping[str, Any], preset: str | None) -> Recipe:
    """Return the recipe of a new run; given, preset: as in `new_run`."""
    if preset is None:
        games = given.get("num_games")
        recipe = recipe_for(env)
        return recipe.for_games(games) if is_int(games, least=1) else recipe  # else the run is limited by time
    recipe = named_recipe(preset)
    is_for_another_game = recipe.game != env.name
    if is_for_another_game and recipe.settings.get("curriculum"):  # its board sizes are of that game
        raise ValueError(f"preset must be a recipe for {env.name}, got {preset!r}, which is for {recipe.game}")
    return recipe


def new_settings(recipe: Recipe, given: Mapping[str, Any], device: str) -> RunSettings:
    """Return the settings of a new run: the call's, else the recipe's, else the defaults, not yet completed.

    If a limit of time is given, and none of games, there is no limit of games.
    given: as in `new_run`.
    """
    of_recipe = recipe_settings(recipe, device)
    both = {**of_recipe, **given}
    if both.get("max_minutes") is not None and "num_games" not in both:
        given = {**given, "num_games": None}  # instead of the default
    # In two steps: the call may choose another part, which lacks settings of the recipe's part.
    return change(change(RunSettings(), of_recipe), given)


def resumed_run(
    env: GameEnv,
    given: Mapping[str, Any],
    preset: str | None,
    wish: NetworkWish,
    *,
    config: Mapping[str, Any],
    folder: Path,
) -> Start:
    """Return how a run of self-play goes on.

    Settings that the call leaves unset keep their saved values.  A setting that is set to None loses its saved value.

    given, preset: as in `new_run`.  config: the saved config of the run in `folder`.
    Raises ValueError if the call changes a setting that a run cannot change; the message has both values.
    """
    check_kind(config, folder, supervised=False)
    recipe = named_recipe(preset) if preset is not None else None
    of_recipe = {} if recipe is None else recipe_settings(recipe, wish.device)
    sizes = recipe.network_like(config["network"]) if recipe else {}
    model = resumed_network(env, wish, config, folder, sizes)
    with version_errors(folder, "settings"):
        before = from_data(RunSettings, config["settings"], given, f"the run in {folder}")
    settings = change(change(before, of_recipe), given).completed(wish.device, before)
    changed = changed_settings(before, settings, config, folder)
    check_parts(env, settings, model)
    if recipe is None and settings.num_games is None:
        recipe = recipe_for(env)  # for the estimate alone: the settings are complete
    return Start(
        settings,
        model,
        config={**config, "settings": to_data(settings), "code": code_of(settings)},
        changes=changed,
        positions_to_beat=positions_to_beat(settings, recipe, env),
        watch=watch_of(settings.watch, env),
    )


def positions_to_beat(settings: RunSettings, recipe: Recipe | None, env: GameEnv) -> int:
    """Return the number of positions after which a run with this recipe beat `settings.until`; 0 if unknown."""
    return recipe.positions_to_beat(settings.until.name, env) if recipe and settings.until else 0


def new_network(
    env: GameEnv, wish: NetworkWish, of_recipe: Mapping[str, Any], seed: int
) -> tuple[NeuralNet, list[str]]:
    """Return the network of a new run, and sentences about it for a report.

    of_recipe: keywords of NeuralNet from the recipe; those of the call replace them.
    seed: seed of the initial weights.
    """
    model = wish.model
    with seeded(seed):
        if model is None:
            model = NeuralNet(env, **{**of_recipe, **wish.sizes})
        elif wish.sizes:
            model = grow(model, **wish.sizes)
    if model.env == env:
        return model, []
    note = f"the model is for {model.env}: its weights learn {env}, for which a network is returned"
    return fit_to_game(model, env), [note]


def new_config(env: GameEnv, model: NeuralNet, settings: AnyRunSettings) -> dict[str, Any]:
    """Return the config of a new run."""
    return {
        "version": VERSION,
        "game": env.name,
        "env": env.config,
        "network": model.config,
        "taught_by": model.taught_by,
        "changes": [],
        "settings": to_data(settings),
        "code": code_of(settings),
    }


def recipe_name(recipe: Recipe) -> str:
    """Return a recipe's name for config.json; a recipe adapted from another board has its note instead of a name."""
    if recipe.settings is FEW_GAMES:
        return "few games"
    names = [name for name, known in RECIPES.items() if known is recipe]
    return names[0] if names else recipe.note or "the one of all other games"


def check_kind(config: Mapping[str, Any], folder: Path, *, supervised: bool) -> None:
    """Raise ValueError unless the run in a folder learns from given games, if `supervised`, or else from self-play."""
    if ("given" in config) != supervised:
        raise ValueError(
            f"the run in {folder} must be one of {'given games' if supervised else 'self-play'}, and is resumed by "
            f"`{how_to_continue(folder)}`"
        )


def refuse_change(folder: Path, name: str, was: object, now: object) -> NoReturn:
    """Raise the error for a setting that the run in a folder must keep; was, now: the run's value, and the call's."""
    raise ValueError(f"the run in {folder} has {name} {was!r}, got {now!r}: choose another folder")


def resumed_network(
    env: GameEnv,
    wish: NetworkWish,
    config: Mapping[str, Any],
    folder: Path,
    of_recipe: Mapping[str, Any] | None = None,
) -> NeuralNet:
    """Return the network of a run that goes on, without its weights, which are in the saved state.

    config: the saved config of the run in `folder`.
    of_recipe: keywords of NeuralNet from the recipe that the call names.
    Raises ValueError if the run has another game or network than the call.
    """
    network = config["network"]
    refuse = partial(refuse_change, folder)
    if env.name != config["game"]:
        refuse("game", config["game"], env.name)
    if in_one_only := config["env"].keys() ^ env.config.keys():
        raise other_version(folder, "a game", ", ".join(sorted(in_one_only)))
    check_unchanged(config["env"], env.config, refuse)
    model = wish.model
    if model is None:
        check_unchanged(network, {**(of_recipe or {}), **wish.sizes}, refuse)
        with version_errors(folder, "a network"), seeded(0):  # the state has the weights
            if network["custom"]:
                slots = ", ".join(f"{slot}={name}" for slot, name in network["custom"].items())
                raise ValueError(
                    f"the run in {folder} has a network with custom modules ({slots}): pass one like it as model=…"
                )
            model = build_net(network, env)
    elif wish.sizes:
        model = grow(model, **wish.sizes)
    model = fit_to_game(model, env)
    check_unchanged(network, model.config, refuse)
    model.taught_by = config["taught_by"]
    return model


def changed_settings(
    before: AnyRunSettings, after: AnyRunSettings, config: Mapping[str, Any], folder: Path
) -> dict[str, tuple[Any, Any]]:
    """Return the old and the new value of each changed setting, by name; of functions that were edited, the digests.

    before, after: the settings that the run has had, and those with which it goes on.  config: the saved config.
    Raises ValueError if the run in `folder` must keep the value of a changed setting.
    """
    changed = changes(before, after)
    for name in structural_changes(before, after):
        was, now = changed[name]
        refuse_change(folder, name, value_for_message(was), value_for_message(now))
    saved, code = config.get("code"), code_of(after)
    if isinstance(saved, dict):
        changed |= {f"the code of {name}": (str(saved[name])[:8], code[name][:8]) for name in edited(saved, code)}
    return changed


def value_for_message(value: Any) -> Any:
    """Return a value of a setting for a message: the name of a function or class, any other value unchanged."""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else value


def check_parts(env: GameEnv, settings: RunSettings, model: NeuralNet) -> None:
    """Raise an error if the settings name what is not there.

    Raises ValueError for a board that the game or the network does not support, and for an opponent that does not
    exist or does not play the game; EngineError for an engine that is not installed or does not support the board.
    """
    for lesson in lessons(env, settings.curriculum):  # raises for a board that the game does not support
        model.resized(lesson.env)  # raises for a board that the network does not support
    player = None if settings.until is None else resolve_player(settings.until.name, env)
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)


def check_unchanged(
    saved: Mapping[str, Any], new: Mapping[str, Any], refuse: Callable[[str, Any, Any], NoReturn]
) -> None:
    """Call `refuse` for the first setting in `new` whose saved value is different.

    refuse: raises the error; its arguments are the setting's name, saved value and new value.
    """
    as_saved = json.loads(json.dumps(new))  # for example, tuples become lists
    for name, value in as_saved.items():
        if saved.get(name) != value:
            refuse(name, saved.get(name), value)


def fit_to_game(model: NeuralNet, env: GameEnv) -> NeuralNet:
    """Return the network, resized to the board of `env` if necessary; raise ValueError if it is for another game."""
    return model if model.env == env else model.resized(env)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random generator within the `with` block, and restore its state afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)
