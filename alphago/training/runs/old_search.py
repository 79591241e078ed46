"""The search settings of older runs: one class had the settings of all rules, and `gumbel` chose the rule.

What the chosen rule did not have did nothing, and is left out.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search_forms import RULE, SELF_PLAY, rule_class, rule_name
from alphago.training.cgzero.cgzero_search import CGZeroPuct

# The defaults of the old settings, except `gumbel`: those of PUCT, of Gumbel search, and of both.
OF_PUCT = {
    "c_puct": 0.96,
    "parent_value_weight": 1.0,
    "first_play_reduction": 0.2,
    "virtual_loss": 1,
    "dirichlet_weight": 0.25,
    "dirichlet_alpha": None,
    "dirichlet_decay": 0.0,
    "c_puct_growth": 0.0,
    "c_puct_limit": None,
}
OF_GUMBEL = {"considered": 16, "c_visit": 50.0, "c_scale": 1.0}
OF_BOTH = {"leaves": 1, "decisive_moves": True, "value_noise": 0.0, "near_best": None}
OLD = {**OF_PUCT, **OF_GUMBEL, **OF_BOTH}
OF_CGZERO = ("c_puct_growth", "value_noise", "near_best")  # they make PUCT CGZero's


def renew_search(given: Mapping[str, Any], call: Any) -> dict[str, Any]:
    """Return `search` and `temperature_plies` of a run's saved settings in today's form.

    given: the saved settings.  call: settings whose class need not be imported.
    Raises ImportError for a class that cannot be imported.
    """
    search, plies = given["search"], given.get("temperature_plies")
    if isinstance(search, Mapping) and RULE not in search:
        search = renew_fields(search, call)
    rule = search.get(RULE, SELF_PLAY) if isinstance(search, Mapping) else search or SELF_PLAY
    return {"search": search, "temperature_plies": None if rule == "gumbel" else plies}


def renew_fields(saved: Mapping[str, Any], call: Any) -> dict[str, Any]:
    """Return a search in today's form, with the rule's name if the old one chose a rule.

    saved: all of the old settings and perhaps more, those of the class called `saved["class"]`; or some of them, which
        change self-play's search.
    """
    values = {name: value for name, value in saved.items() if name not in ("class", "gumbel")}
    gumbel = saved.get("gumbel", True)
    if "c_puct_limit" in values and not values.get("c_puct_growth"):
        values["c_puct_limit"] = None  # it bounded only a c_puct that changed
    kind: type[SearchSettings] = Gumbel if gumbel else Puct
    if "class" in saved:
        kind = rule_class(saved["class"], call)
    elif not gumbel and any(values.get(name, OLD[name]) != OLD[name] for name in OF_CGZERO):
        kind = CGZeroPuct
    own, idle = {one.name for one in fields(kind)}, OF_PUCT if gumbel else OF_GUMBEL
    kept = {
        name: value
        for name, value in values.items()
        if name in own or (name not in idle and (name not in OLD or value != OLD[name]))
    }
    return {RULE: rule_name(kind), **kept} if "gumbel" in saved else kept
