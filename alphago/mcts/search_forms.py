"""The search rules by name, and the forms in which a search is given and saved.

A search is given in one of three forms: settings, `Puct(c_puct=1.5)`, which are taken as they are; a rule's name,
"puct", for settings of this rule that are chosen by the number of simulations; or a dictionary that changes some of
these settings, {"c_puct": 1.5}, and may name the rule, {"kind": "puct", "c_puct": 1.5}.  Settings are saved as such a
dictionary with all fields.  The rule's name is a key of SEARCHES, or for a class of your own "module:Class".
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings
from alphago.system.settings_slot import KIND
from alphago.system.validation import (
    UNSET,
    Unset,
    UnusedSetting,
    check_choice,
    check_keywords,
    keywords_of,
    plain_number,
    qualified_name,
    shown,
)

SEARCHES: dict[str, type[SearchSettings]] = {"puct": Puct, "gumbel": Gumbel}
PLAYER_RULE, SELF_PLAY_RULE = "puct", "gumbel"  # the default rules of players and of self-play

SearchForm = SearchSettings | Mapping[str, Any] | str | None


def make_search(search: SearchForm, readouts: int, leaves: int, rule: str = PLAYER_RULE) -> SearchSettings:
    """Return the settings of a search given in any form.

    readouts: simulations per move.
    leaves: `SearchSettings.leaves` unless `search` has it.
    rule: the name of the rule unless `search` has one.
    Raises ValueError for an unknown rule, for a value out of range, and for a setting of another rule (UnusedSetting);
    TypeError for another type and for an unknown setting.
    """
    if isinstance(search, SearchSettings):
        return search
    given = plain_form(search)
    kind = rule_class(given.pop(KIND, rule))
    check_fields(kind, given)
    return kind.for_readouts(readouts, **{"leaves": leaves, **given})


def plain_form(search: SearchForm) -> dict[str, Any]:
    """Return a search as a dictionary for JSON; raise TypeError for another type."""
    if isinstance(search, SearchSettings):
        return {KIND: rule_name(type(search)), **asdict(search)}
    if search is None or isinstance(search, str):
        return {} if search is None else {KIND: search}
    if not isinstance(search, Mapping):
        raise TypeError(
            f"search must be {' or '.join(map(repr, SEARCHES))}, settings such as Puct(c_puct=1.5), or a dictionary "
            f'such as {{"{KIND}": "puct", "c_puct": 1.5}}, got {shown(search)}'
        )
    return {name: plain_number(value) for name, value in search.items()}


def rule_name(kind: type[SearchSettings]) -> str:
    """Return the name by which `rule_class` finds a class of settings."""
    for name, named_kind in SEARCHES.items():
        if named_kind is kind:
            return name
    return qualified_name(kind)


def rule_class(name: str) -> type[SearchSettings]:
    """Return the class of settings of the rule called `name`.

    Raises ValueError for an unknown name, ImportError for a class that cannot be imported.
    """
    if not isinstance(name, str) or ":" not in name:
        return SEARCHES[check_choice("search", name, SEARCHES)]
    try:
        kind: type[SearchSettings] = pkgutil.resolve_name(name)
        if not issubclass(kind, SearchSettings):
            raise TypeError("it is no class of search settings")
    except Exception as error:  # importing a module runs it
        raise ImportError(f"search {name} cannot be imported ({error})") from error
    return kind


def check_fields(kind: type[SearchSettings], given: Mapping[str, object]) -> None:
    """Raise UnusedSetting for a setting that only another rule than `kind` has, TypeError for one that no rule has."""
    for name in given:
        check_used(kind, name, given[name])
        check_keywords(kind.__qualname__, [name], all_fields(kind))


def check_used(kind: type[SearchSettings], name: str, value: object = UNSET) -> None:
    """Raise UnusedSetting if another rule has the setting `name`, but not `kind`.

    value: the value given, for the message.
    """
    if name in keywords_of(kind):
        return
    for rule, owner in SEARCHES.items():
        if name in keywords_of(owner):
            remedy = None if isinstance(value, Unset) else f"{owner.__qualname__}({name}={shown(value)})"
            raise unused_setting(name, kind, rule, remedy)


def check_heeds_early(search: SearchSettings, name: str) -> None:
    """Raise UnusedSetting for `name`, a setting of self-play's first moves, if the rule does not heed it."""
    if not search.heeds_early:
        rule_that_heeds = next(rule for rule, kind in SEARCHES.items() if kind().heeds_early)
        raise unused_setting(name, type(search), rule_that_heeds)


def unused_setting(name: str, kind: type[SearchSettings], rule: str, remedy: str | None = None) -> UnusedSetting:
    """Return the error for a setting of the rule called `rule` that a search of class `kind` does not have.

    remedy: the value of `search` that the message proposes in Python; None for the rule's name, which it always
        proposes on the command line.
    """
    fault = f"{name} is a setting of {SEARCHES[rule].__qualname__}, but this search is {kind.__qualname__}"
    return UnusedSetting(fault, way=f"search={remedy or repr(rule)}", option=("search", rule))


def all_fields(*kinds: type[SearchSettings]) -> list[str]:
    """Return the names of all settings of the classes `kinds` and of the named rules."""
    return list(dict.fromkeys(name for kind in (*kinds, *SEARCHES.values()) for name in keywords_of(kind)))
