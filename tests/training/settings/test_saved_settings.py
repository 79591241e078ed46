"""Settings are loaded as they were saved, and compared."""

import json
from typing import Any

import pytest

from alphago.system.settings import make_settings, to_data
from alphago.system.validation import qualified_name
from alphago.training.settings.saved_settings import changes, from_data
from tests.system.sample_settings import Bare, Broad, Deep, Door, Own, Root, made_of


def double(value: float) -> float:
    return 2 * value


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
    assert saved(made_of(judges=(Own(0.75),)))["judges"] == [{"kind": qualified_name(Own), "share": 0.75}]
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
