"""A class of settings with groups and parts of every kind."""

from dataclasses import dataclass
from typing import Any

from alphago.system.settings import group, make_settings, part
from alphago.system.validation import setting, settings


@settings
class Broad:
    width: int = setting("how broad", default=3, least=1)
    leaves: int = setting("leaves at once", default=1, least=1)


@settings
class Deep:
    depth: float = setting("how deep", default=2.0, least=0)
    leaves: int = setting("leaves at once", default=4, least=1)


@settings
class Shelf:
    size: int = setting("how large", default=100, least=1)


@settings
class Heap:
    size: int = setting("how large", default=5, least=1, structural=True)


@settings
class Door:
    rate: float = setting("how often", default=0.5, least=0, most=1)
    games: int = setting("how many", default=10, least=1)


@settings
class Play:
    readouts: int = setting("simulations", default=8, least=1)
    threads: int = setting("threads", default=None, least=1, structural=True)
    search: Any = part("the search", default=Deep(), choices={"broad": Broad, "deep": Deep}, shown="the search")


@settings
class Root:
    seed: int = setting("the seed", default=0, least=0, structural=True)
    minutes: float | None = setting("the length", default=None, positive=True)
    rule: Any = setting("a name or a function", default="usual")
    trace: bool = setting("seldom set", default=False, path_only=True)
    play: Play = group("play", Play)
    memory: Any = part(
        "the memory", default=Shelf(), title="the memory", choices={"shelf": Shelf, "heap": Heap}, structural=True
    )
    tree: Door | None = part("the door", default=None, title="the door", kind=Door, prefix="tree_")
    gate: Door | None = part("the gate", default=None, title="the gate", kind=Door, prefix="gate_")
    judges: tuple[Any, ...] = setting("the judges", default=())


def made_of(**given: Any) -> Root:
    return make_settings(Root, given)


@dataclass(frozen=True)
class Own:
    """A part of a user: it has settings, and no name."""

    share: float = 0.5


class Bare:
    """A part of a user without settings."""
