"""Settings by path: keywords spread, parts chosen and changed, saved, loaded, compared."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from alphago.system.settings import (
    addresses,
    change_settings,
    changes,
    from_data,
    group,
    keywords,
    make_settings,
    part,
    to_data,
    values_by_path,
)
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


def test_keywords_are_spread_by_name() -> None:
    given = {"readouts": 3, "seed": 7, "depth": 1, "size": 4, "trace": True}
    paths = {"readouts": 3, "seed": 7, "search.depth": 1, "memory.size": 4, "trace": True}
    assert values_by_path(Root, given) == paths
    expected = Root(seed=7, trace=True, play=Play(readouts=3, search=Deep(depth=1.0)), memory=Shelf(4))
    assert make_settings(Root, given) == make_settings(Root, paths) == change_settings(Root(), paths) == expected


def test_a_keyword_belongs_to_one_setting() -> None:
    @settings
    class Twice:
        readouts: int = setting("simulations", default=8)
        play: Play = group("play", Play)

    with pytest.raises(ValueError, match="two settings have the keyword readouts"):
        addresses(Twice)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"search": "broad"}, Broad()),
        ({"search": Broad(2)}, Broad(2)),
        ({"search": {"depth": 5}}, Deep(5.0)),
        ({"search": {"kind": "broad", "width": 5}}, Broad(5)),
        ({"search": "broad", "width": 5, "leaves": 2}, Broad(5, 2)),
        ({"leaves": 2}, Deep(leaves=2)),
        ({"search": "broad", "search.width": 5}, Broad(5)),
        ({"search": None}, Deep()),
    ],
)
def test_a_part_is_a_name_settings_or_an_object(given: dict[str, Any], expected: Any) -> None:
    assert made_of(**given).play.search == expected


def test_a_call_changes_what_it_names_and_keeps_the_rest() -> None:
    before = made_of(search=Broad(2, 7), gate={"games": 4}, readouts=5)
    made = change_settings(before, values_by_path(Root, {"width": 3, "gate": 0.75, "minutes": 2}))
    assert made == made_of(search=Broad(3, 7), gate=Door(0.75, 4), readouts=5, minutes=2)
    assert change_settings(before, {"search": "broad"}).play.search == Broad(2, 7), "its class is the same"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"readout": 3}, TypeError, "^Root has no keyword 'readout': did you mean readouts"),
        ({"width": 3}, ValueError, '^width is a setting of Broad, but this search is Deep: give search="broad"$'),
        ({"search": {"width": 3}}, ValueError, "^width is a setting of Broad, but this search is Deep: give search="),
        ({"search": Broad(), "depth": 3}, ValueError, "^depth is a setting of Deep, but this search is Broad: give "),
        ({"search": {"dept": 3}}, TypeError, "^Deep has no keyword 'dept': did you mean depth"),
        ({"search": "depp"}, ValueError, "^search must be 'broad', 'deep', a Deep, a dictionary of settings, got 'dep"),
        ({"search": 3}, TypeError, "^search must be 'broad', 'deep', .* got 3$"),
        ({"seed": None}, ValueError, "^seed must have a value, got None$"),
        ({"seed": -1}, ValueError, "^seed must be an integer >= 0, got -1$"),
        ({"gate": None, "gate_games": 2}, ValueError, "^gate_games must be left out where gate is None, got 2$"),
    ],
)
def test_what_is_refused(given: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        made_of(**given)


def test_an_optional_part_is_switched_on_by_a_setting_and_off_by_none() -> None:
    made = made_of(gate_games=2, tree=0.25)
    assert (made.gate, made.tree) == (Door(games=2), Door(0.25))
    made = change_settings(made, {"gate": None, "tree": None})
    assert (made.gate, made.tree) == (None, None)


def test_an_automatic_setting_may_be_none_until_it_has_a_value() -> None:
    assert [to_data(made_of(threads=given))["play"]["threads"] for given in (None, 2)] == [None, 2]


def double(value: float) -> float:
    return 2 * value


@dataclass(frozen=True)
class Own:
    """A part of a user: it has settings, and no name."""

    share: float = 0.5


class Bare:
    """A part of a user without settings."""


def saved(made: Root) -> Any:
    return json.loads(json.dumps(to_data(made)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"readouts": 3, "search": "broad", "memory": "heap", "size": 2, "gate": 0.75, "tree": 1},
        {"search": Own(0.25), "judges": (Own(0.75),), "gate_games": 3},
    ],
)
def test_settings_are_loaded_as_they_were_saved(given: dict[str, Any]) -> None:
    made = made_of(**given)
    assert from_data(Root, saved(made), {}, "it") == made


def test_saved_settings_name_their_parts() -> None:
    plain = saved(make_settings(Root, {"search": "broad", "gate": 0.75}))
    assert plain["play"]["search"] == {"kind": "broad", "width": 3, "leaves": 1}
    assert plain["gate"] == {"rate": 0.75, "games": 10}
    assert saved(made_of(judges=(Own(0.75),)))["judges"] == [{"kind": f"{__name__}:Own", "share": 0.75}]
    assert plain["tree"] is None


def test_a_function_is_saved_by_name_and_given_again() -> None:
    made = make_settings(Root, {"rule": double, "memory": Bare})
    plain = saved(made)
    assert plain["rule"] == {"function": f"{__name__}:double"}
    assert from_data(Root, plain, {"rule": double, "memory": Bare}, "it") == made
    with pytest.raises(ValueError, match=r"^the run has a custom rule, .*:double: pass that function as rule=…$"):
        from_data(Root, plain, {}, "the run")
    with pytest.raises(ValueError, match=r"^the run has a custom memory, .*:Bare: pass that function as memory=…$"):
        from_data(Root, plain, {"rule": double}, "the run")


def test_an_object_without_settings_is_given_again() -> None:
    bare = Bare()
    plain = saved(make_settings(Root, {"search": bare}))
    assert from_data(Root, plain, {"search": bare}, "it").play.search is bare
    with pytest.raises(ValueError, match=r"^the run has a search of its own class, .*:Bare, which cannot be imported"):
        from_data(Root, plain, {}, "the run")


def test_data_of_another_version_are_refused() -> None:
    with pytest.raises(TypeError, match="Root has no keyword 'sead'"):
        from_data(Root, {"sead": 3}, {}, "it")
    with pytest.raises(KeyError, match="minutes"):
        from_data(Root, {"seed": 2}, {}, "it")


def test_changes_are_told_by_keyword() -> None:
    before, after = made_of(gate=0.5), made_of(readouts=3, search="broad", judges=(Own(),))
    parts = {"search": (Deep(), Broad()), "gate": (Door(0.5), None), "judges": ((), (Own(),))}
    assert changes(before, after) == {"readouts": (8, 3), **parts}
    assert changes(before, after, structural=True) == {}


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ({}, {"seed": 1, "threads": 2, "readouts": 3}, ["seed", "threads"]),
        ({}, {"size": 3}, []),
        ({}, {"memory": "heap"}, ["memory"]),
        ({"memory": "heap"}, {"memory": "heap", "size": 3}, ["memory"]),
    ],
)
def test_what_a_run_must_keep(before: dict[str, Any], after: dict[str, Any], kept: list[str]) -> None:
    assert list(changes(made_of(**before), made_of(**after), structural=True)) == kept


def test_addresses_say_which_part_has_a_setting() -> None:
    found = addresses(Root)
    leaves, width, search = found["search.leaves"], found["search.width"], found["search"]
    assert (leaves.kind_names, leaves.title, leaves.default) == ((), "the search", 4)
    assert (width.kind_names, width.default, width.keyword) == (("broad",), 3, "width")
    assert search.part is not None
    assert list(search.part.choices) == ["broad", "deep"]
    assert found["seed"].part is None
    assert (found["trace"].keyword, found["gate.games"].keyword) == ("", "gate_games")
    known = keywords(Root)
    assert set(known).isdisjoint({"gate_rate", "tree_rate", "trace"}), "what `gate` itself means, and what is rare"
    assert {"gate", "gate_games", "tree_games", "size", "judges"} < set(known)
