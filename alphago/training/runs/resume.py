"""What a call of `train` comes to: a new run, or an old one that goes on, perhaps with other settings."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NoReturn

import torch

from alphago.arena.engine import GtpProgram
from alphago.arena.engine_player import GtpPlayer
from alphago.arena.players import contestant
from alphago.env.game import GameEnv
from alphago.env.games import go_only
from alphago.mcts.search import SearchSettings
from alphago.nn.loss import LOSSES, LossWeights
from alphago.nn.net import NeuralNet, build_net
from alphago.system.validation import UNSET, Unset, make_settings
from alphago.training.judges.gate import Gate
from alphago.training.group import default_groups
from alphago.training.optimizer import OPTIMIZERS
from alphago.training.recipes import Preset, named_preset, preset_for
from alphago.training.judges.proof import Opponent
from alphago.training.runs.config import another_version, of_this_version
from alphago.training.settings import TrainingSettings, optimizer_name, stages

# Settings that a run keeps: its games so far would be other ones, or belong elsewhere.  `groups` is among them because
# games are dealt to groups by their numbers, and each group knows the next of its own only: with another number of
# groups some numbers would be played twice and others never.
STRUCTURAL = ("seed", "curriculum", "sizes", "games_in_flight", "groups", "exact_rules", "optimizer")
CHOSEN = ("games_in_flight", "groups")  # those of them that a run chooses where it was given None
NESTED = ("search", "losses", "gate")  # settings that are made of settings


@dataclass(frozen=True)
class Asked:
    """What the caller of `train` said.

    The run's folder, or defaults, say what is UNSET, missing in `settings` or `sizes`, or no preset or model.
    """

    env: GameEnv
    num_games: int | Unset | None
    preset: str | None
    model: NeuralNet | None
    sizes: Mapping[str, int]  # of the network
    until: Opponent | Unset | None
    settings: Mapping[str, Any]
    device: str = "cpu"  # where the run goes on, or begins

    def __post_init__(self) -> None:
        if self.model is not None and self.sizes:
            raise ValueError("tower_height and channels describe a new network; a model was given too")

    def said(self, recipe: Preset | None) -> dict[str, Any]:
        """The settings that were said; what the recipe says counts as said before."""
        games = {} if self.num_games is UNSET else {"num_games": self.num_games}
        before = recipe.settings_on(self.device) if recipe else {}
        return {**before, **changed_nested(before, self.settings), **games}


@dataclass(frozen=True)
class Plan:
    """A run: its settings, its network (with what weights, a state may say), whom it has to beat, and its config."""

    settings: TrainingSettings
    model: NeuralNet
    until: Opponent | None
    config: dict[str, Any]
    needed: int = 0  # positions after which another run was proved to be stronger than `until`; 0: nobody knows
    note: str = ""  # of a new run's recipe
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # name: before and now, in a run that goes on


def new_run(asked: Asked) -> Plan:
    """The plan of a run that begins; ValueError or TypeError for what cannot be trained."""
    env = asked.env
    recipe = named_preset(asked.preset) if asked.preset is not None else None
    if recipe is None and asked.num_games in (None, UNSET):
        recipe = preset_for(env)
    given = asked.said(recipe)
    if given.get("max_minutes") is not None:
        given.setdefault("num_games", None)
    settings = make_settings(TrainingSettings, **given)
    # A run keeps these, wherever it goes on and however long it becomes.
    flight, groups = settings.selfplay(asked.device).games_in_flight, settings.groups or default_groups(asked.device)
    settings = replace(settings, groups=groups, games_in_flight=flight)
    model = asked.model
    if model is None:
        with seeded(settings.seed):
            model = NeuralNet(env, **{**(recipe.network if recipe else {}), **asked.sizes})
    model = fitted(model, env)
    check_boards(env, settings, model)
    until = None if isinstance(asked.until, Unset) else asked.until
    config: dict[str, Any] = {
        "game": env.name,
        "env": env.config,
        "network": model.config,
        "settings": settings.plain(),
        "until": asdict(until) if until else None,
        "changes": [],
        "compacted": [],
    }
    needed = recipe.needed(until.name, env) if recipe and until else 0
    return Plan(settings, model, known(until, env), config, needed, recipe.note if recipe else "")


def old_run(asked: Asked, config: Mapping[str, Any], folder: Path) -> Plan:
    """The plan of a run that goes on; what the caller does not say is as the folder says, and None is said too.

    ValueError that names what a run cannot change, with both values.
    """
    env, network = asked.env, config["network"]

    def differs(name: str, was: Any, came: Any) -> NoReturn:
        raise ValueError(f"the run in {folder} has {name} {was!r}, now {came!r} came: choose another folder")

    if env.name != config["game"]:
        differs("game", config["game"], env.name)
    if other := config["env"].keys() ^ env.config.keys():
        raise another_version(folder, "a game", ", ".join(sorted(other)))
    compare(config["env"], env.config, differs)
    recipe = named_preset(asked.preset) if asked.preset is not None else None
    model = asked.model
    if model is None:
        compare(network, {**(recipe.network if recipe else {}), **asked.sizes}, differs)
        with of_this_version(folder, "a network"), seeded(0):  # which weights, the state says
            if network["custom"]:
                slots = ", ".join(f"{slot}={name}" for slot, name in network["custom"].items())
                raise ValueError(
                    f"the run in {folder} has a network of its own parts ({slots}): pass one like it as model=…"
                )
            model = build_net(network, env)
    model = fitted(model, env)
    compare(network, model.config, differs)

    said = {name: value for name, value in asked.said(recipe).items() if value is not None or name not in CHOSEN}
    before = saved_settings(config, folder, said.get("optimizer"))
    settings = make_settings(TrainingSettings, **{**vars(before), **changed_nested(vars(before), said)})
    pairs = {f.name: (getattr(before, f.name), getattr(settings, f.name)) for f in fields(settings)}
    changes = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    for name, pair in changes.items():
        if name in STRUCTURAL:
            differs(name, *(map(optimizer_name, pair) if name == "optimizer" else pair))
    check_boards(env, settings, model)
    with of_this_version(folder, "an opponent"):
        was_until = Opponent(**config["until"]) if config["until"] else None
    until = was_until if isinstance(asked.until, Unset) else asked.until
    if until != was_until:
        changes["until"] = (was_until, until)
    new = {**config, "settings": settings.plain(), "until": asdict(until) if until else None}
    recipe = recipe or (preset_for(env) if settings.num_games is None else None)
    needed = recipe.needed(until.name, env) if recipe and until else 0
    return Plan(settings, model, known(until, env), new, needed, changes=changes)


def changed_nested(before: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, where a dictionary for a setting that is made of settings leaves what it does not name as before.

    TypeError that names near misses for a nested setting that there is not.
    """
    return {name: changed_one(before.get(name), value) if name in NESTED else value for name, value in said.items()}


def changed_one(before: Any, said: Any) -> Any:
    """The new value of one setting that is made of settings; before, it was None, a name, a dictionary or whole."""
    if not isinstance(said, Mapping):
        return said
    if isinstance(before, str):
        before = LOSSES[before]
    if before is None or isinstance(before, Mapping):
        return {**(before or {}), **said}
    return make_settings(type(before), **{**vars(before), **said})


def known(opponent: Opponent | None, env: GameEnv) -> Opponent | None:
    """The opponent; an error now rather than in a minute if nobody is called so, or does not play this game.

    ValueError, or EngineError where it is an engine that is not installed, or refuses the board.
    """
    who = None if opponent is None else contestant(opponent.name, env)
    if isinstance(who, GtpProgram):
        GtpPlayer(go_only(env.match_variant(), f"{who.name} plays"), who, [1]).close()
    return opponent


def compare(saved: Mapping[str, Any], came: Mapping[str, Any], differs: Callable[[str, Any, Any], NoReturn]) -> None:
    """Calls `differs` with the first name of `came` whose value was saved as another one."""
    for name, value in json.loads(json.dumps(came)).items():
        if saved.get(name) != value:
            differs(name, saved.get(name), value)


def saved_settings(config: Mapping[str, Any], folder: Path, optimizer: Any = None) -> TrainingSettings:
    """The settings in a run's config; ValueError with a sentence if they are none.

    optimizer: the function that a run was trained with whose optimizer was no name.
    """
    with of_this_version(folder, "settings"):
        given = dict(config["settings"])
        if given["search"] is not None and set(given["search"]) == {f.name for f in fields(SearchSettings)}:
            given["search"] = SearchSettings(**given["search"])  # fewer of them change self-play's usual search
        if given["gate"] is not None:
            given["gate"] = Gate(**given["gate"])
        given["losses"] = LossWeights(**given["losses"])
        was = given["optimizer"]
        if callable(optimizer) and optimizer_name(optimizer) == was:
            given["optimizer"] = optimizer
        elif was not in OPTIMIZERS:
            raise ValueError(f"the run in {folder} has an optimizer of its own, {was}: pass it as optimizer=…")
        return make_settings(TrainingSettings, **given)


def fitted(model: NeuralNet, env: GameEnv) -> NeuralNet:
    """The network for this very game, with the same weights; ValueError if it plays another game."""
    return model if model.env == env else model.resized(env)


def check_boards(env: GameEnv, settings: TrainingSettings, model: NeuralNet) -> None:
    """ValueError for boards that the game or the network does not have."""
    for board in {board for stage in stages(env, settings) for board, _ in stage.boards}:
        model.resized(board)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds torch for the block and puts its random state back afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)
