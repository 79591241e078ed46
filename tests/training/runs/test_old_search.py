"""Runs whose config has the search settings of older versions: they go on, and what did nothing is left out."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.search_forms import read_search
from alphago.training.cgzero.cgzero_search import CGZeroPuct
from alphago.training.runs.old_search import OLD, renew_search
from tests.training.small_runs import go_on, run, same

WHOLE = {**OLD, "gumbel": False}  # the settings of the old class, all of them


@dataclass(frozen=True)
class Mine(Puct):
    factor: float = 2.0


MINE = "tests.training.runs.test_old_search:Mine"


def renew(search: Any, call: object = None) -> Any:
    return read_search(renew_search({"search": search}, call)["search"], call)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, None),
        (WHOLE, Puct()),
        ({**WHOLE, "c_puct": 2.0, "leaves": 3, "considered": 4, "c_scale": 0.5}, Puct(c_puct=2.0, leaves=3)),
        ({**WHOLE, "gumbel": True}, Gumbel()),
        (
            {**WHOLE, "gumbel": True, "considered": 4, "decisive_moves": False},
            Gumbel(considered=4, decisive_moves=False),
        ),
        ({**WHOLE, "gumbel": True, "c_puct": 9.0, "virtual_loss": 3, "dirichlet_decay": 0.1}, Gumbel()),
        ({**WHOLE, "c_puct_growth": 0.01, "c_puct_limit": 3.0}, CGZeroPuct(c_puct_growth=0.01, c_puct_limit=3.0)),
        ({**WHOLE, "c_puct_limit": 0.5}, Puct()),  # nothing grew
        ({**WHOLE, "near_best": 0.9, "c_puct_limit": 0.5}, CGZeroPuct(near_best=0.9)),
        ({**WHOLE, "value_noise": 0.1}, CGZeroPuct(value_noise=0.1)),
        ({"considered": 2}, {"considered": 2}),
        ({"c_puct": 5.0, "leaves": 2}, {"leaves": 2}),
        ({"gumbel": True, "c_scale": 0.5, "c_puct": 5.0}, {"rule": "gumbel", "c_scale": 0.5}),
        ({"gumbel": False, "c_scale": 0.5, "c_puct": 5.0}, {"rule": "puct", "c_puct": 5.0}),
        ({**WHOLE, "factor": 3.0, "c_puct": 0.5, "class": MINE}, Mine(factor=3.0, c_puct=0.5)),
    ],
)
def test_forms(old: Any, new: Any) -> None:
    assert (type(renew(old)), renew(old)) == (type(new), new)


@pytest.mark.parametrize("new", [None, "puct", {"rule": "puct", "c_puct": 2.0}, {"c_scale": 0.5}, {"rule": "gumbel"}])
def test_todays_forms_stay(new: Any) -> None:
    assert renew(new) == new


@pytest.mark.parametrize(
    ("search", "plies"),
    [
        (None, None),
        ({"considered": 4}, None),
        ({**WHOLE, "gumbel": True}, None),
        ("gumbel", None),
        (WHOLE, 5),
        ("puct", 5),
    ],
)
def test_temperature_that_did_nothing(search: Any, plies: int | None) -> None:
    assert renew_search({"search": search, "temperature_plies": 5}, None)["temperature_plies"] == plies


def test_a_class_that_cannot_be_imported() -> None:
    class Here(Mine):
        pass

    name = f"{__name__}:{Here.__qualname__}"
    assert renew({**WHOLE, "factor": 3.0, "class": name}, Here()) == Here(factor=3.0)
    with pytest.raises(ImportError, match="Here cannot be imported"):
        renew({**WHOLE, "factor": 3.0, "class": name})


def rewrite(folder: Path, **settings: Any) -> None:
    """Change the settings in a run's config.json and its copy."""
    for path in (folder / "config.json", folder / "config.copy.json"):
        config = json.loads(path.read_text())
        config["settings"] |= settings
        path.write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("search", "old"),
    [
        (None, {"search": {"c_puct": 3.0}, "temperature_plies": 3}),
        (Puct(c_puct=2.0), {"search": {**WHOLE, "c_puct": 2.0, "considered": 3}}),
        (Gumbel(considered=2), {"search": {**WHOLE, "gumbel": True, "considered": 2}, "temperature_plies": 3}),
        (CGZeroPuct(near_best=0.5, value_noise=0.2), {"search": {**WHOLE, "near_best": 0.5, "value_noise": 0.2}}),
    ],
)
def test_a_run_goes_on_as_it_would_have(tmp_path: Path, search: Any, old: dict[str, Any]) -> None:
    for name in ("today", "old"):
        run(tmp_path / name, 6, search=search)
    rewrite(tmp_path / "old", **old)
    (today, _), (again, listener) = (go_on(tmp_path / name, 12) for name in ("today", "old"))
    assert same(today, again)
    assert not listener.noted("search is")


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        ({**WHOLE, "dirichlet_decay": 0.1}, "Puct has no keyword 'dirichlet_decay'"),
        ({**WHOLE, "gumbel": True, "value_noise": 0.1}, "Gumbel has no keyword 'value_noise'"),
    ],
)
def test_what_there_is_no_more(tmp_path: Path, search: Any, sentence: str) -> None:
    """It acted, so that the run cannot go on as it would have."""
    run(tmp_path, 2)
    rewrite(tmp_path, search=search)
    with pytest.raises(ValueError, match=rf"has settings of another version \({sentence}"):
        go_on(tmp_path)
