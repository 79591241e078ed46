"""How a run of self-play or of given games starts: its network and its config, new or as saved in its folder."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import torch

from alphago.arena.entrant import resolve_player
from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import network_and_game
from alphago.nn.inference.hardware import find_device
from alphago.nn.net import NeuralNet, build_net
from alphago.system.settings import to_data
from alphago.system.validation import check_positive
from alphago.training.code_digest import code_digests
from alphago.training.judges.watcher import Watched, make_watched
from alphago.training.runs.config import VERSION, how_to_continue, other_version, version_errors
from alphago.training.settings.run_settings import AnyRunSettings, RunSettings
from alphago.training.settings.saved_settings import changes, from_data
from alphago.training.watch.report import Report

Settings = TypeVar("Settings", bound=AnyRunSettings)


class Call:
    """The arguments of a call of `train` or `train_supervised` beside settings; a run may consist of several calls.

    The constructor loads the network and finds the device, and the time of a limited call begins.

    Args:
        sizes: `tower_height` and `channels`; None for sizes that the call leaves out.
        parts: parts of Run by keyword: make_source, make_learner.
        model, device, reports, stop_after: see `train`.

    Attributes:
        env: the game.
        model: the network to continue with; None for a new network, or in a resumed run for the run's own.
        sizes: the sizes that the call gives.
        device: "cpu" or a GPU such as "cuda".
        may_change_device: whether the run may use another device than `device` if this one cannot compute the network.
        deadline: the value of time.monotonic() at which the call stops; None for no limit.
        reports, parts: as given.

    Raises:
        TypeError or ValueError: unless the arguments are as `train` says.
        BackendMissing: for a device that does not exist.
    """

    def __init__(
        self,
        env: GameEnv,
        model: NeuralNet | str | Path | None,
        sizes: Mapping[str, int | None],
        device: str,
        *,
        reports: Sequence[Report] | None = None,
        stop_after: float | None = None,
        **parts: Any,
    ) -> None:
        check_env(env)
        are_reports = isinstance(reports, Sequence) and all(isinstance(report, Report) for report in reports)
        if reports is not None and not are_reports:
            raise TypeError(
                f"reports must be a list of objects of classes derived from Report, or None, got {reports!r}"
            )
        minutes = None if stop_after is None else check_positive("stop_after, in minutes,", stop_after)
        self.deadline = None if minutes is None else time.monotonic() + 60 * minutes
        network, self.env = network_and_game(model, env)
        if network is not None and not isinstance(network, NeuralNet):
            raise TypeError(f"model must be a NeuralNet, a name or path as load_model takes it, or None, got {model!r}")
        self.model = network
        self.sizes = {name: size for name, size in sizes.items() if size is not None}
        if network is not None and self.sizes:
            raise ValueError(f"{' and '.join(self.sizes)} must be left out with a model, which has its own: {network}")
        self.device = find_device(self.env, device)
        self.may_change_device = device == "auto"
        self.reports, self.parts = reports, parts


@dataclass(frozen=True)
class Start:
    """What a new or a resumed run starts with.

    Attributes:
        settings: the run's settings; those that the run chooses itself if they are None are chosen.
        model: the network; a resumed run then takes its weights from the saved state.
        config: the contents of config.json.
        watched: the opponents, records and exams of the setting `watch`.
        notes: sentences about a new run's recipe and model, or about given games, for a report.
        changes: for each setting that this call changes, by name, the old and the new value.
    """

    settings: RunSettings
    model: NeuralNet
    config: dict[str, Any]
    watched: Sequence[Watched]
    notes: Sequence[str] = ()
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


def make_start(call: Call, settings: RunSettings, model: NeuralNet, config: dict[str, Any], **more: Any) -> Start:
    """Return how a new or a resumed run starts, after checking that its parts play the game on all boards of the run.

    Args:
        more: `notes` and `changes` of Start.

    Raises:
        ValueError: for a board that the game or the network does not support, and for an opponent that does not exist
            or does not play the game.
        EngineError: for an engine that is not installed or does not support the board.
    """
    env = call.env
    for lesson in settings.lessons(env):  # raises for a board that the game does not support
        model.resized(lesson.env)  # raises for a board that the network does not support
    if settings.until is not None:
        resolve_player(settings.until.name, env)
    return Start(settings, model, config, make_watched(settings.watch, env), **more)


def new_network(call: Call, of_recipe: Mapping[str, Any], seed: int) -> tuple[NeuralNet, list[str]]:
    """Return the network of a new run, and sentences about it for a report.

    Args:
        of_recipe: keywords of NeuralNet from the recipe; the call's sizes replace them.
        seed: seed of the initial weights.
    """
    model, env = call.model, call.env
    with seeded(seed):
        if model is None:
            model = NeuralNet(env, **{**of_recipe, **call.sizes})
    if model.env == env:
        return model, []
    note = f"the model is for {model.env}: its weights learn {env}, for which a network is returned"
    return model.resized(env), [note]


def new_config(model: NeuralNet, settings: AnyRunSettings, **more: Any) -> dict[str, Any]:
    """Return the config of a new run; more: entries that only this kind of run has."""
    return {
        "version": VERSION,
        "game": model.env.name,
        "env": model.env.config,
        "network": model.config,
        "taught_by": model.taught_by,
        "changes": [],
        "settings": to_data(settings),
        "code": code_digests(settings),
        **more,
    }


def refuse_change(folder: Path, name: str, was: object, now: object) -> NoReturn:
    """Raise the error for a setting that a run must keep.

    Args:
        folder: the run's folder.
        name: the setting's name.
        was: the run's value.
        now: the call's value.
    """
    raise ValueError(f"the run in {folder} has {name} {was!r}, got {now!r}: choose another folder")


def saved_run(
    call: Call,
    kind: type[Settings],
    given: Mapping[str, Any],
    config: Mapping[str, Any],
    folder: Path,
    of_recipe: Mapping[str, Any],
) -> tuple[Settings, NeuralNet]:
    """Return the saved settings of a run that is resumed, and its network.

    The network does not have the run's weights yet: these are in the saved state.

    Args:
        kind: the class of the settings: RunSettings for self-play, SupervisedSettings for given games.
        given: the call's settings by path, such as "search.c_puct".  A setting that is a function must be given again,
            since only its name is saved.
        config: the saved config of the run in `folder`.
        of_recipe: keywords of NeuralNet from the recipe that the call names; {} if it names none.

    Raises:
        ValueError: if the run has another game or network than the call, or is not of this kind.
    """
    check_kind(kind, config, folder)
    check_game(call.env, config, folder)
    model = rebuilt_network(call, config, folder, of_recipe) if call.model is None else call.model
    model = model if model.env == call.env else model.resized(call.env)  # raises ValueError if it is for another game
    check_unchanged(folder, config["network"], model.config)  # the call's network may be another one than the run's
    model.taught_by = config["taught_by"]
    with version_errors(folder, "settings"):
        return from_data(kind, config["settings"], given, f"the run in {folder}"), model


def check_kind(kind: type[AnyRunSettings], config: Mapping[str, Any], folder: Path) -> None:
    """Raise ValueError unless the saved run is of the kind (self-play or given games) of the settings `kind`."""
    is_selfplay, was_selfplay = kind is RunSettings, "given" not in config
    if is_selfplay != was_selfplay:
        raise ValueError(
            f"the run in {folder} must be a run of {'self-play' if is_selfplay else 'given games'} for this call, and "
            f"is not: `{how_to_continue(folder)}` resumes it"
        )


def check_game(env: GameEnv, config: Mapping[str, Any], folder: Path) -> None:
    """Raise ValueError unless the saved run's game is `env`."""
    if env.name != config["game"]:
        refuse_change(folder, "game", config["game"], env.name)
    if options_of_one_version := config["env"].keys() ^ env.config.keys():  # those that only one of the two has
        raise other_version(folder, "a game", ", ".join(sorted(options_of_one_version)))
    check_unchanged(folder, config["env"], env.config)


def rebuilt_network(call: Call, config: Mapping[str, Any], folder: Path, of_recipe: Mapping[str, Any]) -> NeuralNet:
    """Return a new network like the one of the saved run.

    Args:
        config, folder, of_recipe: as in `saved_run`.

    Raises:
        ValueError: if the recipe or the call's sizes ask for another network, or if the network has custom modules.
    """
    network = config["network"]
    check_unchanged(folder, network, {**of_recipe, **call.sizes})
    with version_errors(folder, "a network"), seeded(0):  # any seed: the saved state has the weights
        if not network["custom"]:
            return build_net(network, call.env)
        slots = ", ".join(f"{slot}={name}" for slot, name in network["custom"].items())
    raise ValueError(f"the run in {folder} has a network with custom modules ({slots}): pass one like it as model=…")


def check_unchanged(folder: Path, saved: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raise ValueError for the first entry of `new` whose saved value, in the run's `folder`, is different."""
    as_saved = json.loads(json.dumps(new))  # for example, tuples become lists
    for name, value in as_saved.items():
        if saved.get(name) != value:
            refuse_change(folder, name, saved.get(name), value)


def change_config(
    before: AnyRunSettings, after: AnyRunSettings, config: Mapping[str, Any], folder: Path
) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    """Return a resumed run's new config, and its changes, as in Start.

    A function or class among the settings whose code was edited is a change, too: from the old code's digest to the
    new code's.

    Args:
        before: the run's settings so far.
        after: its settings from now on.
        config: the saved config.

    Raises:
        ValueError: if the run in `folder` must keep the value of a changed setting.
    """
    changed = changes(before, after)
    for name, values in changes(before, after, structural=True).items():  # those that a run must keep, usually none
        refuse_change(folder, name, *map(value_for_message, values))
    saved, code = config["code"], code_digests(after)
    for name in sorted(code.keys() & saved.keys()):
        if saved[name] != code[name]:
            changed[f"the code of {name}"] = (saved[name][:8], code[name][:8])
    return {**config, "settings": to_data(after), "code": code}, changed


def value_for_message(value: Any) -> Any:
    """Return a value of a setting for a message: the name of a function or class, any other value unchanged."""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else value


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random generator within the `with` block, and restore its state afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
