"""Searches of version 1, whose settings were one class for every rule, are read in the form of today."""

from typing import Any

import pytest

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.training.cgzero.cgzero_search import CGZeroPuct
from alphago.training.runs.older import newer_search

# The search settings of version 1, all of them: one class had those of every rule.
SEARCH = {"c_puct": 0.96, "parent_value_weight": 1.0, "first_play_reduction": 0.2, "virtual_loss": 1, "leaves": 1}
SEARCH |= {"dirichlet_weight": 0.25, "dirichlet_alpha": None, "gumbel": False, "considered": 16, "c_visit": 50.0}
SEARCH |= {"c_scale": 1.0, "c_puct_growth": 0.0, "c_puct_limit": None, "dirichlet_decay": 0.0, "value_noise": 0.0}
SEARCH |= {"near_best": None, "decisive_moves": True}


@pytest.mark.parametrize(
    ("old", "search"),
    [
        (None, Gumbel(considered=16, leaves=2)),
        (SEARCH, Puct()),
        ({**SEARCH, "c_puct": 2.0, "leaves": 3, "considered": 4, "c_scale": 0.5}, Puct(c_puct=2.0, leaves=3)),
        ({**SEARCH, "gumbel": True, "considered": 4}, Gumbel(considered=4)),
        ({**SEARCH, "gumbel": True, "c_puct": 9.0, "virtual_loss": 3, "dirichlet_decay": 0.1}, Gumbel()),
        ({**SEARCH, "c_puct_growth": 0.01, "c_puct_limit": 3.0}, CGZeroPuct(c_puct_growth=0.01, c_puct_limit=3.0)),
        ({**SEARCH, "c_puct_limit": 0.5}, Puct()),  # nothing grew
        ({**SEARCH, "value_noise": 0.1}, CGZeroPuct(value_noise=0.1)),
        ({"considered": 2, "c_puct": 5.0}, Gumbel(considered=2, leaves=2)),
        ({"gumbel": False, "c_scale": 0.5, "near_best": 0.9}, CGZeroPuct(near_best=0.9, leaves=2)),
    ],
)
def test_searches(old: dict[str, Any] | None, search: Any) -> None:
    """What the chosen rule did not have did nothing, and is left out."""
    form = newer_search(old, {"readouts": 32, "games_in_flight": 64})
    kind = {"puct": Puct, "gumbel": Gumbel, "cgzero-puct": CGZeroPuct}[form.pop("kind")]
    assert (kind, kind(**form)) == (type(search), search)
