"""The parts of a run on disk: the names by which config.json calls them, and their settings as plain data."""

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

from alphago.mcts.search import SearchSettings
from alphago.system.validation import make_settings, qualified_name
from alphago.training.cgzero import CGZeroGames, Champions, MixedTargets, Pool
from alphago.training.judges.gate import Gate
from alphago.training.settings import TrainingSettings, optimizer_name
from alphago.training.window import Window

# Parts of other classes, and functions, are called "module:name".
PARTS: dict[str, type] = {
    "window": Window,
    "pool": Pool,
    "gate": Gate,
    "champions": Champions,
    "mixed-targets": MixedTargets,
    "cgzero-games": CGZeroGames,
}
SINGLE = ("memory", "targets", "seating", "gate")  # settings that are a part or None; `judges` are any number of parts


def name_of(part: Any) -> str:
    """Return the name of a part, or of a class or function that is none of PARTS."""
    kind = part if isinstance(part, type) or not is_dataclass(part) else type(part)
    if not hasattr(kind, "__qualname__"):
        kind = type(part)
    return next((name for name, known in PARTS.items() if known is kind), qualified_name(kind))


def plain_part(part: Any) -> Any:
    """Return a part as plain data for JSON: its name, as "part", and its settings; None for None."""
    if part is None:
        return None
    return {"part": name_of(part), **(asdict(part) if is_dataclass(part) else {})}  # type: ignore[arg-type]


def saved_part(saved: Mapping[str, Any] | None, folder: Path, given: Sequence[Any] = ()) -> Any:
    """Return the part that was saved as plain data; None for None.

    folder: the run's folder, for an error's message.
    given: parts that the caller of `train` gives; one of the saved name shows the class, which is then not imported.
    Raises ValueError for a class or function that cannot be imported.
    """
    if saved is None:
        return None
    name, values = saved["part"], {key: value for key, value in saved.items() if key != "part"}
    kind = PARTS.get(name)
    for part in given:
        if kind is None and part is not None and name_of(part) == name:
            kind = type(part) if is_dataclass(part) else part
    try:
        found = kind or pkgutil.resolve_name(name)
    except Exception as error:  # importing a module runs it
        raise ValueError(
            f"the run in {folder} has a part of its own, {name}, which cannot be imported ({error}): "
            "pass it to train as in the first call"
        ) from error
    return make_settings(found, **values) if isinstance(found, type) else found


def plain_settings(settings: TrainingSettings) -> dict[str, Any]:
    """Return all settings as plain data for JSON; functions and custom classes are replaced by their names."""
    return {
        **{one.name: plain_value(getattr(settings, one.name)) for one in fields(settings)},
        "optimizer": optimizer_name(settings.optimizer),
        **{name: plain_part(getattr(settings, name)) for name in SINGLE},
        "judges": [plain_part(judge) for judge in settings.judges],
    }


def plain_value(value: Any) -> Any:
    """Return the value of a setting as plain data for JSON; settings of a search class of its own name their class."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    own = {"class": qualified_name(type(value))} if isinstance(value, SearchSettings) else {}
    return asdict(value) | ({} if type(value) is SearchSettings else own)
