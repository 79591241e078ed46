"""Turn a call of `train` into a Plan, which says how to start a new run or resume one, perhaps with new settings."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

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
from alphago.system.settings_tree import SettingsTree
from alphago.system.validation import UNSET, Unset, is_int
from alphago.training.curriculum import lessons
from alphago.training.judge import JudgeSettings
from alphago.training.judges.proof import Opponent
from alphago.training.judges.watcher import Watch, watch_of
from alphago.training.precision import choose_precision, inference_dtype
from alphago.training.recipes import FEW_GAMES, RECIPES, Recipe, is_short, named_recipe, recipe_for
from alphago.training.run_parts import RUN
from alphago.training.runs.config import VERSION, other_version, version_errors
from alphago.training.runs.going_on import how_to_continue
from alphago.training.settings.run_settings import AnyRunSettings, RunSettings

Settings = TypeVar("Settings", bound=AnyRunSettings)


@dataclass(frozen=True)
class TrainCall:
    """The arguments of a call of `train`.

    For arguments that the caller left unset, a resumed run keeps its values and a new run takes the defaults.
    """

    env: GameEnv
    num_games: int | Unset | None
    preset: str | None
    model: NeuralNet | None
    sizes: Mapping[str, int]  # tower_height and channels
    until: Opponent | Unset | None
    settings: Mapping[str, Any]
    device: str = "cpu"  # the device of self-play and training
    may_change: bool = False  # whether another device may be used if this one cannot compute the network

    @classmethod
    def of(
        cls,
        env: GameEnv,
        num_games: int | Unset | None = UNSET,
        *,
        settings: Mapping[str, Any],
        preset: str | None = None,
        model: NeuralNet | str | Path | None = None,
        sizes: Mapping[str, int | None],
        until: str | Opponent | Unset | None = UNSET,
        device: str = "auto",
    ) -> "TrainCall":
        """Return the call with its network loaded, its opponent named, and its device found.

        The arguments are those of `train`; sizes: `tower_height` and `channels`, None for one that is not given.
        Raises TypeError for an argument of a wrong type, and BackendMissing for a device that does not exist.
        """
        network: Any = as_network(model, env)
        if network is not None and not isinstance(network, NeuralNet):
            raise TypeError(f"model must be a NeuralNet, a name or path as load_model takes it, or None, got {model!r}")
        if until is not None and not isinstance(until, (str, Opponent, Unset)):
            raise TypeError(f"until must be an opponent's name, an Opponent or None, got {until!r}")
        return cls(
            env,
            num_games=num_games,
            preset=preset,
            model=network,
            sizes={name: size for name, size in sizes.items() if size is not None},
            until=Opponent(until) if isinstance(until, str) else until,
            settings=settings,
            device=find_device(env, device),
            may_change=device == "auto",
        )

    def merge(self, recipe: Recipe | None, before: RunSettings | None = None) -> RunSettings:
        """Return the settings of a run: the call's settings, else the recipe's, else those in `before`.

        Without `before`, settings that neither the call nor the recipe gives have their defaults, except one: if a
        limit of time is given, there is no limit of games.
        """
        of_recipe = recipe.settings_on(self.device) if recipe else {}
        of_call = dict(self.settings)
        if self.num_games is not UNSET:
            of_call["num_games"] = self.num_games
        given = {**of_recipe, **of_call}
        is_limited_by_time = given.get("max_minutes") is not None
        if before is None and is_limited_by_time and "num_games" not in given:
            of_call["num_games"] = None  # instead of the default
        # In two steps: the call may choose another part, which lacks settings of the recipe's part.
        return RUN.make(of_call, RUN.make(of_recipe, before))


@dataclass(frozen=True)
class Plan(Generic[Settings]):
    """All that is needed to start a run, new or resumed."""

    env: GameEnv
    settings: Settings
    model: NeuralNet  # the network; a resumed run takes its weights from the saved state
    until: Opponent | None
    config: dict[str, Any]  # the contents of config.json
    tree: SettingsTree[Settings]  # has the settings by keyword
    positions_to_beat: int = 0  # number of positions after which a run with this recipe beat `until`; 0 if unknown
    judges: Sequence[JudgeSettings[Any]] = ()
    watch: Watch | None = None
    notes: tuple[str, ...] = ()  # sentences about a new run's recipe and model, for a report
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # changed settings: old and new value
    step_seconds: float | None = None  # measured seconds of a gradient step, for new runs on a CPU


def new_run(call: TrainCall) -> Plan[RunSettings]:
    """Return the plan of a new run; raise ValueError or TypeError for invalid arguments of the call."""
    env = call.env
    if call.preset is None:
        recipe = recipe_for(env)
        if is_int(call.num_games, least=1):  # else the run is limited by time
            recipe = recipe.for_games(call.num_games)
    else:
        recipe = named_recipe(call.preset)
        is_for_another_game = recipe.game != env.name
        if is_for_another_game and recipe.settings.get("curriculum"):  # its board sizes are of that game
            raise ValueError(f"preset must be a recipe for {env.name}, got {call.preset!r}, which is for {recipe.game}")
    settings = call.merge(recipe).filled(call.device)  # a resumed run keeps these values on any device
    # With AMX wide networks cost less; their width was not compared there.
    short = is_short(settings.max_minutes, settings.selfplay.groups) and not cpu_has("amx_tile")
    sizes = recipe.network_on(call.device, short=short)
    model, notes = new_network(call, sizes, settings.seed)
    check_boards(env, settings, model)
    until = check_opponent(None if isinstance(call.until, Unset) else call.until, env)
    step_seconds = None
    if call.device == "cpu":
        learning, step_seconds = choose_precision(env, model, settings.learning, settings.selfplay.groups)
        dtype = inference_dtype(env, model, settings.selfplay_dtype)
        settings = replace(settings, learning=learning, selfplay_dtype=dtype)
    config = {**run_config(env, model), "recipe": recipe_name(recipe)}
    notes = [recipe.note, *notes] if recipe.note else notes
    return make_plan(
        env, settings, model, until, recipe=recipe, config=config, notes=tuple(notes), step_seconds=step_seconds
    )


def new_network(call: TrainCall, of_recipe: Mapping[str, Any], seed: int) -> tuple[NeuralNet, list[str]]:
    """Return the network of a new run, and sentences about it for a report.

    of_recipe: keywords of NeuralNet from the recipe; those of the call replace them.
    seed: seed of the initial weights.
    """
    env, model = call.env, call.model
    with seeded(seed):
        if model is None:
            model = NeuralNet(env, **{**of_recipe, **call.sizes})
        elif call.sizes:
            model = grow(model, **call.sizes)
    if model.env == env:
        return model, []
    note = f"the model is for {model.env}: its weights learn {env}, for which a network is returned"
    return fit_to_game(model, env), [note]


def run_config(env: GameEnv, model: NeuralNet) -> dict[str, Any]:
    """Return the config of a new run, without its settings."""
    return {
        "version": VERSION,
        "game": env.name,
        "env": env.config,
        "network": model.config,
        "taught_by": model.taught_by,
        "until": None,
        "changes": [],
        "compacted": [],
    }


def recipe_name(recipe: Recipe) -> str:
    """Return a recipe's name for config.json; a recipe adapted from another board has its note instead of a name."""
    if recipe.settings is FEW_GAMES:
        return "few games"
    names = [name for name, known in RECIPES.items() if known is recipe]
    return names[0] if names else recipe.note or "the one of all other games"


def old_run(call: TrainCall, config: Mapping[str, Any], folder: Path) -> Plan[RunSettings]:
    """Return the plan of a resumed run.

    Settings that the call leaves unset keep their saved values.  A setting that is set to None loses its saved value.

    config: the saved config of the run in `folder`.
    Raises ValueError if the call changes a setting that a run cannot change; the message has both values.
    """
    env = call.env
    check_kind(config, folder, supervised=False)
    recipe = named_recipe(call.preset) if call.preset is not None else None
    model = resumed_network(call, config, folder, recipe.network_like(config["network"]) if recipe else {})
    with version_errors(folder, "settings"):
        before = RUN.load(config["settings"], call.settings, f"the run in {folder}")
    settings = call.merge(recipe, before).filled(call.device, before)
    changes = changed_settings(RUN, before, settings, folder)
    check_boards(env, settings, model)
    with version_errors(folder, "an opponent"):
        saved_until = Opponent(**config["until"]) if config["until"] else None
    until = check_opponent(saved_until if isinstance(call.until, Unset) else call.until, env)
    if until != saved_until:
        changes["until"] = (saved_until, until)
    if recipe is None and settings.num_games is None:
        recipe = recipe_for(env)  # for the estimate of `make_plan` alone: the settings are complete
    return make_plan(env, settings, model, until, recipe=recipe, config=config, changes=changes)


def make_plan(
    env: GameEnv,
    settings: RunSettings,
    model: NeuralNet,
    until: Opponent | None,
    *,
    recipe: Recipe | None,
    config: Mapping[str, Any],
    **more: Any,
) -> Plan[RunSettings]:
    """Return the plan of a run.

    recipe: tells after how many positions a run beat `until`; None if unknown.
    config: the saved config of a resumed run, or the result of `run_config` and the recipe's name for a new run.
    more: see Plan.
    """
    config = {**config, "settings": RUN.to_data(settings), "until": asdict(until) if until else None}
    judges = [*settings.judges, *([until] if until else [])]
    positions = recipe.positions_to_beat(until.name, env) if recipe and until else 0
    watch = watch_of(settings.watch, env)
    return Plan(
        env,
        settings,
        model,
        until,
        config=config,
        tree=RUN,
        positions_to_beat=positions,
        judges=judges,
        watch=watch,
        **more,
    )


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
    call: TrainCall, config: Mapping[str, Any], folder: Path, of_recipe: Mapping[str, Any] | None = None
) -> NeuralNet:
    """Return the network of a resumed run, without its weights, which are in the saved state.

    config: the saved config of the run in `folder`.
    of_recipe: keywords of NeuralNet from the recipe that the call names.
    Raises ValueError if the run has another game or network than the call.
    """
    env, network = call.env, config["network"]
    refuse = partial(refuse_change, folder)
    if env.name != config["game"]:
        refuse("game", config["game"], env.name)
    if in_one_only := config["env"].keys() ^ env.config.keys():
        raise other_version(folder, "a game", ", ".join(sorted(in_one_only)))
    check_unchanged(config["env"], env.config, refuse)
    model = call.model
    if model is None:
        check_unchanged(network, {**(of_recipe or {}), **call.sizes}, refuse)
        with version_errors(folder, "a network"), seeded(0):  # the state has the weights
            if network["custom"]:
                slots = ", ".join(f"{slot}={name}" for slot, name in network["custom"].items())
                raise ValueError(
                    f"the run in {folder} has a network with custom modules ({slots}): pass one like it as model=…"
                )
            model = build_net(network, env)
    elif call.sizes:
        model = grow(model, **call.sizes)
    model = fit_to_game(model, env)
    check_unchanged(network, model.config, refuse)
    model.taught_by = config.get("taught_by", model.taught_by)  # older configs have none
    return model


def changed_settings(
    tree: SettingsTree[Settings], before: Settings, after: Settings, folder: Path
) -> dict[str, tuple[Any, Any]]:
    """Return the old and the new value of each changed setting, by keyword.

    before, after: the settings that the run has had, and those with which it goes on.
    Raises ValueError if the run in `folder` must keep the value of a changed setting.
    """
    changes = tree.changes(before, after)
    for name in tree.structural(before, after):
        was, now = changes[name]
        refuse_change(folder, name, value_for_message(was), value_for_message(now))
    return changes


def value_for_message(value: Any) -> Any:
    """Return a value of a setting for a message: the name of a function or class, any other value unchanged."""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else value


def check_opponent(opponent: Opponent | None, env: GameEnv) -> Opponent | None:
    """Return `opponent` unchanged, after checking that it can play the game.

    Raises ValueError if the opponent does not exist or does not play the game, EngineError if it is an engine that is
    not installed or does not support the board.
    """
    player = None if opponent is None else resolve_player(opponent.name, env)
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)
    return opponent


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


def check_boards(env: GameEnv, settings: RunSettings, model: NeuralNet) -> None:
    """Raise ValueError if the settings name a board that the game or the network does not support."""
    for lesson in lessons(env, settings.curriculum):  # raises for a board that the game does not support
        model.resized(lesson.env)  # raises for a board that the network does not support


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random generator within the `with` block, and restore its state afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)
