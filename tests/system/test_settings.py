"""Settings by path: keywords spread, parts chosen and changed, saved, loaded, compared."""

from typing import Any

import pytest

from alphago.system.settings import addresses, change_settings, group, keywords, make_settings, to_data, values_by_path
from alphago.system.validation import setting, settings
from tests.system.sample_settings import Broad, Deep, Door, Play, Root, Shelf, made_of


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
