"""Turn a call of `train` into a Plan, which says how to start a new run or resume one, perhaps with new settings."""

import contextlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NoReturn

import torch

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.arena.players import resolve_player
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.mcts.search import SearchSettings
from alphago.nn.loss import LOSSES, LossWeights
from alphago.nn.net import NeuralNet, build_net
from alphago.system.validation import UNSET, Unset, check_float, is_int, make_settings, qualified_name
from alphago.training.curriculum import lessons
from alphago.training.judge import JudgeSettings
from alphago.training.judges.gate import Gate
from alphago.training.judges.proof import Opponent
from alphago.training.judges.watched import make_watched
from alphago.training.judges.watcher import Watch
from alphago.training.optimizer import OPTIMIZERS
from alphago.training.parts import SINGLE, plain_settings, saved_part
from alphago.training.precision import choose_precision
from alphago.training.recipes import FEW_GAMES, RECIPES, Recipe, named_recipe, recipe_for
from alphago.training.runs.config import VERSION, other_version, version_errors
from alphago.training.settings import TrainingSettings, default_groups, optimizer_name

# Settings that a resumed run cannot change, because its games so far depend on them.  `groups` is among them because
# each group plays the games with certain numbers: with another number of groups, a resumed run would play some games
# twice and others never.
STRUCTURAL = ("seed", "curriculum", "games_in_flight", "groups", "exact_rules", "optimizer", "memory")
CHOSEN = ("games_in_flight", "groups")  # settings whose None a new run replaces by a value
NESTED = ("search", "losses", "gate")  # settings that have settings of their own


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

    def __post_init__(self) -> None:
        if self.model is not None and self.sizes:
            raise ValueError(
                f"tower_height and channels must be left out where a model is given, got {dict(self.sizes)!r}"
            )

    def explicit(self, recipe: Recipe | None) -> dict[str, Any]:
        """Return the settings that the recipe or the call sets; the call's values replace the recipe's."""
        games = {} if self.num_games is UNSET else {"num_games": self.num_games}
        before = recipe.settings_on(self.device) if recipe else {}
        return {**before, **update_settings(before, self.settings), **games}


@dataclass(frozen=True)
class Plan:
    """All that is needed to start a run, new or resumed."""

    settings: TrainingSettings
    model: NeuralNet  # the network; a resumed run takes its weights from the saved state
    until: Opponent | None
    config: dict[str, Any]  # the contents of config.json
    positions_to_beat: int = 0  # number of positions after which a run with this recipe beat `until`; 0 if unknown
    judges: Sequence[JudgeSettings[Any]] = ()
    watch: Watch | None = None
    notes: tuple[str, ...] = ()  # sentences about a new run's recipe and model, for a report
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # changed settings: old and new value
    step_seconds: float | None = None  # measured seconds of a gradient step, for new runs on a CPU


def new_run(call: TrainCall) -> Plan:
    """Return the plan of a new run; raise ValueError or TypeError for invalid arguments of the call."""
    env = call.env
    recipe = recipe_for(env) if call.preset is None else named_recipe(call.preset)
    if call.preset is None and is_int(call.num_games, 1):
        recipe = recipe.for_games(call.num_games)
    given = call.explicit(recipe)
    if given.get("max_minutes") is not None:
        given.setdefault("num_games", None)
    settings = make_settings(TrainingSettings, **given)
    settings = replace(  # decided once: a resumed run keeps them on any device and however long it becomes
        settings,
        groups=settings.groups or default_groups(call.device),
        games_in_flight=settings.selfplay(call.device).games_in_flight,
    )
    model = call.model
    if model is None:
        with seeded(settings.seed):
            model = NeuralNet(env, **{**recipe.network, **call.sizes})
    notes = [recipe.note] if recipe.note else []
    if model.env != env:
        notes.append(f"the model is for {model.env}: its weights learn {env}, for which a network is returned")
    model = fitted(model, env)
    check_boards(env, settings, model)
    until = check_opponent(None if isinstance(call.until, Unset) else call.until, env)
    step_seconds = None
    if call.device == "cpu":
        settings, step_seconds = choose_precision(env, model, settings)
    config = {
        "version": VERSION,
        "game": env.name,
        "env": env.config,
        "network": model.config,
        **changeable(settings, until),
    }
    config |= {"recipe": recipe_name(recipe), "changes": [], "compacted": []}
    positions = recipe.positions_to_beat(until.name, env) if until else 0
    judges, watch = judges_of(settings, until), watch_of(settings, env)
    return Plan(settings, model, until, config, positions, judges, watch, tuple(notes), step_seconds=step_seconds)


def recipe_name(recipe: Recipe) -> str:
    """Return a recipe's name for config.json; for a recipe adapted from another board, its note."""
    if recipe.settings is FEW_GAMES:
        return "few games"
    names = [name for name, one in RECIPES.items() if one is recipe]
    return names[0] if names else recipe.note or "the one of all other games"


def old_run(call: TrainCall, config: Mapping[str, Any], folder: Path) -> Plan:
    """Return the plan of a resumed run.

    Settings that the call leaves unset keep their saved values.  A setting that is set to None loses its saved value.

    config: the saved config of the run in `folder`.
    Raises ValueError if the call changes a setting that a run cannot change; the message has both values.
    """
    env, network = call.env, config["network"]

    def differs(name: str, was: Any, now: Any) -> NoReturn:
        raise ValueError(f"the run in {folder} has {name} {was!r}, got {now!r}: choose another folder")

    if env.name != config["game"]:
        differs("game", config["game"], env.name)
    if other := config["env"].keys() ^ env.config.keys():
        raise other_version(folder, "a game", ", ".join(sorted(other)))
    compare(config["env"], env.config, differs)
    recipe = named_recipe(call.preset) if call.preset is not None else None
    model = call.model
    if model is None:
        compare(network, {**(recipe.network if recipe else {}), **call.sizes}, differs)
        with version_errors(folder, "a network"), seeded(0):  # the state has the weights
            if network["custom"]:
                slots = ", ".join(f"{slot}={name}" for slot, name in network["custom"].items())
                raise ValueError(
                    f"the run in {folder} has a network with custom modules ({slots}): pass one like it as model=…"
                )
            model = build_net(network, env)
    model = fitted(model, env)
    compare(network, model.config, differs)

    explicit = {name: value for name, value in call.explicit(recipe).items() if value is not None or name not in CHOSEN}
    before = saved_settings(config, folder, explicit)
    settings = make_settings(TrainingSettings, **{**vars(before), **update_settings(vars(before), explicit)})
    pairs = {f.name: (getattr(before, f.name), getattr(settings, f.name)) for f in fields(settings)}
    changes = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    for name, pair in changes.items():
        if name in STRUCTURAL:
            differs(name, *(map(optimizer_name, pair) if name == "optimizer" else pair))
    check_boards(env, settings, model)
    with version_errors(folder, "an opponent"):
        was_until = Opponent(**config["until"]) if config["until"] else None
    until = was_until if isinstance(call.until, Unset) else call.until
    if until != was_until:
        changes["until"] = (was_until, until)
    recipe = recipe or (recipe_for(env) if settings.num_games is None else None)
    positions = recipe.positions_to_beat(until.name, env) if recipe and until else 0
    new = {**config, **changeable(settings, until)}
    judges, watch = judges_of(settings, check_opponent(until, env)), watch_of(settings, env)
    return Plan(settings, model, until, new, positions, judges, watch, changes=changes)


def judges_of(settings: TrainingSettings, until: Opponent | None) -> list[JudgeSettings[Any]]:
    """Return the settings of a run's judges; raise ValueError if more than one of them chooses self-play's network."""
    judges = [*settings.made_judges, *([until] if until else [])]
    if len(choosing := [judge for judge in judges if judge.chooses]) > 1:
        raise ValueError(f"judges must have at most one that chooses self-play's network, got {choosing}")
    return judges


def watch_of(settings: TrainingSettings, env: GameEnv) -> Watch | None:
    """Return what tests a run's networks by the setting `watch`; None for nothing.  Raises as `make_watched` does."""
    watched = make_watched(settings.watch or (), env)
    return Watch(watched, settings.watch_share) if watched else None


def changeable(settings: TrainingSettings, until: Opponent | None) -> dict[str, Any]:
    """Return the entries of a config that a resumed run may change: the settings, and the opponent to beat."""
    return {"settings": plain_settings(settings), "until": asdict(until) if until else None}


def update_settings(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings `new`, where a nested setting's missing fields are filled in from the settings `before`.

    Raises TypeError, which suggests similar names, for a field of a nested setting that does not exist.
    """
    settings = {name: update_nested(before.get(name), new[name]) if name in NESTED else new[name] for name in new}
    return settings | ({"gate": as_gate(settings["gate"])} if "gate" in settings else {})


def as_gate(given: Any) -> Any:
    """Return the gate for a win rate or for a dictionary of settings of Gate; anything else is returned unchanged."""
    if given is None or hasattr(given, "make_judge"):
        return given
    if isinstance(given, Mapping):
        return make_settings(Gate, **given)
    return Gate(check_float("gate, a win rate,", given))


def update_nested(before: Any, new: Any) -> Any:
    """Return the new value of a nested setting: `new`; if this is a dictionary, with missing fields from `before`.

    before: the value so far: None, the name of a set of losses, a dictionary or a dataclass of settings.
    """
    if not isinstance(new, Mapping):
        return new
    if isinstance(before, str):
        before = LOSSES[before]
    if before is None or isinstance(before, Mapping):
        return {**(before or {}), **new}
    return make_settings(type(before), **{**vars(before), **new})


def check_opponent(opponent: Opponent | None, env: GameEnv) -> Opponent | None:
    """Return `opponent` unchanged, after checking that it can play the game.

    Raises ValueError if the opponent does not exist or does not play the game, EngineError if it is an engine that is
    not installed or does not support the board.
    """
    who = None if opponent is None else resolve_player(opponent.name, env)
    if isinstance(who, Engine):
        check_engine(require_go(env.match_variant(), who.name), who)
    return opponent


def compare(saved: Mapping[str, Any], new: Mapping[str, Any], differs: Callable[[str, Any, Any], NoReturn]) -> None:
    """Raise an error for the first setting in `new` whose saved value is another one.

    differs: raises the error; called with the setting's name, saved value and new value.
    """
    for name, value in json.loads(json.dumps(new)).items():
        if saved.get(name) != value:
            differs(name, saved.get(name), value)


def saved_settings(config: Mapping[str, Any], folder: Path, call: Mapping[str, Any] | None = None) -> TrainingSettings:
    """Return the settings in a run's config.

    call: the settings that the caller of `train` sets.  The config has only the names of a custom optimizer and a
        custom search class; the function and the class themselves are taken from `call`.
    Raises ValueError if the settings are of another version, or a custom function or class is missing.
    """
    call = call or {}
    with version_errors(folder, "settings"):
        given = dict(config["settings"])
        if unknown := given.keys() - {f.name for f in fields(TrainingSettings)}:
            raise other_version(folder, "settings", ", ".join(sorted(unknown)))
        given["search"] = saved_search(given["search"], folder, call.get("search"))
        for name in SINGLE:
            given[name] = saved_part(given[name], folder, [call.get(name)])
        given["judges"] = tuple(saved_part(judge, folder, call.get("judges", ())) for judge in given["judges"])
        given["losses"] = LossWeights(**given["losses"])
        was, optimizer = given["optimizer"], call.get("optimizer")
        if callable(optimizer) and optimizer_name(optimizer) == was:
            given["optimizer"] = optimizer
        elif was not in OPTIMIZERS:
            raise ValueError(f"the run in {folder} has a custom optimizer, {was}: pass that function as optimizer=…")
        return make_settings(TrainingSettings, **given)


def saved_search(saved: Mapping[str, Any] | None, folder: Path, call: Any) -> Any:
    """Return the setting `search` in a run's config.

    saved: the saved value.
    call: the value that the caller of `train` sets.  If it is an instance of the class whose name is saved, that class
        is used and not imported.
    Returns search settings; or the dictionary `saved` if it only changes some fields of self-play's default search; or
    None if `saved` is None.
    Raises ValueError for a class that cannot be imported.
    """
    if saved is not None and "class" in saved:
        name, values = saved["class"], {key: value for key, value in saved.items() if key != "class"}
        try:
            kind = type(call) if qualified_name(type(call)) == name else pkgutil.resolve_name(name)
            if not issubclass(kind, SearchSettings):
                raise TypeError("it is no class of search settings")
        except Exception as error:  # importing a module runs it
            raise ValueError(
                f"the run in {folder} has a search of its own class, {name}, which cannot be imported ({error}): "
                "pass settings of that class as search=…"
            ) from error
        return make_settings(kind, **values)
    if saved is not None and set(saved) == {f.name for f in fields(SearchSettings)}:
        return SearchSettings(**saved)  # all of them; fewer only change self-play's default search
    return saved


def fitted(model: NeuralNet, env: GameEnv) -> NeuralNet:
    """Return the network, resized to the board of `env` if necessary; raise ValueError if it is for another game."""
    return model if model.env == env else model.resized(env)


def check_boards(env: GameEnv, settings: TrainingSettings, model: NeuralNet) -> None:
    """Raise ValueError if the settings name a board that the game or the network does not support."""
    for lesson in lessons(env, settings.curriculum):
        model.resized(lesson.env)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random generator within the `with` block, and restore its state afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)
