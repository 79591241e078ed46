"""The search rules by name, and the forms in which a player's search is given.

A search is given in one of three forms:

- settings such as `Puct(c_puct=1.5)`, which are used as they are;
- a rule's name such as "puct", for settings of this rule that suit the number of simulations;
- a dictionary that changes some of these settings, such as {"c_puct": 1.5} or {"kind": "gumbel", "c_scale": 0.5}.

The name of a rule is a key of SEARCHES, or "module:Class" for a class of your own.
"""

from collections.abc import Mapping
from typing import Any

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings
from alphago.system.own_modules import import_own_class
from alphago.system.settings import PartField, value_to_data
from alphago.system.validation import plain_number, qualified_name, shown

SEARCHES: dict[str, type[SearchSettings]] = {"puct": Puct, "gumbel": Gumbel}
PLAYER_RULE, SELF_PLAY_RULE = "puct", "gumbel"  # the default rules of players and of self-play
SEARCH = PartField(Puct, "the search", SEARCHES)

SearchSpec = SearchSettings | Mapping[str, Any] | str | None


def make_search(search: SearchSpec, readouts: int, leaves: int) -> SearchSettings:
    """Return the settings of a search given in any form.

    Args:
        readouts: simulations per move.
        search: the search in one of its forms; None for PUCT's default settings.  A dictionary that names no rule
            changes some of these.
        leaves: `SearchSettings.leaves`, unless `search` has it.

    Raises:
        ValueError: for an unknown rule, for a value out of range, and for a setting of another rule.
        TypeError: for another type and for an unknown setting.
    """
    if isinstance(search, SearchSettings):
        return search
    if search is not None and not isinstance(search, (str, Mapping)):
        raise TypeError(f"search must be {SEARCH.expected}, got {shown(search)}")
    return SEARCH.to_part("search", search or {}, Puct()).completed(readouts, leaves)


def own_search(text: str) -> str:
    """Import a rule of one's own, and return its name, "module:Class".

    Args:
        text: FILE.py:CLASS, or MODULE:CLASS in the current folder or an installed package.

    Raises:
        ValueError: if there is no such rule.
    """
    kind = import_own_class(text, SearchSettings, "search")  # type: ignore[type-abstract]
    SEARCHES[qualified_name(kind)] = kind
    return qualified_name(kind)


def plain_form(search: SearchSpec) -> Any:
    """Return a search as plain data, which JSON can hold and `make_search` reads.

    Args:
        search: settings, a rule's name, a dictionary that changes some settings, or None.
    """
    if isinstance(search, Mapping):
        return {name: plain_number(value) for name, value in search.items()}
    return value_to_data(search, SEARCH) if isinstance(search, SearchSettings) else search


def check_heeds_early(search: SearchSettings, name: str) -> None:
    """Raise ValueError if the setting `name`, which varies self-play's first moves, has no effect in this search.

    It has an effect only if the search's rule heeds which games are in their first plies (`SearchRule.heeds_early`).
    """
    if not search.new_rule(0, 0).heeds_early:  # 0 games and 0 actions: it is the same for any numbers
        # For the message, the first of the named searches in which the setting has an effect.
        other, kind = next((name, kind) for name, kind in SEARCHES.items() if kind().new_rule(0, 0).heeds_early)
        raise ValueError(
            f"{name} is a setting of {kind.__qualname__}, but this search is {type(search).__qualname__}: "
            f'give search="{other}"'
        )
